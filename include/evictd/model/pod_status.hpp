// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the API server is to show of a pod that has to go, as part of a Decision, and what came of it. Only pods from
// the API server have one: static and mirror pods are the kubelet's.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "evictd/model/ids.hpp"
#include "evictd/model/names.hpp"
#include "evictd/model/units.hpp"

namespace evictd {

// How a pod ends in the API.
enum class PodEnd : std::uint8_t {
    failed,   // PATCH pods/status: phase Failed; the object stays
    evicted,  // POST pods/eviction: the server may refuse (429, a PodDisruptionBudget), the kubelet ends the pod
    deleted,  // DELETE: the kubelet ends the pod
};
template <>
struct Names<PodEnd> {
    static constexpr Words<3> words{"failed", "evicted", "deleted"};
};

struct DesiredPodStatus {
    PodUid pod;
    std::string name_space;
    std::string name;
    PodEnd end = PodEnd::failed;
    std::string reason;              // status.reason of a failed pod: Evicted, DeadlineExceeded
    std::string message;             // status.message, and that of the condition
    bool disruption_target = false;  // the condition DisruptionTarget (TerminationByKubelet)
    std::int64_t generation = 0;     // metadata.generation, for the condition's observedGeneration; 0: not known
    bool given_up = false;           // the pod could not be stopped: DisruptionTarget is False, the phase is left alone
    std::optional<std::chrono::seconds> grace_period{};  // of evicted and deleted; none: the pod's own
    // Counts the requests that the policy wants for this pod. A higher one is a new request, with a new value of the
    // annotation that makes the kubelet tear the pod down; the same one is never sent again once it was answered.
    std::int32_t attempt = 1;
    MonotonicTime decided_at;   // of this attempt
    MonotonicTime detected_at;  // of the cause of the look that began it: with the UID, what this eviction is known by
    bool can_wait = false;      // no eviction: its request shares the client's rate limit, and no restart resumes it
    friend bool operator==(const DesiredPodStatus&, const DesiredPodStatus&) = default;
};

// One that an earlier agent wanted is resumed for so long after its decided_at: by then the node was relieved in other
// ways.
inline constexpr Duration longest_intent = std::chrono::minutes(10);

enum class PodStatusResult : std::uint8_t {
    accepted,     // 2xx
    gone,         // 404, or 409/422 for the uid: that pod is no more; one of the same name is another pod
    refused,      // 429 of the Eviction API: a PodDisruptionBudget allows no disruption now
    rejected,     // any other 4xx: trying again will not help, `error` says why
    unreachable,  // no answer, 429 or 5xx: it is sent again until it is answered; reported once for each attempt
    pretended,    // dry run: nothing was sent
};
template <>
struct Names<PodStatusResult> {
    static constexpr Words<6> words{"accepted", "gone", "refused", "rejected", "unreachable", "pretended"};
};

// What came of one attempt.
struct PodStatusOutcome {
    PodUid pod;
    std::int32_t attempt = 1;
    PodEnd end = PodEnd::failed;
    PodStatusResult result = PodStatusResult::accepted;
    MonotonicTime sent_at;
    MonotonicTime answered_at;
    Duration retry_after{0};  // that the server asked for
    std::string error;        // in one line, where it is not accepted
};

}  // namespace evictd
