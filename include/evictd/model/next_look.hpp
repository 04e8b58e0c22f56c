// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// When the agent is to look again and why: a part of every Decision, and the facts about the agent's sources that it
// depends on, which are a part of every Observation.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "evictd/model/names.hpp"
#include "evictd/model/signal.hpp"
#include "evictd/model/units.hpp"

namespace evictd {

// Looks where the kernel does not report every crossing of a threshold.
struct TimedLooks {
    Duration shortest{0};
    Duration longest{0};
    Bytes growth_per_second;  // how fast memory is assumed to shrink between two looks
};

// Of the lines that the kernel last reported as crossed, the lowest of each signal. No list: it is made on the kill
// path.
using LowestCrossed = std::array<std::optional<Bytes>, signal_count>;

struct Watching {
    LowestCrossed crossed{};
    std::optional<TimedLooks> timed;  // none: every crossing is reported
    bool stalls = false;              // the kernel reports stalls, of those kinds that it can watch
    bool exits = false;               // the kernel reports a cgroup that empties
    bool counts_whole = false;        // each look makes the kernel add up the counters of a pod of very many cgroups
    std::optional<MonotonicTime> list_again_at;   // not all pods' cgroups could be opened
    std::optional<MonotonicTime> claim_again_at;  // another agent works on the pods
};

enum class NextLookReason : std::uint8_t {
    period,                // nothing calls for an earlier look
    threshold_grace,       // a soft threshold's grace period ends
    stall_grace,           // the same of a threshold on stalls, or its window begins after the last victim's end
    transition_period,     // a condition may end
    termination_grace,     // a victim's grace period ends
    retry,                 // a kill that failed is retried
    victim_timeout,        // a victim that does not exit no longer holds up the next eviction
    unreaped_tasks,        // a victim's ended tasks still count against pid.available
    owed_memory,           // a victim's memory is expected back
    trend,                 // timeToExhaustion is measured from look to look, and so is how fast a disk fills
    ladder,                // a pod is on a rung
    awaited,               // evictions wait for a manifest, a listing or usage that could not be read
    pressure,              // a threshold is met, or its grace period runs, and no event is due
    disputed_crossing,     // the kernel reported a crossing that the look does not find
    unread_signal,         // a crossing was reported, and its signal could not be read
    unreported_crossings,  // the kernel does not report every crossing
    unreported_stalls,     // a threshold on stalls that the kernel does not watch
    exits_requested,       // a victim may have exited before the kernel was asked to report exits
    listing,               // a pod's cgroup could not be opened
    claim,                 // another agent works on the pods
    pod_status,            // an evicted pod is watched, or the API server is asked again
    arrival,               // a pod that is to be rejected has no process yet
    removal,               // a taint's toleration or an active deadline ends, or the API server is asked again
    reclaim,               // a reclaim is over, or its deadline ends
};
template <>
struct Names<NextLookReason> {
    static constexpr Words<24> words{"period",
                                     "threshold_grace",
                                     "stall_grace",
                                     "transition_period",
                                     "termination_grace",
                                     "retry",
                                     "victim_timeout",
                                     "unreaped_tasks",
                                     "owed_memory",
                                     "trend",
                                     "ladder",
                                     "awaited",
                                     "pressure",
                                     "disputed_crossing",
                                     "unread_signal",
                                     "unreported_crossings",
                                     "unreported_stalls",
                                     "exits_requested",
                                     "listing",
                                     "claim",
                                     "pod_status",
                                     "arrival",
                                     "removal",
                                     "reclaim"};
};

struct NextLook {
    MonotonicTime at;
    NextLookReason why = NextLookReason::period;
    // An agent whose looks are timed may put this one off to save CPU time, but not beyond `latest`.
    MonotonicTime latest;
};

}  // namespace evictd
