// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "status_json_victims.hpp"

#include <chrono>
#include <optional>
#include <utility>

#include "event.hpp"
#include "event_id.hpp"
#include "event_latency.hpp"
#include "evictd/model/text.hpp"
#include "json_value.hpp"
#include "kernel_events.hpp"
#include "stall_json.hpp"

namespace evictd::codec {
namespace {

using Json = nlohmann::ordered_json;

Json victim_json(const Victim& victim) {
    const MetThreshold& met = victim.eviction.threshold;
    Json json{{"id", eviction_id(victim.pod, victim.cause)},
              {"pod", victim.pod_name},
              {"uid", victim.pod.value},
              {"qos", name(victim.qos)},
              {"priority", victim.priority}};
    if (victim.eviction.stall) {
        json["stall"] = stall_json(*victim.eviction.stall);
    } else if (!victim.eviction.rejected_for.empty()) {
        Json conditions = Json::array();
        for (const Condition condition : victim.eviction.rejected_for) conditions.push_back(name(condition));
        json["rejected_for"] = std::move(conditions);
    } else if (!victim.eviction.broken_limit) {
        json["signal"] = name(met.threshold.signal);
        json["threshold"] = quantity_text(met.threshold.signal, met.quantity);
        json["available"] = quantity_text(met.threshold.signal, met.available);
        json["kind"] = met.threshold.hard() ? "hard" : "soft";
    }
    json["grace_period"] = to_string(victim.eviction.grace_period);
    if (victim.usage) json["usage_bytes"] = victim.usage->value;
    const auto latency = latency_of(victim);
    Json spans = Json::object();
    const auto add = [&](const char* key, const std::optional<Duration>& span) {
        if (span) spans[key] = microseconds(*span);
    };
    add("detect", latency.detect);
    add("decide", latency.decide);
    add("act", latency.act);
    add("total", latency.total);
    add("empty", latency.empty);
    if (!spans.empty()) json["latency_us"] = std::move(spans);
    if (victim.cause.event) json["cause"] = phrase(*victim.cause.event);
    json["failed"] = victim.failed || !victim.error.empty();
    if (!victim.error.empty()) json["error"] = victim.error;
    return json;
}

}  // namespace

Json in_flight_json(const Tick& tick) {
    Json victims = Json::array();
    for (const auto& victim : tick.decision.in_flight) {
        Json json = victim_json(victim);
        const bool killed = victim.killed_at != MonotonicTime{};
        json["state"] = tick.dry_run ? "dry_run" : killed ? "killed" : "terminating";
        if (!tick.dry_run && !killed && victim.kill_at != MonotonicTime{}) {
            json["kill_at"] = rfc3339(wall_time(tick.observation, victim.kill_at));
        }
        victims.push_back(std::move(json));
    }
    return victims;
}

Json owed_json(const Tick& tick) {
    Json list = Json::array();
    for (const auto& owed : tick.decision.owed) {
        Json json{{"id", eviction_id(owed.pod, owed.cause)}, {"pod", owed.pod_name}, {"uid", owed.pod.value}};
        json["state"] = owed.overdue ? "not_returned" : "returning";
        json["evicted"] = owed.evicted;
        if (owed.owed) json["owed_bytes"] = owed.owed->value;
        if (owed.left) json["left_bytes"] = owed.left->value;
        json["since"] = rfc3339(wall_time(tick.observation, owed.since));
        list.push_back(std::move(json));
    }
    return list;
}

Json ended_json(const Tick& tick) {
    Json list = Json::array();
    for (const auto& ended : tick.decision.ended) {
        const auto& desired = ended.desired;
        Json json{{"pod", desired.name_space + "/" + desired.name}, {"uid", desired.pod.value}};
        json["id"] = eviction_id(desired.pod, desired.detected_at);
        json["stage"] = name(ended.stage);
        json["attempt"] = desired.attempt;
        json["answered"] = ended.answered == desired.attempt;
        json["restarts"] = ended.restarts;
        json["since"] = rfc3339(wall_time(tick.observation, ended.begun_at));
        list.push_back(std::move(json));
    }
    return list;
}

// A pod that is being deleted starts none of them.
void add_not_started(const Pod& pod, Json& json) {
    if (pod.deletion_time) return;
    Json list = Json::array();
    for (const auto* containers : {&pod.init_containers, &pod.containers}) {
        for (const Container& one : *containers) {
            if (one.id.empty() && !one.image.empty()) list.push_back({{"name", one.name}, {"image", one.image}});
        }
    }
    if (!list.empty()) json["not_started"] = std::move(list);
}

Json finished_json(const Tick& tick) {
    Json list = Json::array();
    for (const auto& observed : tick.observation.pods) {
        if (!observed.pod || observed.departed) continue;
        const Pod& pod = *observed.pod;
        if (!has_ended(pod)) continue;
        Json json{{"namespace", pod.name_space}, {"name", pod.name}, {"uid", pod.uid.value}};
        json["phase"] = name(pod.phase);
        if (!pod.status_reason.empty()) json["reason"] = pod.status_reason;
        json["deleted"] = pod.deletion_time.has_value();
        json["populated"] = observed.populated;
        list.push_back(std::move(json));
    }
    return list;
}

Json past_json(const std::vector<PastEviction>& evictions) {
    Json list = Json::array();
    for (const auto& past : evictions) {
        Json json{{"time", rfc3339(past.ended)}};
        json.update(victim_json(past.victim));
        if (past.dry_run) json["dry_run"] = true;
        list.push_back(std::move(json));
    }
    return list;
}

}  // namespace evictd::codec
