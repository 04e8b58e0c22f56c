// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A pod that evictd ends in the API as well as on the node, from the decision until it has stayed ended for a while.
// Not how it is killed: that is InFlight's.
#pragma once

#include <cstdint>
#include <string>

#include "evictd/model/ids.hpp"
#include "evictd/model/names.hpp"
#include "evictd/model/pod_status.hpp"
#include "evictd/model/units.hpp"

namespace evictd {

enum class EndStage : std::uint8_t {
    asking,       // the Eviction API is asked; nothing is signalled yet
    granted,      // it accepted: the kubelet ends the pod
    terminating,  // SIGTERM was sent: the API server is told at the end of the grace period
    killed,       // SIGKILL was sent: watched for processes and a phase that come back
    held_down,    // it came back too often: killed with back-off while a condition holds
    given_up,     // it could not be stopped
    over,         // nothing is desired any more; its attempts are counted on while a source lists the pod
};
template <>
struct Names<EndStage> {
    static constexpr Words<7> words{"asking", "granted", "terminating", "killed", "held_down", "given_up", "over"};
};

struct EndedPod {
    DesiredPodStatus desired;  // the newest attempt; attempt 0: none yet
    EndStage stage = EndStage::killed;
    CgroupId cgroup;            // the one it was last killed in; 0: by an agent before this one, or not yet
    MonotonicTime begun_at;     // decided
    MonotonicTime killed_at;    // the look that decided the last SIGKILL
    MonotonicTime answered_at;  // the last answer
    std::int32_t answered = 0;  // the attempt that was answered last; 0: none
    bool accepted = false;      // that answer
    bool undelivered = false;   // the API server did not answer the last request
    bool emptied = false;       // the kernel said so since the last SIGKILL
    bool seen_ended = false;    // since that answer the API server's pods have shown a phase that is final
    // Since when the pods have been up to date with the API server, not before the answer to the newest attempt; 0:
    // they are not, or it is not answered.
    MonotonicTime current_since{};
    bool dry_run = false;
    bool rejection = false;        // it was not admitted
    std::int32_t restarts = 0;     // killed again because processes came back
    std::int32_t corrections = 0;  // because the phase went back
    MonotonicTime act_at;          // of asking: the next request; of held_down: the next kill
    Duration back_off{0};          // between those
};

enum class EndStepKind : std::uint8_t {
    accepted,     // by the API server
    unreachable,  // it did not answer; the request is repeated until it does
    rejected,     // it will not be repeated: `error`
    refused,      // by a PodDisruptionBudget
    resumed,      // begun by an agent before this one
    restarted,    // processes came back: killed again
    went_back,    // the phase did: killed again
    held_down,
    given_up,
    stayed_ended,  // the watch is over; `error` if it is not known to be shown as ended
    withdrawn,     // the pressure was over before the API server granted it: nothing was signalled
};
template <>
struct Names<EndStepKind> {
    static constexpr Words<11> words{"accepted",  "unreachable", "rejected", "refused",      "resumed",  "restarted",
                                     "went_back", "held_down",   "given_up", "stayed_ended", "withdrawn"};
};

// Something happened to such a pod at this look, for people and tools.
struct EndStep {
    EndStepKind kind = EndStepKind::accepted;
    DesiredPodStatus desired;  // the attempt it is about
    MonotonicTime at;
    MonotonicTime sent_at;      // of an answer: the request
    std::int32_t restarts = 0;  // until now
    std::string error;
};

}  // namespace evictd
