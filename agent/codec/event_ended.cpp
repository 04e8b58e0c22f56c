// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "event_ended.hpp"

#include <string>

#include "event_id.hpp"
#include "evictd/model/text.hpp"

namespace evictd::codec {
namespace {

std::string accepted_sentence(const EndStep& step, const std::string& pod) {
    const auto& desired = step.desired;
    const std::string after = " " + span_text(step.at - desired.decided_at) + " after the decision";
    if (desired.given_up) return "The API server shows that " + pod + " could not be stopped";
    if (desired.end == PodEnd::failed)
        return "The API server shows " + pod + " as Failed (" + desired.reason + ")" + after;
    return "The API server accepted the eviction of " + pod + after + "; the kubelet terminates it";
}

std::string undelivered_sentence(const EndStep& step, const std::string& pod) {
    if (step.desired.end != PodEnd::failed) {
        return "The Eviction API did not evict " + pod + "; evictd terminates it itself if the threshold is still met";
    }
    const std::string begin = "Pod " + pod + (step.desired.given_up ? " could not be stopped" : " was killed") +
                              ", but the API server does not show it";
    if (step.kind == EndStepKind::rejected) return begin + ": it rejected the request";
    return begin + " yet; the request is repeated";
}

std::string restarted_sentence(const EndStep& step, const std::string& pod) {
    const std::string again = "; killed again, attempt " + std::to_string(step.desired.attempt);
    if (step.kind == EndStepKind::went_back) {
        return "The API server shows " + pod + " as running again after its eviction" + again;
    }
    if (step.kind == EndStepKind::restarted) return "Pod " + pod + " was started again after its eviction" + again;
    return "Pod " + pod + " was started again " + std::to_string(step.restarts + 1) +
           " times after its eviction: it is killed again, with back-off, while the node is under pressure";
}

std::string sentence(const EndStep& step, const std::string& pod) {
    switch (step.kind) {
        case EndStepKind::accepted:
            return accepted_sentence(step, pod);
        case EndStepKind::unreachable:
        case EndStepKind::rejected:
            return undelivered_sentence(step, pod);
        case EndStepKind::refused:
            return "A PodDisruptionBudget refuses the eviction of " + pod + "; it is asked for again";
        case EndStepKind::resumed:
            return "The eviction of " + pod + ", begun by an agent before this one, is resumed";
        case EndStepKind::restarted:
        case EndStepKind::went_back:
        case EndStepKind::held_down:
            return restarted_sentence(step, pod);
        case EndStepKind::given_up:
            return "Pod " + pod + " was started again after each of " + std::to_string(step.restarts) +
                   " kills: it runs on";
        case EndStepKind::stayed_ended:
            if (!step.error.empty()) return "Pod " + pod + " was evicted and does not run, but " + step.error;
            return "Pod " + pod + " was evicted and did not run again";
        case EndStepKind::withdrawn:
            return "The pressure was over before the API server granted the eviction of " + pod + ": it is not evicted";
    }
    return {};
}

}  // namespace

EndStepEvent event_of(const EndStep& step) {
    switch (step.kind) {
        case EndStepKind::accepted:
            return {Severity::normal, Reason::eviction_reported};
        case EndStepKind::unreachable:
        case EndStepKind::rejected:
            return {Severity::warning, Reason::eviction_not_delivered};
        case EndStepKind::refused:
            return {Severity::warning, Reason::eviction_delayed};
        case EndStepKind::resumed:
            return {Severity::warning, Reason::eviction_resumed};
        case EndStepKind::restarted:
        case EndStepKind::went_back:
        case EndStepKind::held_down:
            return {Severity::warning, Reason::evicted_pod_restarted};
        case EndStepKind::given_up:
            return {Severity::warning, Reason::eviction_failed};
        case EndStepKind::withdrawn:
            return {Severity::normal, Reason::eviction_withdrawn};
        case EndStepKind::stayed_ended:
            break;
    }
    return {step.error.empty() ? Severity::normal : Severity::warning, Reason::eviction_settled};
}

void tell_end_step(const EndStep& step, Event& event) {
    const auto& desired = step.desired;
    event.message = sentence(step, desired.name_space + "/" + desired.name);
    event.error = step.error;
    event.pod = EventPod{desired.name_space, desired.name, desired.pod.value, std::nullopt, std::nullopt};
    if (step.kind == EndStepKind::accepted) event.latency.api = step.at - desired.decided_at;
    event.id = eviction_id(desired.pod, desired.detected_at);
}

}  // namespace evictd::codec
