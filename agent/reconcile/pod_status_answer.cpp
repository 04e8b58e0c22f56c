// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/pod_status_answer.hpp"

#include <algorithm>
#include <array>

namespace evictd::reconcile {
namespace {

using namespace std::chrono_literals;

// As client-go: what a server may ask for with Retry-After. Longer, an eviction would be shown too late.
constexpr Duration longest_retry_after = 30s;
constexpr long bad_request = 400;
constexpr long unauthorized = 401;
constexpr long forbidden = 403;
constexpr long not_found = 404;
constexpr long request_timed_out = 408;
constexpr long conflict = 409;
constexpr long unprocessable = 422;
constexpr long too_many_requests = 429;

bool is_about_pod(const DesiredPodStatus& pod, const codec::ApiRefusal& refusal) {
    return refusal.kind == "pods" && refusal.name == pod.name;
}

PodStatusResult result_of(const DesiredPodStatus& pod, long status, const codec::ApiRefusal& refusal) {
    const bool is_another_pod = (status == conflict || status == unprocessable) && refusal.is_about_uid;
    if (is_another_pod || (status == not_found && is_about_pod(pod, refusal))) {
        return PodStatusResult::gone;
    }
    if (status == too_many_requests && refusal.is_by_budget && pod.end == PodEnd::evicted) {
        return PodStatusResult::refused;
    }
    // A token is rotated, a conflict is another client's write, and a 404 of a proxy is not the API server's.
    constexpr std::array<long, 5> passing{unauthorized, not_found, request_timed_out, conflict, too_many_requests};
    const bool passes = std::find(passing.begin(), passing.end(), status) != passing.end();
    return status >= 400 && status < 500 && !passes ? PodStatusResult::rejected : PodStatusResult::unreachable;
}

}  // namespace

Answer read_answer(const DesiredPodStatus& pod, const Result<port::ApiReply>& reply) {
    if (!reply) {
        return {.result = PodStatusResult::unreachable, .error = reply.error().text()};
    }
    if (reply->accepted()) {
        return {.result = PodStatusResult::accepted};
    }
    const auto refusal = codec::read_refusal(reply->body);
    const auto status = reply->status;
    return {.result = result_of(pod, status, refusal),
            .error = "the API server answered " + std::to_string(status) + ": " + refusal.message,
            .retry_after = std::min<Duration>(longest_retry_after, reply->retry_after.value_or(0s)),
            .was_heard = true,
            .is_of_version = (status == bad_request && refusal.is_of_version) ||
                             (status == not_found && !is_about_pod(pod, refusal)),
            .lacks_rights = status == unauthorized || status == forbidden};
}

// Failed without a reason is what the kubelet makes of a pod whose processes were killed (restartPolicy Never).
Left what_is_left(const DesiredPodStatus& noted, const codec::PodInApi& pod, const std::string& node) {
    if (pod.uid != noted.pod.value) {
        return Left::another_pod;
    }
    if (pod.node != node) {
        return Left::elsewhere;
    }
    if (noted.given_up) {
        return pod.disruption_target ? Left::undelivered : Left::delivered;
    }
    const bool has_ended = pod.phase == "Succeeded" || pod.phase == "Failed";
    const bool lacks_reason = pod.phase == "Failed" && pod.reason.empty() && !pod.disruption_target;
    return pod.is_deleting || (has_ended && !lacks_reason) ? Left::delivered : Left::undelivered;
}

}  // namespace evictd::reconcile
