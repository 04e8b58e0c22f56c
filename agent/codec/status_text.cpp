// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The status page: what the agent sees, what it would do, what it did, and where its numbers come from.
#include "status_text.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "evictd/model/memory_available.hpp"
#include "evictd/model/quantity.hpp"
#include "evictd/model/text.hpp"
#include "json_value.hpp"
#include "status_exhaustion.hpp"
#include "status_page.hpp"
#include "status_text_pods.hpp"
#include "status_text_stall.hpp"
#include "status_text_victims.hpp"
#include "text_table.hpp"

namespace evictd::codec {
namespace {

using Json = nlohmann::ordered_json;

// "Next look at 12:00:10.000: period".
std::string next_look_sentence(const Json& document, const TextStyle& style) {
    const Json* next = object_at(document, "next_look");
    const auto at = next == nullptr ? std::nullopt : parse_rfc3339(text_at(*next, "at"));
    if (!at) return {};
    auto why = shown(*next, "why");
    std::replace(why.begin(), why.end(), '_', ' ');
    return "Next look at " + time_of_day(*at, style.utc_offset, 3) + ": " + why + ".\n";
}

std::string header(const Json& document, Detail detail, const TextStyle& style) {
    const auto now = parse_rfc3339(text_at(document, "time"));
    const auto started = parse_rfc3339(text_at(document, "started"));
    const auto config = shown(document, "config_file");
    std::string line =
        toned("evictd " + shown(document, "version") + " on " + shown(document, "node"), Tone::bold, style);
    line += ", pid " + std::to_string(number_at(document, "pid").value_or(0));
    if (now && started) line += ", up " + span_text(*now - *started);
    line += ", " + (config.empty() ? "built-in config" : config);
    if (flag_at(document, "dry_run")) line += ", " + toned("DRY RUN: nothing is touched", Tone::yellow, style);
    if (flag_at(document, "no_pods_cgroup")) {
        line += ", " + toned("NO PODS' CGROUP: no pod is protected", Tone::red, style);
    }
    line += "\n";
    if (!now) return line + "No observation yet.\n";
    line += "Looked at " + time_of_day(*now, style.utc_offset, 3);
    if (const Json* cause = object_at(document, "cause")) {
        const auto event = shown(*cause, "event");
        const auto kind = text_at(*cause, "kind");
        if (!event.empty())
            line += ": " + event;
        else if (kind == "timer")
            line += ", periodic look";
        else if (kind == "pods_changed")
            line += ", because pods changed";
        else if (kind == "requested")
            line += ", on request";
    }
    line += ".\n";
    if (detail == Detail::wide) line += next_look_sentence(document, style);
    if (const auto why = shown(document, "why"); !why.empty()) line += why + "\n";
    return line + exhaustion_lines(document, style);
}

// "hard 100Mi", "soft 10% (307Mi) for 1m30s".
std::string threshold_text(const Json& threshold, Signal signal) {
    const auto value = shown(threshold, "value");
    std::string text = shown(threshold, "kind") + " " + value;
    if (value.ends_with('%') && !text_at(threshold, "quantity").empty()) {
        text += " (" + amount_text(signal, Amount{quantity_at(threshold, "quantity")}) + ")";
    }
    if (text_at(threshold, "kind") == "soft") text += " for " + shown(threshold, "grace_period");
    return text;
}

Cell state_cell(const Json& threshold, std::optional<WallTime> now) {
    const auto since = parse_rfc3339(text_at(threshold, "first_observed_at"));
    const std::string span = since && now ? " since " + span_text(*now - *since) : "";
    if (text_at(threshold, "state") == "met") return cell("MET" + span, Tone::red);
    if (text_at(threshold, "state") == "pending") return cell("PENDING" + span, Tone::yellow);
    return cell("ok", Tone::green);
}

// The worst of a signal's thresholds colours its bar.
Tone tone_of(const Json& thresholds) {
    Tone tone = Tone::green;
    for (const auto& threshold : thresholds) {
        if (text_at(threshold, "state") == "met") return Tone::red;
        if (text_at(threshold, "state") == "pending") tone = Tone::yellow;
    }
    return tone;
}

// The same memory counted the other way: not what is compared, but beside it. Empty where there is one way only.
std::vector<Cell> other_count(const Json& row, Signal signal, std::int64_t capacity, Bar bar) {
    const Json* counts = object_at(row, "memory_available");
    if (counts == nullptr || capacity <= 0) return {};
    const bool kubelet = text_at(*counts, "compared") == name(MemoryAvailable::kubelet);
    const auto available = quantity_at(*counts, kubelet ? "reclaimable" : "kubelet");
    bar.filled = 1 - static_cast<double>(available) / static_cast<double>(capacity);
    bar.tone = Tone::dim;
    return {cell(kubelet ? "  really reclaimable" : "  as the kubelet counts it", Tone::dim),
            {"", Tone::plain, bar},
            cell(amount_text(signal, Amount{available}), Tone::dim),
            cell("")};
}

// One line a threshold; the first carries the signal, the second the other way to count it.
void add_signal(const Json& row, std::optional<WallTime> now, Table& table) {
    const auto signal = signal_from(text_at(row, "signal")).value_or(Signal::memory_available);
    const bool known = !text_at(row, "available").empty();
    const auto available = quantity_at(row, "available");
    const auto capacity = quantity_at(row, "capacity");
    const auto used = [&](std::int64_t left) {
        return capacity > 0 ? 1 - static_cast<double>(left) / static_cast<double>(capacity) : 0.0;
    };
    const auto& thresholds = list_at(row, "thresholds");
    Bar bar{known ? used(available) : 0, {}, tone_of(thresholds)};
    for (const auto& threshold : thresholds) {
        const auto quantity = quantity_at(threshold, "quantity");
        if (capacity > 0 && quantity > 0) bar.marks.push_back(used(quantity));
    }
    std::vector<Cell> line{cell(shown(row, "signal")),
                           {"", Tone::plain, bar},
                           cell(known ? amount_text(signal, Amount{available}) : "?"),
                           cell(known ? amount_text(signal, Amount{capacity}) : "?")};
    auto second = other_count(row, signal, capacity, bar);
    const std::size_t lines = std::max<std::size_t>(thresholds.size(), second.empty() ? 1 : 2);
    for (std::size_t i = 0; i < lines; ++i) {
        if (i < thresholds.size()) {
            line.resize(4, cell(""));
            line.push_back(cell(threshold_text(thresholds[i], signal)));
            line.push_back(known ? state_cell(thresholds[i], now) : cell("UNKNOWN", Tone::yellow));
        }
        table.add(std::exchange(line, std::exchange(second, {})));
    }
}

std::string signals_section(const Json& document, const TextStyle& style) {
    const auto now = parse_rfc3339(text_at(document, "time"));
    Table table({{"SIGNAL", Fit::left},
                 {"USED", Fit::bar},
                 {"AVAILABLE", Fit::right},
                 {"CAPACITY", Fit::right},
                 {"EVICTS BELOW", Fit::left},
                 {"STATE", Fit::left}});
    for (const auto& row : list_at(document, "signals")) add_signal(row, now, table);
    return table.empty() ? "" : title("SIGNALS", style) + table.text(style);
}

std::string conditions_line(const Json& document, const TextStyle& style) {
    std::string line;
    for (const auto& condition : list_at(document, "conditions")) {
        const bool status = text_at(condition, "status") == "True";
        line += (line.empty() ? "  " : "   ") + shown(condition, "type") + "=" +
                toned(status ? "True" : "False", status ? Tone::red : Tone::green, style);
    }
    return line.empty() ? "" : title("CONDITIONS", style) + line + "\n";
}

std::string sources_section(const Json& document, const TextStyle& style) {
    Table table({{"SOURCE", Fit::left}, {"FROM", Fit::left}, {"", Fit::left}, {"", Fit::clip}});
    for (const auto& row : list_at(document, "sources")) {
        const auto chosen = shown(row, "chosen");
        const bool fallback = flag_at(row, "fallback");
        table.add({cell(shown(row, "hook")),
                   cell(chosen.empty() ? "none" : chosen, chosen.empty() ? Tone::red : Tone::plain),
                   cell(chosen.empty() ? "LOST"
                        : fallback     ? "fallback"
                                       : "",
                        chosen.empty() ? Tone::red : Tone::yellow),
                   cell(shown(row, "detail"), Tone::dim)});
    }
    if (const auto cgroup = shown(document, "pods_cgroup"); !cgroup.empty()) {
        table.add({cell("pods' cgroup"), cell(cgroup)});
    } else if (flag_at(document, "no_pods_cgroup")) {
        table.add({cell("pods' cgroup"), cell("none", Tone::red), cell("LOST", Tone::red)});
    }
    for (const auto& source : list_at(document, "pod_sources")) {
        if (source.is_string()) table.add({cell("pods"), cell(printable(source.get<std::string>()))});
    }
    for (const auto& state : list_at(document, "pod_source_states")) {
        const auto fault = shown(state, "fault");
        const auto age = number_at(state, "age_seconds");
        auto heard = age ? "heard " + span_text(std::chrono::seconds(*age)) + " ago" : std::string("not heard yet");
        if (!fault.empty()) heard.append(": ").append(fault);
        table.add({cell("pods"), cell(shown(state, "name")), cell(fault.empty() ? "" : "OUT OF DATE", Tone::red),
                   cell(heard, Tone::dim)});
    }
    std::string text = table.empty() ? "" : title("SOURCES", style) + table.text(style);
    if (const Json* lost = object_at(document, "lost")) {
        for (const auto& item : lost->items()) {
            const auto count = number_at(*lost, item.key().c_str()).value_or(0);
            if (count == 0) continue;
            text +=
                "  " + toned("lost: " + std::to_string(count) + " " + printable(item.key()), Tone::red, style) + "\n";
        }
    }
    return text;
}

}  // namespace

Result<std::string> status_text(std::string_view json, Detail detail, const TextStyle& style) {
    const Json document = Json::parse(json, nullptr, false);
    if (!document.is_object()) return fail(ErrorKind::invalid, "agent's answer", "not a status document");
    std::string text = header(document, detail, style) + signals_section(document, style);
    if (const auto stalls = stalls_table(document, style); !stalls.empty()) text += title("STALLS", style) + stalls;
    text += conditions_line(document, style);
    if (const Json* ranking = object_at(document, "ranking")) {
        text += title("PODS, in victim order for " + shown(*ranking, "signal"), style);
        text += list_at(*ranking, "pods").empty() ? "  none\n" : pods_table(*ranking, detail, style);
        text += without_manifest(document, detail, style);
    }
    return text + victims_sections(document, style) + sources_section(document, style);
}

std::int64_t lost_event_lines(std::string_view json) {
    const auto document = Json::parse(json, nullptr, false);
    const Json* lost = document.is_object() ? object_at(document, "lost") : nullptr;
    return lost != nullptr ? number_at(*lost, "event log lines").value_or(0) : 0;
}

}  // namespace evictd::codec
