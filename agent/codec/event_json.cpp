// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Event <-> JSON. Keys stand in the order in which a person reads them.
#include "event_json.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "evictd/model/quantity.hpp"
#include "evictd/model/text.hpp"
#include "history_json.hpp"
#include "json_value.hpp"

namespace evictd::codec {
namespace {

using Json = nlohmann::ordered_json;

constexpr int event_version = 1;

Json threshold_json(const Event& event, const EventThreshold& threshold) {
    const Signal signal = event.signal.value_or(Signal::memory_available);
    Json json{{"kind", threshold.hard ? "hard" : "soft"},
              {"value", quantity_text(signal, threshold.value)},
              {"available", quantity_text(signal, threshold.available)},
              {"capacity", quantity_text(signal, threshold.capacity)},
              {"grace_period", to_string(threshold.grace_period)}};
    if (threshold.time_left != Duration::zero()) json["time_left"] = to_string(threshold.time_left);
    return json;
}

Json pod_json(const EventPod& pod) {
    Json json{{"namespace", pod.name_space}, {"name", pod.name}, {"uid", pod.uid}};
    if (pod.qos) json["qos"] = name(*pod.qos);
    if (pod.priority) json["priority"] = *pod.priority;
    return json;
}

Json oom_json(const EventOom& oom) {
    Json json{{"process", oom.process}, {"pid", oom.pid}, {"oom_score_adj", oom.oom_score_adj}};
    if (!oom.container.empty()) json["container"] = oom.container;
    if (!oom.cgroup.empty()) json["cgroup"] = oom.cgroup;
    if (!oom.role.empty()) json["role"] = oom.role;
    if (oom.group) json["group"] = true;
    json["scope"] = oom.memcg ? "memcg" : "node";
    if (oom.usage) json["usage_bytes"] = oom.usage->value;
    if (oom.limit) json["limit_bytes"] = oom.limit->value;
    return json;
}

Json owed_json(const EventOwed& owed) {
    Json json = Json::object();
    if (owed.bytes) json["bytes"] = owed.bytes->value;
    if (!owed.kind.empty()) json["kind"] = owed.kind;
    return json;
}

Json latency_json(const EventLatency& latency) {
    Json json = Json::object();
    if (latency.detect) json["detect"] = microseconds(*latency.detect);
    if (latency.decide) json["decide"] = microseconds(*latency.decide);
    if (latency.act) json["act"] = microseconds(*latency.act);
    if (latency.total) json["total"] = microseconds(*latency.total);
    if (latency.empty) json["empty"] = microseconds(*latency.empty);
    if (latency.api) json["api"] = microseconds(*latency.api);
    return json;
}

Amount amount_from(const Json& json, const char* key) {
    const auto quantity = parse_quantity(text_at(json, key));
    return Amount{quantity ? quantity->value() : 0};
}

EventThreshold threshold_from(const Json& json) {
    EventThreshold threshold;
    threshold.hard = text_at(json, "kind") != "soft";
    threshold.value = amount_from(json, "value");
    threshold.available = amount_from(json, "available");
    threshold.capacity = amount_from(json, "capacity");
    threshold.grace_period = parse_duration(text_at(json, "grace_period")).value_or(Duration::zero());
    threshold.time_left = parse_duration(text_at(json, "time_left")).value_or(Duration::zero());
    return threshold;
}

EventPod pod_from(const Json& json) {
    EventPod pod{text_at(json, "namespace"), text_at(json, "name"), text_at(json, "uid"), std::nullopt, std::nullopt};
    pod.qos = from_name<QosClass>(text_at(json, "qos"));
    if (const auto priority = number_at(json, "priority")) pod.priority = static_cast<std::int32_t>(*priority);
    return pod;
}

EventOom oom_from(const Json& json) {
    EventOom oom;
    oom.process = text_at(json, "process");
    oom.pid = static_cast<std::int32_t>(number_at(json, "pid").value_or(0));
    oom.oom_score_adj = static_cast<std::int32_t>(number_at(json, "oom_score_adj").value_or(0));
    oom.container = text_at(json, "container");
    oom.cgroup = text_at(json, "cgroup");
    oom.role = text_at(json, "role");
    oom.group = flag_at(json, "group");
    oom.memcg = text_at(json, "scope") == "memcg";
    if (const auto usage = number_at(json, "usage_bytes")) oom.usage = Bytes{*usage};
    if (const auto limit = number_at(json, "limit_bytes")) oom.limit = Bytes{*limit};
    return oom;
}

EventOwed owed_from(const Json& json) {
    const auto bytes = number_at(json, "bytes");
    return {bytes ? std::optional(Bytes{*bytes}) : std::nullopt, text_at(json, "kind")};
}

void read_objects(const Json& json, Event& event) {
    if (const Json* threshold = object_at(json, "threshold")) event.threshold = threshold_from(*threshold);
    if (const Json* pod = object_at(json, "pod")) event.pod = pod_from(*pod);
    if (const Json* oom = object_at(json, "oom")) event.oom = oom_from(*oom);
    if (const Json* owed = object_at(json, "not_returned")) event.not_returned = owed_from(*owed);
    if (const Json* condition = object_at(json, "condition")) {
        event.condition = EventCondition{text_at(*condition, "type"), text_at(*condition, "status") == "True"};
    }
    if (const Json* latency = object_at(json, "latency_us")) {
        event.latency = {microseconds_at(*latency, "detect"), microseconds_at(*latency, "decide"),
                         microseconds_at(*latency, "act"),    microseconds_at(*latency, "total"),
                         microseconds_at(*latency, "empty"),  microseconds_at(*latency, "api")};
    }
}

}  // namespace

std::string to_json_line(const Event& event, std::string_view node) {
    Json json{{"v", event_version},
              {"time", rfc3339(event.time)},
              {"node", node},
              {"severity", name(event.severity)},
              {"reason", event.reason.text()},
              {"message", event.message}};
    if (event.signal) json["signal"] = name(*event.signal);
    if (event.threshold) json["threshold"] = threshold_json(event, *event.threshold);
    if (event.condition) {
        json["condition"] = {{"type", event.condition->type}, {"status", event.condition->status ? "True" : "False"}};
    }
    if (event.pod) json["pod"] = pod_json(*event.pod);
    if (!event.container.empty()) json["container"] = event.container;
    if (!event.cause.empty()) json["cause"] = event.cause;
    if (event.oom) json["oom"] = oom_json(*event.oom);
    if (event.not_returned) json["not_returned"] = owed_json(*event.not_returned);
    if (event.reclaimed) json["reclaimed_bytes"] = event.reclaimed->value;
    if (event.limit) json["limit_bytes"] = event.limit->value;
    if (event.duration) json["duration_ms"] = std::chrono::round<std::chrono::milliseconds>(*event.duration).count();
    if (event.dry_run) json["dry_run"] = true;
    if (event.count > 1) json["count"] = event.count;
    if (event.latency.any()) json["latency_us"] = latency_json(event.latency);
    if (!event.error.empty()) json["error"] = event.error;
    if (!event.id.empty()) json["id"] = event.id;
    if (event.history) json["history"] = history_json(*event.history);
    return dump_line(json);
}

Result<Event> event_from_json(std::string_view line) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) return fail(ErrorKind::invalid, "event", "not a JSON object");
    if (number_at(json, "v").value_or(0) != event_version) {
        return fail(ErrorKind::invalid, "event", "its version is not one this program knows",
                    "use the evictd that wrote it");
    }
    const auto time = parse_rfc3339(text_at(json, "time"));
    if (!time) return fail(ErrorKind::invalid, "event", "its time is not RFC 3339");
    Event event;
    event.time = *time;
    event.node = text_at(json, "node");
    event.severity = from_name<Severity>(text_at(json, "severity")).value_or(Severity::normal);
    event.reason = EventReason::read(text_at(json, "reason"));
    event.message = text_at(json, "message");
    event.signal = signal_from(text_at(json, "signal"));
    event.container = text_at(json, "container");
    event.cause = text_at(json, "cause");
    if (const auto reclaimed = number_at(json, "reclaimed_bytes")) event.reclaimed = Bytes{*reclaimed};
    if (const auto limit = number_at(json, "limit_bytes")) event.limit = Bytes{*limit};
    if (const auto took = number_at(json, "duration_ms")) event.duration = std::chrono::milliseconds(*took);
    event.dry_run = flag_at(json, "dry_run");
    event.count = static_cast<std::uint64_t>(std::max<std::int64_t>(1, number_at(json, "count").value_or(1)));
    event.error = text_at(json, "error");
    event.id = text_at(json, "id");
    if (const Json* history = object_at(json, "history")) event.history = history_from(*history, event.id);
    read_objects(json, event);
    return event;
}

}  // namespace evictd::codec
