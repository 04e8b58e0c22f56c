// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Why, in one plain sentence for people. Nothing is decided here, and no tool should read these sentences.
#pragma once

#include <string>

#include "evictd/model/config.hpp"
#include "evictd/model/decision.hpp"
#include "evictd/model/observation.hpp"

namespace evictd::policy {

// What a look came to.
enum class Course : std::uint8_t {
    nothing,       // no threshold is met
    pending,       // met, within the grace period
    stale,         // met, and read at the same time as at the last look
    waiting,       // a victim is on its way, the next has to wait
    pretending,    // as waiting, in a dry run: nothing was touched
    retrying,      // a victim could not be killed, and is tried again
    owed,          // memory of a pod without processes is not back
    grace_ended,   // a victim's grace period is over
    escalated,     // a victim's grace period was cut short
    limits,        // pods are beyond limits of their own
    reclaiming,    // the node gives back what it can first
    reclaimed,     // and that was enough
    no_candidate,  // every pod is exempt
    evicting,
    stalled,        // tasks stall: the grace period runs, or the stall may still be from before the last eviction
    unconfirmed,    // a threshold on memory is met, and no task stalls for memory
    unknown_pod,    // a pod that no source knows holds more than the one that would be evicted
    usage_unknown,  // the pods' usage could not be read
    pods_unlisted,  // nor all of their cgroups opened
    disk_unknown,   // it is not known yet what each pod keeps on disk
    reaping,        // tasks of the last victim have ended, and still count
    freeing,        // the volumes of the last victim are still being removed
    ending_again,   // a pod that came back was killed again, and it is not known yet to have ended
    shutting_down,  // the kubelet ends all pods itself
    deleted,        // the pod that would go is ended by its own deletion
};

// `reclaim` is what the node was asked to give back, at this look or the last.
[[nodiscard]] std::string why(Course course, const Decision& decision, const std::vector<NodeReclaim>& reclaim,
                              const EvictionConfig& config, const Observation& observation);

// Why a pod stands where it stands in the victim order of `signal`, in its unit.
[[nodiscard]] std::string place(Signal signal, const RankedPod& ranked, const Observation& observation);

}  // namespace evictd::policy
