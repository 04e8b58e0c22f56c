// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "status_text_victims.hpp"

#include "evictd/model/text.hpp"
#include "json_value.hpp"
#include "status_page.hpp"
#include "status_text_stall.hpp"
#include "text_table.hpp"

namespace evictd::codec {
namespace {

using Json = nlohmann::ordered_json;

std::string in_flight_section(const Json& document, const TextStyle& style) {
    std::string text;
    const auto now = parse_rfc3339(text_at(document, "time"));
    for (const auto& victim : list_at(document, "in_flight")) {
        text += "  " + toned(shown(victim, "pod"), Tone::red, style);
        const auto kill_at = parse_rfc3339(text_at(victim, "kill_at"));
        const auto state = text_at(victim, "state");
        if (state == "dry_run")
            text += "  would be evicted; a dry run touches nothing\n";
        else if (state == "killed")
            text += "  killed; its last process has not ended yet\n";
        else if (kill_at && now)
            text += "  asked to end (SIGTERM); SIGKILL in " + span_text(*kill_at - *now) + "\n";
        else
            text += "  being evicted\n";
    }
    return text.empty() ? "" : title("BEING EVICTED", style) + text;
}

std::string owed_section(const Json& document, const TextStyle& style) {
    std::string text;
    for (const auto& owed : list_at(document, "memory_owed")) {
        const auto left = number_at(owed, "left_bytes");
        const bool missing = text_at(owed, "state") == "not_returned";
        text += "  " + toned(shown(owed, "pod"), missing ? Tone::red : Tone::yellow, style) + "  no process left; " +
                (left ? bytes_text(*left) : std::string("an unknown amount")) +
                (missing ? " not returned" : " not returned yet") + "\n";
    }
    const auto now = parse_rfc3339(text_at(document, "time"));
    const auto next = parse_rfc3339(text_at(document, "next_eviction_at"));
    if (now && next) text += "  no other pod is evicted for memory in the next " + span_text(*next - *now) + "\n";
    return text.empty() ? "" : title("MEMORY NOT RETURNED", style) + text;
}

std::string ended_text(const Json& ended) {
    const auto stage = text_at(ended, "stage");
    const bool answered = flag_at(ended, "answered");
    if (stage == "asking") return "the Eviction API is asked";
    if (stage == "granted") return "the API server accepted the eviction; the kubelet ends it";
    if (stage == "terminating") return "within its grace period";
    std::string text = stage == "held_down"  ? "comes back again and again, and is held down"
                       : stage == "given_up" ? "could not be stopped"
                                             : "killed, and watched that it does not run again";
    if (!answered) text += "; the API server has not answered yet";
    const auto restarts = number_at(ended, "restarts").value_or(0);
    return restarts == 0 ? text
                         : text + "; killed again " + std::to_string(restarts) + (restarts == 1 ? " time" : " times");
}

std::string ended_section(const Json& document, const TextStyle& style) {
    std::string text;
    for (const auto& ended : list_at(document, "ended_pods")) {
        const bool waits = !flag_at(ended, "answered");
        text += "  " + toned(shown(ended, "pod"), waits ? Tone::yellow : Tone::plain, style) + "  " +
                ended_text(ended) + "\n";
    }
    return text.empty() ? "" : title("EVICTED, AND WATCHED", style) + text;
}

std::string span_at(const Json* spans, const char* key) {
    const auto value = spans != nullptr ? microseconds_at(*spans, key) : std::nullopt;
    return value ? latency_text(*value) : "-";
}

Cell because_cell(const Json& past) {
    if (flag_at(past, "failed")) return cell("FAILED: " + shown(past, "error"), Tone::red);
    const std::string begin = flag_at(past, "dry_run") ? "dry run: " : "";
    if (const Json* stall = object_at(past, "stall")) return cell(begin + stall_because(*stall));
    if (past.contains("rejected_for")) {
        std::string conditions;
        for (const auto& condition : list_at(past, "rejected_for")) {
            if (condition.is_string()) conditions += " " + printable(condition.get<std::string>());
        }
        return cell(begin + "arrived under" + conditions);
    }
    const auto signal = signal_from(text_at(past, "signal")).value_or(Signal::memory_available);
    const auto amount = [&](const char* key) { return amount_text(signal, Amount{quantity_at(past, key)}); };
    return cell(begin + shown(past, "signal") + " " + amount("available") + " < " + amount("threshold"));
}

// Of ten digits; `evictd explain` takes the beginning of an id, too.
constexpr std::size_t shown_of_id = 8;

std::string evictions_section(const Json& document, const TextStyle& style) {
    const auto& list = list_at(document, "last_evictions");
    if (list.empty()) return title("LAST EVICTIONS", style) + "  none since the agent started\n";
    Table table({{"TIME", Fit::left},
                 {"ID", Fit::left},
                 {"POD", Fit::clip},
                 {"FREED", Fit::right},
                 {"TOTAL", Fit::right},
                 {"= DETECT", Fit::right},
                 {"+ DECIDE", Fit::right},
                 {"+ ACT", Fit::right},
                 {"EMPTY", Fit::right},
                 {"BECAUSE", Fit::clip}});
    for (auto past = list.rbegin(); past != list.rend(); ++past) {
        const auto time = parse_rfc3339(text_at(*past, "time"));
        const auto usage = number_at(*past, "usage_bytes");
        const Json* spans = object_at(*past, "latency_us");
        const bool failed = flag_at(*past, "failed");
        table.add({cell(time ? time_of_day(*time, style.utc_offset, 0) : "-"),
                   cell(shown(*past, "id").substr(0, shown_of_id)), cell(shown(*past, "pod"), Tone::bold),
                   cell(usage && !failed ? bytes_text(*usage) : "-"), cell(span_at(spans, "total"), Tone::bold),
                   cell(span_at(spans, "detect")), cell(span_at(spans, "decide")), cell(span_at(spans, "act")),
                   cell(span_at(spans, "empty")), because_cell(*past)});
    }
    return title("LAST EVICTIONS", style) + table.text(style);
}

}  // namespace

std::string victims_sections(const Json& document, const TextStyle& style) {
    return in_flight_section(document, style) + ended_section(document, style) + owed_section(document, style) +
           evictions_section(document, style);
}

}  // namespace evictd::codec
