// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// evictd events: what happened, and with --follow what happens.
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cli/agent_address.hpp"
#include "cli/lost_events.hpp"
#include "cli/output_format.hpp"
#include "cli/verb.hpp"
#include "codec/event_json.hpp"
#include "codec/event_text.hpp"
#include "command/one_of.hpp"
#include "command/terminal.hpp"
#include "evictd/model/quantity.hpp"
#include "publish/status_client.hpp"

namespace evictd::cli {

using command::end_quietly;
using command::one_of;
using command::print;
using command::style_of;

namespace {

struct EventsOptions {
    AgentAddress agent;
    bool follow = false;
    std::string since;
    std::string reason;
    std::string output = "text";
};

// For CLI11: what is wrong with it, or nothing.
std::string fault_of_span(const std::string& text) {
    const auto span = parse_duration(text);
    const bool is_past = span && *span >= Duration::zero();
    return is_past ? std::string{} : "invalid value \"" + text + "\" (expected a duration such as 90s, 10m or 1h30m)";
}

// A line that this version does not understand is shown as it came.
std::string shown(std::string_view line, bool json, const codec::TextStyle& style) {
    if (!json) {
        if (const auto event = codec::event_from_json(line)) {
            return codec::to_text_line(*event, style) + "\n";
        }
    }
    return std::string(line) + "\n";
}

Status show_events(const std::string& socket, const EventsOptions& options) {
    auto client = publish::StatusClient::connect(socket);
    if (!client) {
        return tl::unexpected(client.error());
    }
    end_quietly({});
    codec::StatusRequest request{
        .verb = codec::RequestVerb::events, .follow = options.follow, .reason = options.reason};
    if (!options.since.empty()) {
        request.since = parse_duration(options.since).value();  // checked when it was parsed
    }
    const auto style = style_of(STDOUT_FILENO);
    Status printed;
    const auto streamed = client->stream(request, [&](std::string_view line) {
        printed = print(shown(line, options.output == "json", style));
        return printed.has_value();
    });
    return printed ? streamed : printed;
}

Exit show_log(const EventsOptions& options) {
    const auto socket = socket_path(options.agent);
    if (!socket) {
        return tell(socket.error());
    }
    const auto done = show_events(*socket, options);
    if (done && !options.follow) {
        report_lost_events(*socket);
    }
    return done ? Exit::fine : tell(done.error());
}

}  // namespace

void add_events(CLI::App& program, Action& action) {
    auto options = std::make_shared<EventsOptions>();
    auto* verb = program.add_subcommand("events", "What happened on this node, oldest first");
    verb->add_flag("-f,--follow", options->follow,
                   "keep printing new events until Ctrl-C; without --since, only new ones");
    verb->add_option("--since", options->since, "only events younger than this, such as 10m or 1h30m")
        ->type_name("SPAN")
        ->check(CLI::Validator(fault_of_span, ""));
    verb->add_option("--reason", options->reason, "only events with this reason, such as Evicted")
        ->type_name("REASON")
        ->option_text("REASON")
        ->check(one_of<codec::Reason>());
    add_output(*verb, options->output, {"text", "json"});
    add_address(*verb, options->agent);
    verb->footer(
        "Examples:\n"
        "  evictd events --since 10m --reason Evicted\n"
        "  evictd events --follow -o json | jq -c '[.time, .reason, .pod.name]'");
    verb->callback([options, &action] { action = [options] { return show_log(*options); }; });
}

}  // namespace evictd::cli
