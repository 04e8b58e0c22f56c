// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "status_disks.hpp"

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

Json json_of(const DiskExhaustion& out, const Observation& observation) {
    Json json{{"signal", name(out.signal)},
              {"left_ms", std::chrono::round<std::chrono::milliseconds>(out.left).count()},
              {"falls_per_second", out.falls.value}};
    if (out.line.value > 0) json["threshold"] = quantity_text(out.signal, out.line);
    for (const auto& observed : observation.pods) {
        if (out.pod.value.empty() || !observed.pod || observed.pod->uid != out.pod) continue;
        json["pod"] = observed.pod->full_name();
        json["share_percent"] = out.share_percent;
    }
    return json;
}

// "nodefs.available reaches its threshold of 1Gi in 40 s at this rate: it falls by 12Mi a second, 90 % of it
// shop/web's."
std::string line_of(const Json& out, const TextStyle& style) {
    const auto signal = signal_from(text_at(out, "signal"));
    if (!signal) return {};
    const bool has_line = !text_at(out, "threshold").empty();
    const auto line = has_line ? "reaches its threshold of " + amount_text(*signal, {quantity_at(out, "threshold")})
                               : std::string("is used up");
    const auto falls = amount_text(*signal, {number_at(out, "falls_per_second").value_or(0)});
    std::string text = shown(out, "signal") + " " + line + " in " + time_left_text(out) +
                       " at this rate: it falls by " + falls + " a second";
    if (const auto pod = shown(out, "pod"); !pod.empty()) {
        text += ", " + std::to_string(number_at(out, "share_percent").value_or(0)) + " % of it " + pod + "'s";
    }
    return toned(text + ".", is_soon(out) ? Tone::yellow : Tone::plain, style) + "\n";
}

}  // namespace

void add_disk_exhaustion(const Tick& tick, Json& document) {
    for (const auto& out : tick.decision.disk_exhaustion)
        document["disk_exhaustion"].push_back(json_of(out, tick.observation));
}

std::string disk_exhaustion_lines(const Json& document, const TextStyle& style) {
    std::string lines;
    for (const auto& out : list_at(document, "disk_exhaustion")) lines += line_of(out, style);
    return lines;
}

std::string time_left_text(const Json& exhaustion) {
    const auto left = time_left(exhaustion);
    return left < soon ? latency_text(left) : span_text(left);
}

bool is_soon(const Json& exhaustion) { return time_left(exhaustion) < soon; }

}  // namespace evictd::codec
