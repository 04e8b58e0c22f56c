// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Reads what status_json wrote, of this version or another. What matters comes first in a line: 80 bytes of it are
// kept.
#include "npd_answer.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "evictd/model/quantity.hpp"
#include "evictd/model/signal.hpp"
#include "evictd/model/stall.hpp"
#include "evictd/model/text.hpp"
#include "json_value.hpp"

namespace evictd::codec {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::ordered_json;

// A look that is later than the agent itself said is not worth reporting yet: one under load may be late by seconds.
constexpr Duration late_look = 10s;

NpdAnswer ok(std::string line) { return {NpdStatus::ok, std::move(line)}; }
NpdAnswer problem(std::string line) { return {NpdStatus::problem, std::move(line)}; }
NpdAnswer unknown(std::string line) { return {NpdStatus::unknown, std::move(line)}; }

const Json* row_of(const Json& document, const char* list, const char* key, std::string_view value) {
    for (const auto& row : list_at(document, list)) {
        if (text_at(row, key) == value) return &row;
    }
    return nullptr;
}

// Why nothing in the document can be relied on; empty: nothing is wrong with it.
std::string fault_of(const Json& document, WallTime now) {
    if (!document.is_object()) return "the agent's answer is no status document";
    const Json* next = object_at(document, "next_look");
    const auto due = next != nullptr ? parse_rfc3339(text_at(*next, "at")) : std::nullopt;
    if (!due) return "the agent has not looked yet";
    const Duration overdue = now - due.value();  // checked: of *due GCC says that it may not be set
    if (overdue > late_look) return "the agent's next look is overdue by " + span_text(overdue);
    const Json* threads = row_of(document, "sources", "hook", "threads");
    if (threads != nullptr) return "agent threads hang: " + text_at(*threads, "detail");
    return {};
}

bool is_met(const Json& threshold) {
    const auto state = text_at(threshold, "state");
    return state == "met" || state == "pending";
}

// "100Mi", or "30s left" for a threshold in time.
std::string line_of(const Json& threshold) {
    const auto quantity = text_at(threshold, "quantity");
    return quantity.empty() ? text_at(threshold, "value") : quantity;
}

// What the document says of the signals of one condition.
struct Pressure {
    std::string met;         // each met threshold
    std::string clear;       // each signal that was measured
    std::string unmeasured;  // a signal with a threshold that was not
    bool thresholds = false;
};

void add(std::string& list, const std::string& text) { list += (list.empty() ? "" : ", ") + text; }

void read_signal(const Json& row, Pressure& pressure) {
    const auto signal = text_at(row, "signal");
    const auto available = text_at(row, "available");
    std::string lines;
    for (const auto& threshold : list_at(row, "thresholds")) {
        pressure.thresholds = true;
        add(lines, line_of(threshold));
        if (!is_met(threshold)) continue;
        add(pressure.met,
            fmt::format("{} {} below {} ({})", signal, available, line_of(threshold), text_at(threshold, "kind")));
    }
    if (lines.empty()) return;
    if (available.empty()) {
        add(pressure.unmeasured, signal);
    } else {
        add(pressure.clear, signal + " " + available + ", threshold " + lines);
    }
}

NpdAnswer pressure_answer(Condition condition, const Json& document) {
    const std::string type(name(condition));
    Pressure pressure;
    for (const auto& row : list_at(document, "signals")) {
        const auto signal = signal_from(text_at(row, "signal"));
        if (signal && traits(*signal).condition == condition) read_signal(row, pressure);
    }
    // Before the condition: an agent that left it out of its status has a met threshold all the same.
    if (!pressure.met.empty()) return problem(pressure.met);
    const Json* row = row_of(document, "conditions", "type", type);
    if (row == nullptr && pressure.thresholds) return unknown("the agent's status has no condition " + type);
    if (row != nullptr && text_at(*row, "status") == "True") {
        // The transition period, or a threshold on stalls.
        return problem(type + " held; " + (pressure.clear.empty() ? "no threshold is met now" : pressure.clear));
    }
    if (!pressure.unmeasured.empty()) return unknown("not measured: " + pressure.unmeasured);
    if (!pressure.thresholds) return ok("no threshold is configured for " + type);
    return ok(pressure.clear);
}

NpdAnswer stall_answer(StallResource resource, const Json& document, const NpdEvents& events) {
    const std::string type(name(resource));
    const Json* row = row_of(document, "stalls", "resource", type);
    std::string unseen;
    bool thresholds = false;
    for (const auto& threshold : row != nullptr ? list_at(*row, "thresholds") : Json::array()) {
        thresholds = true;
        const auto line =
            text_at(threshold, "share") + " (" + text_at(threshold, "scope") + " " + text_at(threshold, "kind") + ")";
        if (is_met(threshold)) return problem(fmt::format("tasks stall for {}: more than {}", type, line));
        if (text_at(threshold, "state") == "unknown") add(unseen, line);
    }
    if (events.count > 0) {
        return problem(std::to_string(events.count) + " " + type + (events.count == 1 ? " stall" : " stalls") + " in " +
                       span_text(events.window) + ", last: " + events.last);
    }
    if (!unseen.empty()) return unknown("stalls cannot be measured here: " + unseen);
    return ok(thresholds ? "no " + type + " stall in " + span_text(events.window)
                         : "no threshold is configured on " + type + " stalls");
}

NpdAnswer oom_answer(const Json& document, const NpdEvents& events) {
    if (events.count > 0) {
        return problem(std::to_string(events.count) + (events.count == 1 ? " OOM kill" : " OOM kills") + " in " +
                       span_text(events.window) + ", last: " + events.last);
    }
    const Json* source = row_of(document, "sources", "hook", "oom");
    if (source == nullptr || text_at(*source, "chosen").empty())
        return unknown("OOM kills cannot be detected on this node");
    return ok("no OOM kill in " + span_text(events.window));
}

NpdAnswer answer(NpdCondition condition, const Json& document, const NpdEvents& events) {
    switch (condition) {
        case NpdCondition::memory_pressure:
            return pressure_answer(Condition::memory_pressure, document);
        case NpdCondition::disk_pressure:
            return pressure_answer(Condition::disk_pressure, document);
        case NpdCondition::pid_pressure:
            return pressure_answer(Condition::pid_pressure, document);
        case NpdCondition::memory_stall:
            return stall_answer(StallResource::memory, document, events);
        case NpdCondition::io_stall:
            return stall_answer(StallResource::io, document, events);
        case NpdCondition::cpu_stall:
            return stall_answer(StallResource::cpu, document, events);
        case NpdCondition::oom_killing:
            return oom_answer(document, events);
    }
    return unknown("no such condition");
}

}  // namespace

