// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kube_event.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "evictd/model/text.hpp"
#include "json_value.hpp"
#include "node_object.hpp"

namespace evictd::codec {
namespace {

using Json = nlohmann::ordered_json;

// As long as the note of an events.k8s.io Event may be; nothing that is said of a pod needs more.
constexpr std::size_t longest_message = 1024;

KubeObject node_object(const std::string& node) {
    return {.kind = "Node", .name_space = {}, .name = node, .uid = node, .field_path = {}};
}

KubeObject pod_object(const EventPod& pod, const std::string& container) {
    return {.name_space = pod.name_space,
            .name = pod.name,
            .uid = pod.uid,
            .field_path = container.empty() ? "" : "spec.containers{" + container + "}"};
}

// recordNodeStatusEvent: `Node %s status is now: %s`.
struct ConditionReason {
    Reason ours;
    const char* kubelets;
};
constexpr std::array<ConditionReason, 6> condition_reasons{{
    {Reason::node_has_memory_pressure, "NodeHasInsufficientMemory"},
    {Reason::node_has_no_memory_pressure, "NodeHasSufficientMemory"},
    {Reason::node_has_disk_pressure, "NodeHasDiskPressure"},
    {Reason::node_has_no_disk_pressure, "NodeHasNoDiskPressure"},
    {Reason::node_has_pid_pressure, "NodeHasInsufficientPID"},
    {Reason::node_has_no_pid_pressure, "NodeHasSufficientPID"},
}};

constexpr std::array<Reason, 6> told_as_they_are{Reason::oom_killing,  Reason::pod_at_memory_limit,
                                                 Reason::memory_stall, Reason::io_stall,
                                                 Reason::cpu_stall,    Reason::eviction_failed};

std::optional<KubeEvent> kube_event(const Event& event, const std::string& node) {
    KubeEvent made{.name = {},
                   .object = node_object(node),
                   .severity = event.severity,
                   .reason = event.reason.text(),
                   .message = event.message,
                   .annotations = {},
                   .first = event.time,
                   .last = event.time};
    for (const auto& row : condition_reasons) {
        if (!(event.reason == row.ours)) continue;
        made.severity = Severity::normal;
        made.reason = row.kubelets;
        made.message = "Node " + node + " status is now: " + row.kubelets;
        return made;
    }
    const bool is_told = std::any_of(told_as_they_are.begin(), told_as_they_are.end(),
                                     [&](Reason reason) { return event.reason == reason; });
    if (!is_told || event.severity != Severity::warning) return std::nullopt;
    const auto& container = event.oom ? event.oom->container : event.container;
    if (event.pod) made.object = pod_object(*event.pod, container);
    if (made.message.size() > longest_message) made.message = made.message.substr(0, longest_message - 3) + "...";
    return made;
}

// recordEvictedPod: the message with its trailing blank, and the annotations that name the containers.
void add_eviction(const Eviction& eviction, const Tick& tick, std::vector<KubeEvent>& made) {
    const auto& pods = tick.observation.pods;
    const auto found = std::find_if(pods.begin(), pods.end(),
                                    [&](const ObservedPod& one) { return one.pod && one.pod->uid == eviction.pod; });
    const bool is_refused = std::any_of(tick.outcomes.begin(), tick.outcomes.end(), [&](const Outcome& outcome) {
        return outcome.action.pod == eviction.pod && outcome.status == OutcomeStatus::refused;
    });
    if (found == pods.end() || is_refused) return;  // refused: evictd itself runs in it, and it was not touched
    const auto time = wall_time(tick.observation, tick.decided_at);
    made.push_back({.name = {},
                    .object = pod_object(event_pod(*found->pod), {}),
                    .severity = Severity::warning,
                    .reason = "Evicted",
                    .message = eviction.message,
                    .annotations = eviction.annotations,
                    .first = time,
                    .last = time});
}

}  // namespace

std::vector<KubeEvent> kube_events_of(const Record& record, const std::vector<Event>& events, const std::string& node) {
    std::vector<KubeEvent> made;
    if (const auto* tick = std::get_if<Tick>(&record)) {
        for (const auto& eviction : tick->decision.limit_evictions) add_eviction(eviction, *tick, made);
        if (tick->decision.evict) add_eviction(*tick->decision.evict, *tick, made);
    }
    for (const auto& event : events) {
        if (auto one = kube_event(event, node)) made.push_back(std::move(*one));
    }
    return made;
}

KubeEvent reclaim_event(const MetThreshold& met, WallTime time, const std::string& node) {
    return {.name = {},
            .object = node_object(node),
            .severity = Severity::warning,
            .reason = "EvictionThresholdMet",
            .message = "Attempting to reclaim " + std::string(traits(met.threshold.signal).resource),
            .annotations = {},
            .first = time,
            .last = time};
}

std::string kube_event_json(const KubeEvent& event, const std::string& node) {
    Json metadata{{"name", event.name}, {"namespace", event.name_space()}};
    for (const auto& [key, value] : event.annotations) metadata["annotations"][key] = value;
    Json object{{"kind", event.object.kind}};
    if (!event.object.name_space.empty()) object["namespace"] = event.object.name_space;
    object["name"] = event.object.name;
    object["uid"] = event.object.uid;
    if (event.object.kind == "Pod") object["apiVersion"] = "v1";
    if (!event.object.field_path.empty()) object["fieldPath"] = event.object.field_path;
    return dump_line({{"apiVersion", "v1"},
                      {"kind", "Event"},
                      {"metadata", std::move(metadata)},
                      {"involvedObject", std::move(object)},
                      {"reason", event.reason},
                      {"message", event.message},
                      {"source", {{"component", "evictd"}, {"host", node}}},
                      {"firstTimestamp", kube_time(event.first)},
                      {"lastTimestamp", kube_time(event.last)},
                      {"count", event.count},
                      {"type", name(event.severity)},
                      {"eventTime", nullptr},
                      {"reportingComponent", "evictd"},
                      {"reportingInstance", node}});
}

std::string kube_event_patch(std::string_view event_json) {
    const Json event = parsed_shallow(event_json);
    Json patch = Json::object();
    for (const char* key : {"count", "lastTimestamp", "message"}) {
        if (event.is_object() && event.contains(key)) patch[key] = event[key];
    }
    return dump_line(patch);
}

std::optional<KubeEventPlace> place_of_event(std::string_view event_json) {
    const Json event = parsed_shallow(event_json);
    const Json* metadata = event.is_object() ? object_at(event, "metadata") : nullptr;
    if (metadata == nullptr) return std::nullopt;
    KubeEventPlace place{text_at(*metadata, "namespace"), text_at(*metadata, "name"), text_at(event, "reason")};
    if (place.name_space.empty() || place.name.empty()) return std::nullopt;
    return place;
}

}  // namespace evictd::codec
