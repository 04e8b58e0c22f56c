// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What decide() remembers from one look to the next. A plain value: copied, compared and replayed, changed by decide()
// alone. Nothing here is a cache, and nobody else reads meaning into it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "evictd/model/config.hpp"
#include "evictd/model/decision.hpp"
#include "evictd/model/ended_pod.hpp"
#include "evictd/model/garbage.hpp"
#include "evictd/model/ids.hpp"
#include "evictd/model/ladder.hpp"
#include "evictd/model/removal.hpp"
#include "evictd/model/signal.hpp"
#include "evictd/model/units.hpp"

namespace evictd {

// thresholdsFirstObservedAt: when a threshold that is met now was first met without a break.
struct FirstObserved {
    Threshold threshold;
    MonotonicTime at;
};

// The same of a threshold on stalls.
struct FirstStalled {
    StallThreshold threshold;
    MonotonicTime at;
    PodUid pod;  // whose tasks; empty: the node's
};

// A victim whose last process is not known to be gone.
struct InFlight {
    Victim victim;
    CgroupId cgroup;         // the one it was chosen in: another one under the same uid is not the victim
    bool kill_sent = false;  // the kill was decided; before that it is in its grace period
    bool dry_run = false;    // nothing was touched: it will never be gone because of us
    MonotonicTime acted_at;  // the look that decided its last action
    // Of memory.available and allocatableMemory.available, at the look that decided the kill.
    std::array<std::optional<Amount>, 2> available{};
    std::int32_t failures = 0;  // attempts in a row that could not signal it
    MonotonicTime retry_at{};   // after a failure
};

// A victim whose processes are gone, or a pod without any, whose memory is not all back.
struct Owing {
    Victim victim;  // its `usage` is what it owes
    CgroupId cgroup;
    std::array<std::optional<Amount>, 2> available{};  // as for InFlight: the lowest until the processes were gone
    std::optional<Bytes> left;                         // at the last look; none: not known
    MonotonicTime returned_at;                         // when some of it came back last
    bool overdue = false;                              // nothing more has come: it is reported
};

// A victim whose processes are gone, and whose volumes or containers were still on disk then.
struct Freeing {
    PodUid pod;
    std::string pod_name;
    CgroupId cgroup;
    MonotonicTime emptied_at;
    std::optional<MonotonicTime> removed_at{};  // when nothing of it was left; none: not yet
};

// A victim for PIDs whose processes are gone, some of them not waited for yet.
struct Reaping {
    PodUid pod;
    CgroupId cgroup;
    MonotonicTime emptied_at;
    std::optional<std::int64_t> tasks;  // of it, as they were counted last; none: never
};

// A pod whose eviction came to nothing, left alone for a while as long as there is somebody else.
struct PassedOver {
    PodUid pod;
    CgroupId cgroup;
    MonotonicTime until;
    std::int32_t failures = 0;  // as for InFlight
};

// A reclaim that was asked for: the eviction it may save goes on where it stopped once it is done.
struct Reclaiming {
    std::vector<NodeReclaim> asked;
    std::vector<MetThreshold> acting;  // as they were met, the one that is handled first in front
    DesiredGarbage garbage{};          // its pass is 0 until an inventory is there that it can be chosen from
    bool more = false;                 // more may go than was chosen: by sizes it was enough, or a list was incomplete
    bool announced = false;            // an event said that it, or the round before it, has begun
};

// A pod that the runtime or a log directory names, and no source of pods knows.
struct UnknownOwner {
    std::string pod;  // its uid
    MonotonicTime since;
    bool reported = false;
    std::int32_t failures = 0;  // passes in a row by which its volumes or its cgroup could not go
    MonotonicTime again_at{};   // after a failure: nothing of it is tried before
};

// Garbage collection beside and between reclaims.
struct Collecting {
    std::uint64_t passes = 0;                    // begun so far
    DesiredGarbage routine{};                    // under way; pass 0: none
    std::optional<MonotonicTime> containers_at;  // the last routine pass over containers, and over images
    std::optional<MonotonicTime> images_at;
    std::optional<MonotonicTime> futile_inventory;  // when it was made: a reclaim removed nothing of it
    std::optional<MonotonicTime> orphans_at{};      // the last pass over orphans
    std::vector<UnknownOwner> unknown{};            // ordered by uid; empty after a gap of a source
    std::optional<MonotonicTime> unknown_of{};      // when the inventory was made that named them
    std::vector<Threshold> futile_for{};  // met without a break since a reclaim for it removed nothing, as all since
    GarbageList futile_removals{};        // what such a reclaim tried to remove
    std::uint64_t announced_pass = 0;     // the last pass of a reclaim whose begin was announced
};

// How something changed lately, from interval to interval.
struct Trend {
    static constexpr std::int64_t kib = 1024;
    std::int64_t value = 0;               // when the interval began that is not over yet; bytes, or inodes
    std::array<std::int32_t, 6> rates{};  // KiB, or inodes, a second within the last intervals, the newest last
    std::int32_t intervals = 0;           // how many of them are known
};

struct PodTrend {
    CgroupId cgroup;
    Trend working_set;
};

struct Trends {
    std::optional<MonotonicTime> since;             // when the interval began
    std::array<std::optional<Trend>, 2> available;  // memory.available, allocatableMemory.available
    std::vector<PodTrend> pods;                     // in the order in which they were observed
};

// What is free of a signal on disk, since it last rose.
struct DiskTrend {
    Signal signal = Signal::nodefs_available;
    MonotonicTime since;  // when the filesystem was asked, for the reading that the interval began with
    Amount capacity;      // another one: another filesystem is there, or it was resized
    Trend available;
};

// What a pod keeps on disk, as two looks had it that were at least some seconds apart; the second may be the first.
struct PodDiskReading {
    MonotonicTime at;  // of the look; what was measured is a little older
    DiskUsage used{};  // without its `empty_dirs`
};
struct PodDiskTrend {
    CgroupId cgroup;
    PodDiskReading before{};
    PodDiskReading newest{};
};

// Evictions for disk wait from a crossing of a threshold on disk until it is known what each pod keeps, for a time.
struct DiskWait {
    MonotonicTime since;                        // the crossing
    bool is_known = false;                      // it was, at one look since: the next crossing is waited for anew
    std::optional<MonotonicTime> calm_since{};  // no threshold on disk is met
    bool told = false;                          // an eviction had to wait
};

struct State {
    std::vector<FirstObserved> first_observed;  // its thresholds are the previous look's merged met set
    std::vector<Threshold> thresholds_met;      // those whose grace period was over at the previous look
    std::array<std::optional<MonotonicTime>, condition_count> condition_last_observed;
    std::vector<Condition> conditions;                                     // reported at the previous look
    std::array<std::optional<MonotonicTime>, signal_count> last_readings;  // lastObservations: only their times count
    std::vector<InFlight> in_flight;
    std::vector<Owing> owing;
    std::vector<PassedOver> passed_over;
    std::optional<Reclaiming> reclaiming;
    std::vector<PodUid> evicted;              // gone because of us, and still listed by some pod source
    std::vector<FirstStalled> first_stalled;  // of the previous look's met thresholds on stalls
    std::optional<MonotonicTime>
        relieved_at;  // when the last victim ended: what was lost before is not held against others
    Trends trends;
    std::vector<DiskTrend> disk_trends{};         // of the signals that were read, in their order
    std::vector<PodDiskTrend> pod_disk_trends{};  // by cgroup
    LadderState ladder;
    std::optional<MonotonicTime> awaiting_since;            // evictions wait for unknown pods, one after the other
    std::vector<EndedPod> ended;                            // in the API, too; one for each uid
    std::optional<MonotonicTime> node_stall_last_observed;  // a threshold on the node's stalls was met
    std::array<std::optional<MonotonicTime>, condition_count> condition_since;  // reported without a break
    std::vector<PodUid> rejected;                // as they arrived, and still listed by some source: once for each
    std::vector<TaintEviction> taint_evictions;  // scheduled
    std::vector<Removal> removals;               // begun; one for each uid
    Collecting collecting{};
    std::vector<Reaping> reaping{};  // evictions for PIDs wait for them
    // What pid.available was when `reaping` began or was last changed, with all their tasks added.
    std::optional<Amount> available_once_reaped{};
    std::vector<Freeing> freeing{};  // evictions for disk wait for them
    std::optional<DiskWait> disk_wait{};
    std::optional<MonotonicTime> disk_relieved_at{};  // when the last victim for disk ended: it may have left garbage
};

}  // namespace evictd
