// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "stall_json.hpp"

#include <algorithm>

#include "event.hpp"
#include "evictd/model/text.hpp"
#include "json_value.hpp"
#include "sentence.hpp"
#include "status_json.hpp"

namespace evictd::codec {
namespace {

using Json = nlohmann::ordered_json;

Json times_json(const StallTimes& times) {
    Json json = Json::object();
    for (const auto window : {StallWindow::tenth, StallWindow::second, StallWindow::ten_seconds}) {
        json[std::string(name(window))] = microseconds(times[static_cast<std::size_t>(window)]);
    }
    return json;
}

const MetStall* find(const std::vector<MetStall>& list, const StallThreshold& threshold) {
    const auto found =
        std::find_if(list.begin(), list.end(), [&](const MetStall& met) { return met.threshold == threshold; });
    return found == list.end() ? nullptr : &*found;
}

Json threshold_json(const StallThreshold& threshold, const AgentStatus& agent, const Tick& tick) {
    Json json{{"scope", name(threshold.scope)},
              {"kind", name(threshold.kind)},
              {"share", share_text(line_of(threshold), threshold.window)},
              {"line_us", microseconds(line_of(threshold))},
              {"window", name(threshold.window)},
              {"grace_period", to_string(threshold.grace_period)}};
    const MetStall* met = find(tick.decision.stalls_met, threshold);
    const MetStall* pending = find(tick.decision.stalls_pending, threshold);
    const auto& never = agent.uncounted_stalls;
    const bool known = std::find(never.begin(), never.end(), threshold) == never.end();
    json["state"] = met != nullptr ? "met" : pending != nullptr ? "pending" : known ? "clear" : "unknown";
    if (met == nullptr) met = pending;
    if (met != nullptr) json["first_observed_at"] = rfc3339(wall_time(tick.observation, met->first_observed_at));
    return json;
}

}  // namespace

Json stall_json(const PodStall& stall) {
    Json json{{"some_us", times_json(stall.some)}};
    if (stall.full) json["full_us"] = times_json(*stall.full);
    json["reclaimed_bytes"] = stall.reclaimed.value;
    if (stall.reclaimed_for_node) json["reclaimed_for_node_bytes"] = stall.reclaimed_for_node->value;
    return json;
}

Json stall_json(const MetStall& stall) {
    return {{"resource", name(stall.threshold.resource)}, {"scope", name(stall.threshold.scope)},
            {"kind", name(stall.threshold.kind)},         {"window", name(stall.threshold.window)},
            {"lost_us", microseconds(stall.lost)},        {"line_us", microseconds(line_of(stall.threshold))}};
}

Json stalls_json(const AgentStatus& agent, const Tick& tick) {
    Json list = Json::array();
    for (const auto resource : {StallResource::memory, StallResource::io, StallResource::cpu}) {
        const auto& stalls = tick.observation.stalls;
        const auto known = std::find_if(stalls.begin(), stalls.end(),
                                        [&](const NodeStall& stall) { return stall.resource == resource; });
        Json lines = Json::array();
        for (const auto& threshold : agent.stalls) {
            if (threshold.resource == resource) lines.push_back(threshold_json(threshold, agent, tick));
        }
        if (known == stalls.end() && lines.empty()) continue;
        Json json{{"resource", name(resource)}};
        if (known != stalls.end() && known->some) json["some_us"] = times_json(*known->some);
        if (known != stalls.end() && known->full) json["full_us"] = times_json(*known->full);
        json["thresholds"] = std::move(lines);
        list.push_back(std::move(json));
    }
    return list;
}

}  // namespace evictd::codec
