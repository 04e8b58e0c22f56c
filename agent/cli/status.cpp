// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// evictd status: what the running agent sees and would do, once or again and again.
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cli/agent_address.hpp"
#include "cli/output_format.hpp"
#include "cli/verb.hpp"
#include "codec/status_text.hpp"
#include "codec/yaml_text.hpp"
#include "command/terminal.hpp"
#include "publish/status_client.hpp"

namespace evictd::cli {

using command::end_quietly;
using command::print;
using command::rows_of;
using command::style_of;

namespace {

// A person reads a page a second; the agent looks at the node afresh for each.
constexpr auto between_pages = std::chrono::seconds(1);

// The other screen of the terminal, without a cursor; and back to what was there before.
constexpr std::string_view enter_screen = "\x1b[?1049h\x1b[?25l";
constexpr std::string_view leave_screen = "\x1b[?25h\x1b[?1049l";

struct StatusOptions {
    AgentAddress agent;
    std::string output = "table";
    bool watch = false;
};

Result<std::string> ask(const std::string& socket) {
    auto client = publish::StatusClient::connect(socket);
    return client ? client->ask({.verb = codec::RequestVerb::status}) : tl::unexpected<Error>(client.error());
}

Result<std::string> page(const std::string& socket, const std::string& output) {
    auto answer = ask(socket);
    if (!answer) {
        return answer;
    }
    if (output == "json") {
        return codec::pretty_json(*answer);
    }
    if (output == "yaml") {
        return codec::yaml_text(*answer);
    }
    const auto detail = output == "wide" ? codec::Detail::wide : codec::Detail::normal;
    return codec::status_text(*answer, detail, style_of(STDOUT_FILENO));
}

// Over the old page line by line, so that nothing flickers; what does not fit below is left out.
std::string redrawn(const std::string& page, int rows) {
    std::string text = "\x1b[H";
    std::size_t start = 0;
    for (int row = 1; start < page.size() && row < rows; ++row) {
        const auto end = std::min(page.find('\n', start), page.size());
        text += page.substr(start, end - start) + "\x1b[K\n";
        start = end + 1;
    }
    return text + "\x1b[J";
}

// One document after another, so that a program can tell them apart: JSON a line each, YAML by its marker.
Result<std::string> next_document(const std::string& socket, const std::string& output) {
    auto document = output == "json" ? ask(socket) : page(socket, output);
    if (!document) {
        return document;
    }
    if (output == "json") {
        return *document + "\n";
    }
    return output == "yaml" ? "---\n" + *document : *document + "\n";
}

Status watch(const std::string& socket, const std::string& output) {
    const bool screen = rows_of(STDOUT_FILENO) > 0 && (output == "table" || output == "wide");
    end_quietly(screen ? leave_screen : std::string_view{});
    Status status = screen ? print(enter_screen) : Status{};
    while (status) {
        const auto document = screen ? page(socket, output) : next_document(socket, output);
        if (!document) {
            status = tl::unexpected(document.error());
            break;
        }
        status = print(screen ? redrawn(*document, rows_of(STDOUT_FILENO)) : *document);
        std::this_thread::sleep_for(between_pages);
    }
    if (screen) {
        (void)print(leave_screen);
    }
    return status;
}

Status once(const std::string& socket, const std::string& output) {
    const auto text = page(socket, output);
    if (!text) {
        return tl::unexpected(text.error());
    }
    end_quietly({});
    return print(*text);
}

Exit show_status(const StatusOptions& options) {
    const auto socket = socket_path(options.agent);
    if (!socket) {
        return tell(socket.error());
    }
    const auto shown = options.watch ? watch(*socket, options.output) : once(*socket, options.output);
    return shown ? Exit::fine : tell(shown.error());
}

}  // namespace

void add_status(CLI::App& program, Action& action) {
    auto options = std::make_shared<StatusOptions>();
    auto* verb = program.add_subcommand(
        "status",
        "What the running agent sees and would do: signals, conditions, pods in victim order, last evictions");
    add_output(*verb, options->output, {"table", "wide", "json", "yaml"});
    verb->add_flag("-w,--watch", options->watch, "refresh every second, until Ctrl-C");
    add_address(*verb, options->agent);
    verb->footer(
        "Examples:\n"
        "  evictd status --watch\n"
        "  evictd status -o json | jq -r '.ranking.pods[] | select(.exceeds_request) | .name'");
    verb->callback([options, &action] { action = [options] { return show_status(*options); }; });
}

}  // namespace evictd::cli
