// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// evictd explain: one eviction or OOM kill in full, from the agent's event log.
#include <chrono>
#include <functional>
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
#include "codec/explain_text.hpp"
#include "codec/yaml_text.hpp"
#include "command/terminal.hpp"
#include "evictd/model/observation.hpp"
#include "publish/status_client.hpp"

namespace evictd::cli {

using command::end_quietly;
using command::print;
using command::style_of;

namespace {

struct ExplainOptions {
    AgentAddress agent;
    std::string id;
    std::string output = "text";
};

constexpr std::size_t longest_id = 10;

// For CLI11: what is wrong with it, or nothing.
std::string fault_of_id(const std::string& text) {
    const bool good =
        !text.empty() && text.size() <= longest_id && text.find_first_not_of("0123456789abcdef") == std::string::npos;
    return good ? std::string{}
                : "invalid id \"" + text + "\" (expected one that evictd events shows, such as 2f6c01e9ab)";
}

// Every event whose id begins with `id`, "*" standing for all that have one.
Status read_events(const std::string& socket, const std::string& id,
                   const std::function<void(codec::Event)>& on_event) {
    auto client = publish::StatusClient::connect(socket);
    if (!client) {
        return tl::unexpected(client.error());
    }
    return client->stream({.verb = codec::RequestVerb::events, .id = id}, [&](std::string_view line) {
        auto event = codec::event_from_json(line);
        if (event && !event->id.empty() && (id == "*" || event->id.starts_with(id))) {
            on_event(std::move(*event));
        }
        return true;
    });
}

Result<std::string> last_eviction(const std::string& socket) {
    std::string id;
    const auto done = read_events(socket, "*", [&](const codec::Event& event) {
        if (event.reason != codec::Reason::oom_killing && event.reason != codec::Reason::memory_not_returned) {
            id = event.id;
        }
    });
    if (!done) {
        return tl::unexpected(done.error());
    }
    if (id.empty()) {
        return fail(ErrorKind::failed, "explain", "the event log holds no eviction",
                    "evictd status shows which pod is next");
    }
    return id;
}

Result<std::vector<codec::Event>> events_with(const std::string& socket, const std::string& id) {
    std::vector<codec::Event> events;
    bool ambiguous = false;
    const auto done = read_events(socket, id, [&](codec::Event event) {
        ambiguous = ambiguous || (!events.empty() && events.front().id != event.id);
        events.push_back(std::move(event));
    });
    if (!done) {
        return tl::unexpected(done.error());
    }
    if (ambiguous) {
        return fail(ErrorKind::failed, "explain", "several ids begin with " + id, "give more of it");
    }
    if (events.empty()) {
        return fail(ErrorKind::failed, "explain", "the event log holds no eviction or OOM kill with the id " + id,
                    "evictd events shows the ids");
    }
    return events;
}

// The waits that `first`, of an eviction, may have come after. Which pod would be evicted may have changed meanwhile.
Result<std::vector<codec::Event>> delays_before(const std::string& socket, const codec::Event& first) {
    std::vector<codec::Event> delays;
    auto client = publish::StatusClient::connect(socket);
    if (!client) {
        return tl::unexpected(client.error());
    }
    const auto earliest = first.time - unknown_pod_period - std::chrono::seconds(1);  // until the next look
    const auto read = client->stream(
        {.verb = codec::RequestVerb::events, .reason = std::string(name(codec::Reason::eviction_delayed))},
        [&](std::string_view line) {
            auto event = codec::event_from_json(line);
            if (event && event->reason == codec::Reason::eviction_delayed && event->time >= earliest &&
                event->time <= first.time && codec::may_have_delayed(*event, first)) {
                delays.push_back(std::move(*event));
            }
            return true;
        });
    return read ? Result<std::vector<codec::Event>>(std::move(delays)) : tl::unexpected(read.error());
}

Result<std::string> page(const std::string& socket, const ExplainOptions& options) {
    auto id = options.id.empty() ? last_eviction(socket) : Result<std::string>(options.id);
    if (!id) {
        return id;
    }
    const auto events = events_with(socket, *id);
    if (!events) {
        return tl::unexpected(events.error());
    }
    auto history = codec::history_of(*events);
    if (history && !history->same_as.empty()) {
        const auto others = events_with(socket, history->same_as);
        history = others ? codec::history_of(*others) : nullptr;
    }
    const auto delays = delays_before(socket, events->front());
    if (!delays) {
        return tl::unexpected(delays.error());
    }
    return options.output == "json" ? codec::pretty_json(codec::explain_json(*events, history, *delays))
                                    : codec::explain_text(*events, history, style_of(STDOUT_FILENO), *delays);
}

Exit show_explanation(const ExplainOptions& options) {
    const auto socket = socket_path(options.agent);
    if (!socket) {
        return tell(socket.error());
    }
    const auto text = page(*socket, options);
    if (!text) {
        report_lost_events(*socket);
        return tell(text.error());
    }
    end_quietly({});
    const auto printed = print(*text);
    return printed ? Exit::fine : tell(printed.error());
}

}  // namespace

void add_explain(CLI::App& program, Action& action) {
    auto options = std::make_shared<ExplainOptions>();
    auto* verb = program.add_subcommand(
        "explain", "One eviction or OOM kill in full: which pod, when, why, how fast, and what led to it");
    verb->add_option("ID", options->id, "an id from events or status, or a prefix of one (default: the last eviction)")
        ->type_name("")
        ->option_text(" ")
        ->check(CLI::Validator(fault_of_id, ""));
    add_output(*verb, options->output, {"text", "json"});
    add_address(*verb, options->agent);
    verb->footer(
        "Examples:\n"
        "  evictd explain\n"
        "  evictd explain 2f6c01e9ab -o json | jq .history.growth");
    verb->callback([options, &action] { action = [options] { return show_explanation(*options); }; });
}

}  // namespace evictd::cli
