// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kube_event.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "event_id.hpp"
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
    // Of a pod that no source knows, the API server may not even have the namespace, and then refuses the event.
    if (event.pod && !event.pod_is_unlisted) made.object = pod_object(*event.pod, container);
    if (made.message.size() > longest_message) made.message = made.message.substr(0, longest_message - 3) + "...";
    return made;
}

// Of one eviction the name is always the same, also from the agent after this one: the API server takes it once.
std::string eviction_event_name(const std::string& pod, const PodUid& uid, MonotonicTime detected_at) {
    return kube_event_name(pod, eviction_id(uid, detected_at));
}

// The evictions that begin to be carried out at a look.
class EvictionEvents {
public:
    explicit EvictionEvents(const Tick& tick) : tick_(tick) {}

    std::vector<KubeEvent> all() {
        const auto& decision = tick_.decision;
        const auto& cause = tick_.observation.cause;
        for (const auto& eviction : decision.limit_evictions) add(eviction, cause);
        if (decision.evict && !is_asking(decision.evict->pod)) add(*decision.evict, cause);
        for (const auto& victim : decision.in_flight) {
            if (was_granted(victim.pod) || is_signalled(victim.pod)) add(victim.eviction, victim.cause);
        }
        for (const auto& intent : tick_.observation.recalled) add_recalled(intent);
        return std::move(made_);
    }

private:
    // The Eviction API is asked first, and may refuse it until the pressure is over.
    [[nodiscard]] bool is_asking(const PodUid& pod) const { return has_stage(pod, EndStage::asking); }
    [[nodiscard]] bool has_stage(const PodUid& pod, EndStage stage) const {
        const auto& ended = tick_.decision.ended;
        return std::any_of(ended.begin(), ended.end(),
                           [&](const EndedPod& one) { return one.desired.pod == pod && one.stage == stage; });
    }
    [[nodiscard]] bool was_granted(const PodUid& pod) const {
        const auto& steps = tick_.decision.end_steps;
        return std::any_of(steps.begin(), steps.end(), [&](const EndStep& step) {
            return step.desired.pod == pod && step.kind == EndStepKind::accepted && step.desired.end == PodEnd::evicted;
        });
    }
    // Also a second time, of the same name: the API server has it then.
    [[nodiscard]] bool is_signalled(const PodUid& pod) const {
        return std::any_of(tick_.outcomes.begin(), tick_.outcomes.end(),
                           [&](const Outcome& outcome) { return outcome.action.pod == pod; });
    }
    // evictd itself runs in it, and it was not touched.
    [[nodiscard]] bool runs_evictd(const PodUid& pod) const {
        return std::any_of(tick_.outcomes.begin(), tick_.outcomes.end(), [&](const Outcome& outcome) {
            return outcome.action.pod == pod && outcome.status == OutcomeStatus::refused;
        });
    }

    // recordEvictedPod: the message with its trailing blank, and the annotations that name the containers.
    void add(const Eviction& eviction, const Cause& cause) {
        const auto& pods = tick_.observation.pods;
        const auto found = std::find_if(
            pods.begin(), pods.end(), [&](const ObservedPod& one) { return one.pod && one.pod->uid == eviction.pod; });
        if (found == pods.end() || runs_evictd(eviction.pod)) return;
        const auto time = wall_time(tick_.observation, tick_.decided_at);
        const auto name = eviction_event_name(found->pod->name, eviction.pod, cause.detected_at);
        if (std::any_of(made_.begin(), made_.end(), [&](const KubeEvent& one) { return one.name == name; })) return;
        made_.push_back({.name = name,
                         .object = pod_object(event_pod(*found->pod), {}),
                         .severity = Severity::warning,
                         .reason = "Evicted",
                         .message = eviction.message,
                         .annotations = eviction.annotations,
                         .first = time,
                         .last = time});
    }

    // The agent before this one may have been killed before it had sent its event, or written it down.
    void add_recalled(const DesiredPodStatus& intent) {
        if (intent.reason != "Evicted" || !has_stage(intent.pod, EndStage::killed)) return;
        const auto time = wall_time(tick_.observation, intent.decided_at);
        const EventPod pod{intent.name_space, intent.name, intent.pod.value, std::nullopt, std::nullopt};
        made_.push_back({.name = eviction_event_name(intent.name, intent.pod, intent.detected_at),
                         .object = pod_object(pod, {}),
                         .severity = Severity::warning,
                         .reason = "Evicted",
                         .message = intent.message,
                         .annotations = {},
                         .first = time,
                         .last = time});
    }

    const Tick& tick_;
    std::vector<KubeEvent> made_;
};

}  // namespace

std::string kube_event_name(std::string_view object, std::string_view hex) {
    constexpr std::size_t longest_object = 253 - 17;
    if (object.size() > longest_object)
        object = object.substr(0, object.find_last_not_of(".-", longest_object - 1) + 1);
    return std::string(object) + "." + std::string(hex);
}

std::vector<KubeEvent> kube_events_of(const Record& record, const std::vector<Event>& events, const std::string& node) {
    std::vector<KubeEvent> made;
    if (const auto* tick = std::get_if<Tick>(&record)) made = EvictionEvents(*tick).all();
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