std::string_view event_reason(NpdCondition condition) {
    return condition >= NpdCondition::memory_stall ? name(condition) : std::string_view{};
}

std::string npd_subject(const Event& event) {
    if (event.pod) return event.pod->name_space + "/" + event.pod->name;
    return event.message;
}

NpdAnswer npd_answer(NpdCondition condition, std::string_view status, const NpdEvents& events, WallTime now) {
    const Json document = Json::parse(status, nullptr, false);
    if (auto fault = fault_of(document, now); !fault.empty()) return unknown(std::move(fault));
    auto answered = answer(condition, document, events);
    const Json* lost = object_at(document, "lost");
    const auto lines = lost != nullptr ? number_at(*lost, "event log lines").value_or(0) : 0;
    if (answered.status == NpdStatus::ok && lines > 0 && !event_reason(condition).empty()) {
        answered.line += " (" + std::to_string(lines) + " event log lines lost)";
    }
    return answered;
}

std::string npd_line(const NpdAnswer& answer, std::size_t longest) {
    constexpr std::string_view cut = "...";
    auto line = printable(answer.line);
    if (line.size() > longest) line.replace(longest - std::min(longest, cut.size()), std::string::npos, cut);
    return line.substr(0, longest) + "\n";
}

}  // namespace evictd::codec
