// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "status_exhaustion.hpp"

#include <algorithm>
#include <chrono>

#include "json_value.hpp"
#include "status_page.hpp"

namespace evictd::codec {
namespace {

using Json = nlohmann::ordered_json;

constexpr Duration soon = std::chrono::minutes(1);

std::chrono::milliseconds time_left(const Json& exhaustion) {
    return std::chrono::milliseconds(
        std::clamp<std::int64_t>(number_at(exhaustion, "left_ms").value_or(0), 0, std::int64_t{3600} * 24 * 1000));
}

template <class Out>  // Exhaustion, DiskExhaustion
void add_pod(const Out& out, const Observation& observation, Json& json) {
    for (const auto& observed : observation.pods) {
        if (out.pod.value.empty() || !observed.pod || observed.pod->uid != out.pod) continue;
        json["pod"] = observed.pod->full_name();
        json["share_percent"] = out.share_percent;
    }
}

Json json_of(const Exhaustion& out, const Observation& observation) {
    Json json{{"signal", name(out.signal)},
              {"left_ms", std::chrono::round<std::chrono::milliseconds>(out.left).count()},
              {"falls_bytes_per_second", out.falls.value}};
    add_pod(out, observation, json);
    return json;
}

Json json_of(const DiskExhaustion& out, const Observation& observation) {
    Json json{{"signal", name(out.signal)},
              {"left_ms", std::chrono::round<std::chrono::milliseconds>(out.left).count()},
              {"falls_per_second", out.falls.value}};
    if (out.line.value > 0) json["threshold"] = quantity_text(out.signal, out.line);
    add_pod(out, observation, json);
    return json;
}

// "2.3 s", "12m5s".
std::string time_left_text(const Json& out) {
    const auto left = time_left(out);
    return left < soon ? latency_text(left) : span_text(left);
}

// `text` says what runs out, when, and how fast.
std::string finished_line(std::string text, const Json& out, const TextStyle& style) {
    if (const auto pod = shown(out, "pod"); !pod.empty()) {
        text += ", " + std::to_string(number_at(out, "share_percent").value_or(0)) + " % of it " + pod + "'s";
    }
    return toned(text + ".", time_left(out) < soon ? Tone::yellow : Tone::plain, style) + "\n";
}

// "Out of memory in 40 s at this rate: memory.available falls by 12Mi a second, 90 % of it shop/web's."
std::string memory_line(const Json& out, const TextStyle& style) {
    return finished_line("Out of memory in " + time_left_text(out) + " at this rate: " + shown(out, "signal") +
                             " falls by " + bytes_text(number_at(out, "falls_bytes_per_second").value_or(0)) +
                             " a second",
                         out, style);
}

// "nodefs.available reaches its threshold of 1Gi in 40 s at this rate: it falls by 12Mi a second, 90 % of it
// shop/web's."
std::string disk_line(const Json& out, const TextStyle& style) {
    const auto signal = signal_from(text_at(out, "signal"));
    if (!signal) return {};
    const bool has_line = !text_at(out, "threshold").empty();
    const auto line = has_line ? "reaches its threshold of " + amount_text(*signal, {quantity_at(out, "threshold")})
                               : std::string("is used up");
    const auto falls = amount_text(*signal, {number_at(out, "falls_per_second").value_or(0)});
    return finished_line(shown(out, "signal") + " " + line + " in " + time_left_text(out) +
                             " at this rate: it falls by " + falls + " a second",
                         out, style);
}

}  // namespace

void add_exhaustion(const Tick& tick, Json& document) {
    const auto& decision = tick.decision;
    const auto& observation = tick.observation;
    if (decision.exhaustion) document["exhaustion"] = json_of(*decision.exhaustion, observation);
    for (const auto& out : decision.disk_exhaustion) document["disk_exhaustion"].push_back(json_of(out, observation));
}

std::string exhaustion_lines(const Json& document, const TextStyle& style) {
    std::string lines;
    if (const Json* memory = object_at(document, "exhaustion")) lines = memory_line(*memory, style);
    for (const auto& out : list_at(document, "disk_exhaustion")) lines += disk_line(out, style);
    return lines;
}

}  // namespace evictd::codec
