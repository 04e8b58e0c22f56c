// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A look and the agent's facts -> the status document. These are the keys of -o json.
#include "status_json.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <nlohmann/json.hpp>

#include "event.hpp"
#include "evictd/model/quantity.hpp"
#include "evictd/model/text.hpp"
#include "json_value.hpp"
#include "kernel_events.hpp"
#include "stall_json.hpp"
#include "status_exhaustion.hpp"
#include "status_json_victims.hpp"
#include "status_sockets.hpp"
#include "tape_names.hpp"

namespace evictd::codec {
namespace {

using Json = nlohmann::ordered_json;

constexpr int status_version = 1;

std::string value_text(const ThresholdValue& value) {
    if (const auto* share = std::get_if<float>(&value.value)) {
        // A float's noise (9.9999998 %) is not what was configured: a hundredth of a percent is finer than anyone sets.
        const auto hundredths = std::llround(static_cast<double>(*share) * 10000);
        std::string text = std::to_string(hundredths / 100);
        if (hundredths % 100 != 0) text += "." + std::to_string(hundredths % 100 + 100).substr(1);
        return text + "%";
    }
    return to_string(std::get<Quantity>(value.value));
}

const MetThreshold* find(const std::vector<MetThreshold>& list, const Threshold& threshold) {
    const auto found =
        std::find_if(list.begin(), list.end(), [&](const auto& met) { return met.threshold == threshold; });
    return found == list.end() ? nullptr : &*found;
}

Json threshold_json(const Threshold& threshold, const Tick& tick, const Reading* reading) {
    const bool in_time = threshold.time_left != Duration::zero();
    Json json{{"kind", threshold.hard() ? "hard" : "soft"},
              {"value", in_time ? to_string(threshold.time_left) + " left" : value_text(threshold.value)}};
    if (reading != nullptr && !in_time) {
        json["quantity"] = quantity_text(threshold.signal, quantity_of(threshold.value, reading->capacity));
    }
    json["grace_period"] = to_string(threshold.grace_period);
    if (threshold.min_reclaim) json["min_reclaim"] = value_text(*threshold.min_reclaim);
    const MetThreshold* met = find(tick.decision.thresholds_met, threshold);
    const MetThreshold* pending = find(tick.decision.thresholds_pending, threshold);
    json["state"] = met != nullptr ? "met" : pending != nullptr ? "pending" : "clear";
    if (met == nullptr) met = pending;
    if (met != nullptr) json["first_observed_at"] = rfc3339(wall_time(tick.observation, met->first_observed_at));
    return json;
}

Json memory_available_json(Signal signal, const AvailableMemory& memory) {
    return {{"kubelet", quantity_text(signal, Amount{memory.kubelet.value})},
            {"reclaimable", quantity_text(signal, Amount{memory.reclaimable.value})},
            {"compared", name(memory.compared)}};
}

Json signals_json(const AgentStatus& agent, const Tick& tick) {
    Json signals = Json::array();
    for (const auto& row : signal_table) {
        const auto& reading = tick.observation.readings[static_cast<std::size_t>(row.signal)];
        Json thresholds = Json::array();
        for (const auto& threshold : agent.thresholds) {
            if (threshold.signal == row.signal) {
                thresholds.push_back(threshold_json(threshold, tick, reading ? &*reading : nullptr));
            }
        }
        if (!reading && thresholds.empty()) continue;
        Json json{{"signal", row.name}};
        if (reading) {
            json["available"] = quantity_text(row.signal, reading->available);
            if (reading->memory) json["memory_available"] = memory_available_json(row.signal, *reading->memory);
            json["capacity"] = quantity_text(row.signal, reading->capacity);
            json["observed_at"] = rfc3339(wall_time(tick.observation, reading->at));
        }
        json["thresholds"] = std::move(thresholds);
        signals.push_back(std::move(json));
    }
    return signals;
}

Json conditions_json(const AgentStatus& agent, const Tick& tick) {
    std::set<Condition> possible(tick.decision.conditions.begin(), tick.decision.conditions.end());
    for (const auto& threshold : agent.thresholds) possible.insert(traits(threshold.signal).condition);
    for (const auto& threshold : agent.stalls) {
        const bool is_of_node = threshold.scope == StallScope::node;
        if (is_of_node && threshold.resource == StallResource::memory) possible.insert(Condition::memory_pressure);
    }
    Json conditions = Json::array();
    for (const auto condition : possible) {
        const auto& now = tick.decision.conditions;
        const bool status = std::find(now.begin(), now.end(), condition) != now.end();
        conditions.push_back({{"type", name(condition)}, {"status", status ? "True" : "False"}});
    }
    return conditions;
}

const char* text_of(Exemption exemption) {
    constexpr std::array<const char*, 11> names{
        "none",      "critical",     "static_pod",          "mirror",      "in_flight", "failed_before",
        "no_cgroup", "no_processes", "memory_not_returned", "terminating", "own_pod"};
    return names.at(static_cast<std::size_t>(exemption));
}

Json usage_json(const PodUsage& usage) {
    return {{"usage_bytes", usage.usage.value},
            {"working_set_bytes", usage.working_set.value},
            {"anon_bytes", usage.anon.value},
            {"file_bytes", usage.file.value},
            {"processes", usage.processes}};
}

// `rank`: 1 is the first that can be evicted; 0: it cannot.
Json pod_json(const RankedPod& row, std::size_t rank, const Observation& observation, const std::string& place) {
    const ObservedPod& observed = observation.pods[row.pod];
    Json json = Json::object();
    if (rank > 0) json["rank"] = rank;
    if (observed.pod) {
        json["namespace"] = observed.pod->name_space;
        json["name"] = observed.pod->name;
        json["uid"] = observed.pod->uid.value;
    }
    json["qos"] = name(row.qos);
    json["priority"] = row.priority;
    json["usage"] = row.usage.value;
    json["request"] = row.request.value;
    json["has_usage"] = row.has_usage;
    json["exceeds_request"] = row.exceeds_request;
    if (observed.usage) json["memory"] = usage_json(*observed.usage);
    if (observed.cgroup != CgroupId{}) json["cgroup_id"] = observed.cgroup.value;
    json["populated"] = observed.populated;
    if (observed.stall) json["stall"] = stall_json(*observed.stall);
    if (row.exemption != Exemption::none) json["exemption"] = text_of(row.exemption);
    if (!place.empty()) json["place"] = place;
    if (observed.pod && !observed.pod->source.empty()) json["source"] = observed.pod->source;
    if (observed.pod) add_not_started(*observed.pod, json);
    return json;
}

Json order_json(const VictimOrder& order, const Observation& observation) {
    Json pods = Json::array();
    std::size_t evictable = 0;
    for (std::size_t i = 0; i < order.ranking.size(); ++i) {
        const RankedPod& row = order.ranking[i];
        if (row.pod >= observation.pods.size()) continue;  // an order over another look: nothing to say
        const std::size_t rank = row.exemption == Exemption::none ? ++evictable : 0;
        pods.push_back(pod_json(row, rank, observation, i < order.places.size() ? order.places[i] : ""));
    }
    return {{"signal", name(order.signal)}, {"pods", std::move(pods)}};
}

Json sources_json(const std::vector<SourceRow>& sources) {
    Json list = Json::array();
    for (const auto& row : sources) {
        list.push_back(
            {{"hook", row.hook}, {"chosen", row.chosen}, {"fallback", row.fallback}, {"detail", row.detail}});
    }
    return list;
}

Json cause_json(const Cause& cause) {
    constexpr std::array<const char*, 6> kinds{"started",      "kernel_event", "timer",
                                               "pods_changed", "requested",    "config"};
    Json json{{"kind", kinds.at(static_cast<std::size_t>(cause.kind))}};
    if (cause.event) json["event"] = phrase(*cause.event);
    return json;
}

// Which cgroup's pods are watched, and which of them cannot be evicted because no source knows them.
void add_pods_cgroup(const Tick& tick, Json& json) {
    if (tick.pods_root.empty()) {
        json["no_pods_cgroup"] = true;
    } else {
        json["pods_cgroup"] = tick.pods_root;
    }
    const auto& unlisted = tick.without_manifest;
    if (unlisted.count == 0) return;
    Json uids = Json::array();
    Json pods = Json::array();
    for (const auto& one : unlisted.some) {
        uids.push_back(one.pod.value);
        Json pod{{"uid", one.pod.value}};
        if (const auto* named = named_pod(tick.runtime_names.get(), one.pod)) {
            pod["namespace"] = named->name_space;
            pod["name"] = named->name;
        }
        if (one.working_set) pod["working_set_bytes"] = one.working_set->value;
        pods.push_back(std::move(pod));
    }
    json["pods_without_manifest"] = {{"count", unlisted.count}, {"uids", std::move(uids)}, {"pods", std::move(pods)}};
}

Json pod_source_states_json(const AgentStatus& agent) {
    Json states = Json::array();
    for (const auto& state : agent.pod_source_states) {
        Json row{{"name", state.name}};
        if (state.heard_at) {
            const auto age = std::chrono::duration_cast<std::chrono::seconds>(agent.as_of - *state.heard_at);
            row["age_seconds"] = age.count();
        }
        if (!state.fault.empty()) row["fault"] = state.fault;
        states.push_back(std::move(row));
    }
    return states;
}

Json agent_json(const AgentStatus& agent) {
    return {{"v", status_version},
            {"node", agent.node},
            {"version", agent.version},
            {"pid", agent.pid},
            {"started", rfc3339(agent.started)},
            {"dry_run", agent.dry_run},
            {"config_file", agent.config_file}};
}

}  // namespace

std::string status_json(const StatusInput& input) {
    Json json = agent_json(input.agent);
    if (input.tick != nullptr) {
        const Tick& tick = *input.tick;
        json["time"] = rfc3339(tick.observation.wall);
        json["cause"] = cause_json(tick.observation.cause);
        json["why"] = tick.decision.why;
        const auto& next = tick.decision.next_look;
        json["next_look"] = {{"at", rfc3339(wall_time(tick.observation, next.at))}, {"why", name(next.why)}};
        add_pods_cgroup(tick, json);
        json["signals"] = signals_json(input.agent, tick);
        if (Json stalls = stalls_json(input.agent, tick); !stalls.empty()) json["stalls"] = std::move(stalls);
        add_exhaustion(tick, json);
        json["conditions"] = conditions_json(input.agent, tick);
        json["ranking"] = order_json(input.order, tick.observation);
        json["in_flight"] = in_flight_json(tick);
        if (Json owed = owed_json(tick); !owed.empty()) json["memory_owed"] = std::move(owed);
        if (Json ended = ended_json(tick); !ended.empty()) json["ended_pods"] = std::move(ended);
        if (Json finished = finished_json(tick); !finished.empty()) json["finished_pods"] = std::move(finished);
        if (const auto& at = tick.decision.next_eviction_at) {
            json["next_eviction_at"] = rfc3339(wall_time(tick.observation, *at));
        }
    }
    add_sockets(input, json);
    json["last_evictions"] = past_json(input.last_evictions);
    json["sources"] = sources_json(input.agent.sources);
    json["pod_sources"] = input.agent.pod_sources;
    if (!input.agent.pod_source_states.empty()) json["pod_source_states"] = pod_source_states_json(input.agent);
    json["lost"] = Json::object();
    for (const auto& [cause, count] : input.lost) json["lost"][cause] = count;
    return dump_line(json);
}

std::string scale_down_json(const AgentStatus& agent, const Tick& tick, const std::vector<ScaleDownPlace>& places) {
    Json pods = Json::array();
    for (const auto& place : places) {
        const Pod& pod = *tick.observation.pods[place.pod].pod;
        Json row{{"rank", pods.size() + 1}, {"namespace", pod.name_space}, {"name", pod.name}, {"uid", pod.uid.value}};
        for (const auto& owner : pod.owners) {
            if (owner.controller) row["controller"] = owner.kind + "/" + owner.name;
        }
        row["phase"] = name(pod.phase);
        row["ready"] = pod.ready;
        row["restarts"] = pod.restarts;
        row["deletion_cost"] = pod.deletion_cost;
        if (pod.creation_time) row["created"] = rfc3339(*pod.creation_time);
        row["place"] = place.why;
        pods.push_back(std::move(row));
    }
    Json json = agent_json(agent);
    json["time"] = rfc3339(tick.observation.wall);
    json["ranking"] = {{"order", "scale-down"}, {"pods", std::move(pods)}};
    return dump_line(json);
}

std::string rank_json(const AgentStatus& agent, const Tick& tick, const VictimOrder& order) {
    Json json = agent_json(agent);
    json["time"] = rfc3339(tick.observation.wall);
    json["ranking"] = order_json(order, tick.observation);
    return dump_line(json);
}

}  // namespace evictd::codec
