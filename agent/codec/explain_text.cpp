// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "explain_text.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "event_json.hpp"
#include "event_text.hpp"
#include "evictd/model/text.hpp"
#include "history_json.hpp"
#include "history_plot.hpp"
#include "status_page.hpp"
#include "text_table.hpp"

namespace evictd::codec {
namespace {

constexpr std::size_t fact_margin = 13;  // of the facts: two blanks, a name, two blanks

std::string pod_of(const Event& event) {
    return event.pod ? printable(event.pod->name_space + "/" + event.pod->name) : "a process of no known pod";
}

bool is_oom(const Event& event) { return event.reason == Reason::oom_killing; }

std::string outcome_of(const Event& last) {
    if (is_oom(last)) return "lost a process to the kernel's OOM killer";
    if (last.reason == Reason::eviction_failed) return "could not be evicted";
    if (last.dry_run) return "would have been evicted (dry run)";
    if (last.reason == Reason::eviction_withdrawn) return "was not evicted: the pressure was over first";
    if (last.reason == Reason::pod_not_admitted) return "is being rejected, or the agent ended first";
    if (last.reason == Reason::memory_not_returned) return "has no process left, and holds memory that no kill returns";
    return last.reason == Reason::evicting ? "is being evicted, or the agent ended first" : "was evicted";
}

// The last event of the kill itself: what the API server said of it comes after.
const Event& main_event(const std::vector<Event>& events) {
    const auto of_kill = [](const Event& event) { return event.threshold || event.latency.act || event.oom; };
    const auto found = std::find_if(events.rbegin(), events.rend(), of_kill);
    return found == events.rend() ? events.back() : *found;
}

// From the crossing to the end of the watch, each with the time since the crossing, or since the decision.
std::string steps_text(const std::vector<Event>& events) {
    const Event& kill = main_event(events);
    if (is_oom(kill) || !kill.latency.act || &kill == &events.back()) return {};
    const auto& took = kill.latency;
    const Duration until_decided = took.total ? *took.total - *took.act : Duration::zero();
    Duration since = until_decided + *took.act;
    std::string text = took.total ? "crossed 0, decided +" + latency_text(until_decided) : "decided 0";
    text += ", SIGKILL +" + latency_text(since);
    if (took.empty) text += ", empty +" + latency_text(since += *took.empty);
    for (const auto& event : events) {
        const Duration later = since + (event.time - kill.time);
        const std::string at = " +" + latency_text(later);
        if (event.reason == Reason::eviction_reported) text += ", API server answered" + at;
        if (event.reason == Reason::eviction_not_delivered) text += ", not delivered to the API server" + at;
        if (event.reason == Reason::evicted_pod_restarted) text += ", ran again and was killed" + at;
        if (event.reason == Reason::eviction_settled) text += ", watched until" + at;
    }
    return text;
}

// The moment that the picture's axis counts from: the decision's outcome, or the kernel's kill.
WallTime zero_of(const std::vector<Event>& events) { return events.front().time; }

std::string headline(const std::vector<Event>& events, const TextStyle& style) {
    const auto& last = events.back();
    const auto day = rfc3339(zero_of(events) + style.utc_offset).substr(0, 10);
    return toned(pod_of(last) + " " + outcome_of(last), Tone::bold, style) + ", " + day + " " +
           time_of_day(zero_of(events), style.utc_offset, 3) + " on " + printable(last.node) + "\n";
}

// At blanks, so that no line is wider than the terminal; every further line is set in.
std::string wrapped(const std::string& text, std::size_t columns) {
    const std::size_t room = columns > 2 * fact_margin ? columns - fact_margin : std::string::npos;
    std::string result;
    std::size_t start = 0;
    while (width_of(std::string_view(text).substr(start)) > room) {
        auto end = text.rfind(' ', start + room);
        if (end == std::string::npos || end <= start) end = text.find(' ', start + room);
        if (end == std::string::npos) break;
        result += text.substr(start, end - start) + "\n" + std::string(fact_margin, ' ');
        start = end + 1;
    }
    return result + text.substr(start) + "\n";
}

std::string fact(const std::string& name, const std::string& text, const TextStyle& style) {
    if (text.empty()) return {};
    const std::string label = "  " + name + std::string(fact_margin - 2 - std::min(fact_margin - 2, name.size()), ' ');
    return toned(label, Tone::dim, style) + wrapped(text, static_cast<std::size_t>(std::max(0, style.columns)));
}

std::string threshold_text(const Event& event) {
    if (!event.threshold) return {};
    const Signal signal = event.signal.value_or(Signal::memory_available);
    const auto& threshold = *event.threshold;
    std::string text = std::string(name(signal)) + " was " + amount_text(signal, threshold.available) + " of " +
                       amount_text(signal, threshold.capacity) + ", below the " + (threshold.hard ? "hard" : "soft") +
                       " threshold of " + amount_text(signal, threshold.value);
    if (threshold.time_left != Duration::zero()) text += ", what it lost in " + span_text(threshold.time_left) + ",";
    if (!threshold.hard) text += " for longer than " + span_text(threshold.grace_period);
    return text;
}

std::string not_returned_text(const EventOwed& owed) {
    const std::string bytes = owed.bytes ? bytes_text(owed.bytes->value) : "an unknown amount";
    return bytes + (owed.kind.empty() ? "" : ", most of it " + printable(owed.kind));
}

std::string facts(const std::vector<Event>& events, const std::vector<Event>& delays, const HistoryPtr& history,
                  const TextStyle& style) {
    const auto& last = main_event(events);
    std::string text = fact("id", printable(last.id), style);
    if (last.pod && last.pod->qos) {
        text += fact("pod",
                     fmt::format("{}, priority {}, uid {}", name(*last.pod->qos), last.pod->priority.value_or(0),
                                 printable(last.pod->uid)),
                     style);
    }
    text += fact("why", printable(history && !history->why.empty() ? history->why : last.message), style);
    text += fact("threshold", threshold_text(last), style);
    if (!delays.empty()) {
        text += fact("waited",
                     span_text(events.front().time - delays.front().time) + ": " + printable(delays.front().message),
                     style);
    }
    text += fact("cause", printable(last.cause), style);
    text += fact("latency", latency_breakdown(last.latency), style);
    text += fact("steps", steps_text(events), style);
    if (last.reclaimed) text += fact("freed", bytes_text(last.reclaimed->value), style);
    if (last.not_returned) text += fact("not freed", not_returned_text(*last.not_returned), style);
    return text + fact("error", printable(last.error), style);
}

std::string order_section(const History& history, const TextStyle& style) {
    if (history.order.empty()) return {};
    Table table({{"#", Fit::right}, {"POD", Fit::left}, {"QOS", Fit::left}, {"WHY HERE", Fit::clip}});
    int evictable = 0;
    for (const auto& place : history.order) {
        const Tone tone = place.exempt ? Tone::dim : Tone::plain;
        const auto cell = [&](std::string text) { return Cell{std::move(text), tone, std::nullopt}; };
        const auto pod = printable(place.pod);
        auto why = printable(place.why);
        if (why.starts_with(pod + " ")) why.erase(0, pod.size() + 1);
        table.add({cell(place.exempt ? "-" : std::to_string(++evictable)), cell(pod),
                   cell(std::string(name(place.qos))), cell(std::move(why))});
    }
    const auto rest = history.pods - static_cast<std::int64_t>(history.order.size());
    return title("VICTIM ORDER, at that moment", style) + table.text(style) +
           (rest > 0 ? "  and " + std::to_string(rest) + " more\n" : "");
}

std::string growth_section(const History& history, const TextStyle& style) {
    if (history.growth.empty()) return {};
    Table table({{"POD", Fit::left}, {"GREW BY", Fit::right}, {"TO", Fit::right}});
    for (const auto& grown : history.growth) {
        table.add({{printable(grown.pod), Tone::plain, std::nullopt},
                   {bytes_text(grown.grew.value), Tone::plain, std::nullopt},
                   {bytes_text(grown.usage.value), Tone::plain, std::nullopt}});
    }
    return title("PODS THAT GREW, within " + span_text(history.grown_over), style) + table.text(style);
}

std::string event_lines(const std::vector<Event>& events, const TextStyle& style) {
    std::string text;
    for (const auto& event : events) {
        text += fact(time_of_day(event.time, style.utc_offset, 0),
                     printable(event.reason.text() + ": " + event.message), style);
    }
    return text;
}

nlohmann::ordered_json list_of(const std::vector<Event>& events) {
    auto list = nlohmann::ordered_json::array();
    for (Event event : events) {
        event.history = nullptr;
        list.push_back(nlohmann::ordered_json::parse(to_json_line(event, event.node), nullptr, false));
    }
    return list;
}

}  // namespace

HistoryPtr history_of(const std::vector<Event>& events) {
    const auto found =
        std::find_if(events.rbegin(), events.rend(), [](const Event& event) { return event.history != nullptr; });
    return found == events.rend() ? nullptr : found->history;
}

bool may_have_delayed(const Event& delay, const Event& first) {
    if (first.reason == Reason::oom_killing) return false;
    if (!delay.signal) return !first.signal || is_memory(*first.signal);
    return first.signal && traits(*delay.signal).condition == traits(*first.signal).condition;
}

std::string explain_text(const std::vector<Event>& events, const HistoryPtr& history, const TextStyle& style,
                         const std::vector<Event>& delays) {
    std::string text = headline(events, style) + facts(events, delays, history, style);
    const std::string all = title("EVENTS", style) + event_lines(delays, style) + event_lines(events, style);
    if (!history) return text + all;
    const auto picture = plot(*history, zero_of(events), style);
    if (!picture.empty()) text += title(std::string(name(history->signal)) + ", what was left of it", style) + picture;
    return text + growth_section(*history, style) + order_section(*history, style) + all;
}

std::string explain_json(const std::vector<Event>& events, const HistoryPtr& history,
                         const std::vector<Event>& delays) {
    nlohmann::ordered_json json{{"v", 1}, {"id", events.back().id}};
    if (!delays.empty()) json["delays"] = list_of(delays);
    json["events"] = list_of(events);
    if (history) json["history"] = history_json(*history);
    return dump_line(json);
}

}  // namespace evictd::codec
