// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// evictd rank: which pod would be evicted first for a signal, or given up first in a scale-down, and why.
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cli/agent_address.hpp"
#include "cli/output_format.hpp"
#include "cli/verb.hpp"
#include "codec/status_text.hpp"
#include "codec/yaml_text.hpp"
#include "command/one_of.hpp"
#include "command/terminal.hpp"
#include "publish/status_client.hpp"

namespace evictd::cli {

using command::end_quietly;
using command::one_of;
using command::print;
using command::style_of;

namespace {

struct RankOptions {
    AgentAddress agent;
    std::string signal{name(Signal::memory_available)};
    std::string order{name(codec::RankOrder::victims)};
    std::string output = "table";
};

Result<std::string> page(const std::string& socket, const RankOptions& options) {
    auto client = publish::StatusClient::connect(socket);
    if (!client) {
        return tl::unexpected(client.error());
    }
    const auto signal = signal_from(options.signal).value_or(Signal::memory_available);
    const auto order = from_name<codec::RankOrder>(options.order).value_or(codec::RankOrder::victims);
    auto answer = client->ask({.verb = codec::RequestVerb::rank, .signal = signal, .order = order});
    if (!answer) {
        return answer;
    }
    if (order == codec::RankOrder::scale_down) {
        auto table = codec::scale_down_text(*answer, style_of(STDOUT_FILENO));  // also says if it is another order
        return table && options.output == "json" ? codec::pretty_json(*answer) : table;
    }
    return options.output == "json" ? codec::pretty_json(*answer) : codec::rank_text(*answer, style_of(STDOUT_FILENO));
}

Exit show_order(const RankOptions& options) {
    const auto socket = socket_path(options.agent);
    if (!socket) {
        return tell(socket.error());
    }
    const auto text = page(*socket, options);
    if (!text) {
        return tell(text.error());
    }
    end_quietly({});
    const auto printed = print(*text);
    return printed ? Exit::fine : tell(printed.error());
}

}  // namespace

void add_rank(CLI::App& program, Action& action) {
    auto options = std::make_shared<RankOptions>();
    auto* verb = program.add_subcommand(
        "rank", "Pods in the order in which they would be evicted, and the reason for each place");
    verb->add_option("--signal", options->signal, "for victims: the signal that is short (memory.available)")
        ->type_name("SIGNAL")
        ->option_text("SIGNAL")
        ->check(one_of<Signal>());
    verb->add_option("--order", options->order,
                     "of eviction, or in which a ReplicaSet deletes pods when it is scaled down (victims)")
        ->type_name("ORDER")
        ->option_text("victims|scale-down")
        ->check(one_of<codec::RankOrder>());
    add_output(*verb, options->output, {"table", "json"});
    add_address(*verb, options->agent);
    verb->footer(
        "Examples:\n"
        "  evictd rank --signal memory.available\n"
        "  evictd rank --order scale-down\n"
        "  evictd rank -o json | jq -r '.ranking.pods[0].place'");
    verb->callback([options, &action] { action = [options] { return show_order(*options); }; });
}

}  // namespace evictd::cli
