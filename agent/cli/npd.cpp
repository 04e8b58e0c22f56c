// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// evictd npd: one condition as a custom plugin of node-problem-detector: exit 0 OK, 1 problem, 2 unknown, one line on
// stdout. It answers within its time limit whatever the agent, its socket or the reader of stdout does.
#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <poll.h>
#include <sys/time.h>
#include <unistd.h>

#include "cli/agent_address.hpp"
#include "cli/verb.hpp"
#include "codec/event_json.hpp"
#include "codec/npd_answer.hpp"
#include "command/one_of.hpp"
#include "command/terminal.hpp"
#include "publish/status_client.hpp"
#include "sys/clock.hpp"

namespace evictd::cli {

using codec::NpdAnswer;
using codec::NpdCondition;
using codec::NpdStatus;

namespace {

struct NpdOptions {
    AgentAddress agent;
    std::string condition;
    std::string since = "5m";
    std::string timeout = "2s";     // node-problem-detector's own limit is 5 s unless its config says another
    std::size_t longest_line = 80;  // max_output_length, where it cuts
};

// For CLI11: what is wrong with it, or nothing.
std::string fault_of_period(const std::string& text) {
    const auto span = parse_duration(text);
    const bool is_usable = span && *span >= std::chrono::milliseconds(1) && *span <= std::chrono::hours(24);
    return is_usable ? std::string{} : "invalid value \"" + text + "\" (expected a duration such as 2s or 5m)";
}

constexpr std::string_view out_of_time = "unknown: the agent does not answer in time\n";

// Only what is safe in a signal handler. A stdout that takes no more, as a full pipe, would hold up write(2).
extern "C" void end_unknown(int /*signal_number*/) {
    pollfd out{STDOUT_FILENO, POLLOUT, 0};
    if (::poll(&out, 1, 0) > 0 && (out.revents & POLLOUT) != 0) {
        const auto ignored = ::write(STDOUT_FILENO, out_of_time.data(), out_of_time.size());
        (void)ignored;
    }
    ::_exit(static_cast<int>(NpdStatus::unknown));
}

// A timeout of each call is not enough: a peer that sends a byte a second would never exceed it. Whoever started us may
// have had the signal blocked or ignored.
void end_after(Duration limit) {
    (void)std::signal(SIGALRM, end_unknown);
    sigset_t alarm_only;
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    (void)::pthread_sigmask(SIG_UNBLOCK, &alarm_only, nullptr);
    const auto left = std::chrono::duration_cast<std::chrono::microseconds>(limit).count();
    const itimerval timer{{0, 0}, {left / 1000000, left % 1000000}};
    (void)::setitimer(ITIMER_REAL, &timer, nullptr);
}

Result<codec::NpdEvents> recent_events(const std::string& socket, std::string_view reason, Duration window) {
    codec::NpdEvents events{.window = window, .count = 0, .last = {}};
    if (reason.empty()) {
        return events;
    }
    auto client = publish::StatusClient::connect(socket);
    if (!client) {
        return tl::unexpected(client.error());
    }
    const codec::StatusRequest request{
        .verb = codec::RequestVerb::events, .since = window, .reason = std::string(reason)};
    const auto read = client->stream(request, [&](std::string_view line) {
        if (const auto event = codec::event_from_json(line)) {
            events.count++;
            events.last = codec::npd_subject(*event);
        }
        return true;
    });
    return read ? Result<codec::NpdEvents>(events) : tl::unexpected(read.error());
}

// The status is asked for last: an agent that ended while it sent its events has none.
Result<NpdAnswer> ask(const std::string& socket, const NpdOptions& options) {
    const auto condition = from_name<NpdCondition>(options.condition).value_or(NpdCondition::memory_pressure);
    const auto events = recent_events(socket, codec::event_reason(condition), parse_duration(options.since).value());
    if (!events) {
        return tl::unexpected(events.error());
    }
    auto client = publish::StatusClient::connect(socket);
    const auto status = client ? client->ask({.verb = codec::RequestVerb::status})
                               : Result<std::string>(tl::unexpected(client.error()));
    if (!status) {
        return tl::unexpected(status.error());
    }
    return codec::npd_answer(condition, *status, *events, sys::SystemClock().wall());
}

NpdAnswer answer(const NpdOptions& options) {
    const auto socket = socket_path(options.agent);
    if (!socket) {
        (void)tell(socket.error());
        return {NpdStatus::unknown, "unknown: the configuration cannot be read (see stderr)"};
    }
    auto asked = ask(*socket, options);
    if (asked) {
        return *asked;
    }
    (void)tell(asked.error());
    return {NpdStatus::unknown, "unknown: " + asked.error().why};
}

// Whatever fails is exit status 2: 1 would be a problem of the node. Not end_quietly(): that ends with 0.
Exit plug_in(const NpdOptions& options) {
    end_after(parse_duration(options.timeout).value());
    try {
        const auto answered = answer(options);
        const auto printed = command::print(codec::npd_line(answered, options.longest_line));
        return static_cast<Exit>(printed ? answered.status : NpdStatus::unknown);
    } catch (const std::exception& error) {
        std::cerr << "evictd: npd: " << error.what() << '\n';
        return static_cast<Exit>(NpdStatus::unknown);
    }
}

}  // namespace

void add_npd(CLI::App& program, Action& action) {
    auto options = std::make_shared<NpdOptions>();
    auto* verb = program.add_subcommand("npd", "One condition, as a custom plugin of node-problem-detector");
    verb->add_option("CONDITION", options->condition,
                     "MemoryPressure, DiskPressure, PIDPressure, MemoryStall, IOStall, CPUStall or OOMKilling")
        ->type_name("")
        ->option_text(" ")
        ->check(command::one_of<NpdCondition>())
        ->required();
    verb->add_option("--since", options->since, "for stalls and OOM kills: how long one is a problem (5m)")
        ->type_name("SPAN")
        ->check(CLI::Validator(fault_of_period, ""));
    verb->add_option("--timeout", options->timeout, "answer within this time, then unknown (2s)")
        ->type_name("SPAN")
        ->check(CLI::Validator(fault_of_period, ""));
    verb->add_option("--max-output-length", options->longest_line, "maximum line length in bytes (80)")
        ->type_name("BYTES")
        ->option_text("BYTES")
        ->check(CLI::Range(std::size_t{20}, std::size_t{4000}, ""));
    add_address(*verb, options->agent);
    verb->footer(
        "Exit status: 0 OK, 1 problem, 2 unknown, as node-problem-detector reads it.\n"
        "\nExamples:\n"
        "  evictd npd MemoryPressure\n"
        "  evictd npd OOMKilling --since 10m");
    verb->callback([options, &action] { action = [options] { return plug_in(*options); }; });
}

}  // namespace evictd::cli
