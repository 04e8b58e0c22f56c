// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the policy decided over one Observation: who is killed, the desired state of all that is kept true beside that,
// and all that is needed to say why.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "evictd/model/config.hpp"
#include "evictd/model/ended_pod.hpp"
#include "evictd/model/garbage.hpp"
#include "evictd/model/ids.hpp"
#include "evictd/model/kernel_watch.hpp"
#include "evictd/model/ladder.hpp"
#include "evictd/model/next_look.hpp"
#include "evictd/model/node_status.hpp"
#include "evictd/model/node_view.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/outcome.hpp"
#include "evictd/model/pod_status.hpp"
#include "evictd/model/removal.hpp"
#include "evictd/model/signal.hpp"
#include "evictd/model/units.hpp"

namespace evictd {

struct MetThreshold {
    Threshold threshold;
    Amount quantity;  // the threshold's value, percentages resolved against the capacity
    Amount available;
    Amount capacity;
    MonotonicTime first_observed_at;

    // Of a threshold in time: how long what is available lasts at this rate.
    [[nodiscard]] Duration time_left() const {
        constexpr double longest = 24.0 * 3600 * 1e9;  // ns
        const double share = static_cast<double>(available.value) / static_cast<double>(quantity.value);
        const double left = static_cast<double>(threshold.time_left.count()) * share;
        return quantity.value <= 0 || !(left < longest) ? Duration::zero()
                                                        : Duration(static_cast<Duration::rep>(left > 0 ? left : 0));
    }
};

// A threshold on stalls that is met. `pod`: whose tasks stall; empty: the node's.
struct MetStall {
    StallThreshold threshold;
    Duration lost{0};  // within its window
    MonotonicTime first_observed_at;
    PodUid pod;
};

struct StallEdge {
    bool met = true;  // newly met (its grace period may still run), or no longer
    MetStall stall;
};

struct ThresholdEdge {
    bool met = true;  // newly met (its grace period may still run), or cleared
    MetThreshold threshold;
};

struct ConditionEdge {
    Condition condition = Condition::memory_pressure;
    bool status = true;
};

enum class Exemption : std::uint8_t {
    none,
    critical,
    static_pod,
    mirror,
    in_flight,
    failed_before,
    no_cgroup,
    no_processes,         // none is left, and little memory
    memory_not_returned,  // none is left, and its memory was reported as not returned
    terminating,          // it was deleted, and ends sooner than an eviction would end it
    own_pod,              // evictd itself runs in it
};

// A pod's place in the victim order: ranking[0] goes first. `pod` is an index into Observation::pods.
struct RankedPod {
    std::uint32_t pod = 0;
    Exemption exemption = Exemption::none;
    QosClass qos = QosClass::best_effort;  // for people: no rank depends on it
    bool has_usage = false;
    bool exceeds_request = false;
    std::int32_t priority = 0;
    Amount usage;
    Amount request;
};

// What can be given back before a pod is evicted, in this order.
enum class NodeReclaim : std::uint8_t { containers, images, logs };
template <>
struct Names<NodeReclaim> {
    static constexpr Words<3> words{"containers", "images", "logs"};
};

// A limit of a pod's own that it broke. Needs no threshold.
enum class LimitKind : std::uint8_t { empty_dir, pod, container };
struct BrokenLimit {
    LimitKind kind = LimitKind::empty_dir;
    std::string name;  // of the volume or the container
    Quantity limit;
    Bytes used;
};

// An eviction begun at this look.
struct Eviction {
    PodUid pod;
    MetThreshold threshold;  // empty when a limit was broken, or tasks stall
    std::optional<BrokenLimit> broken_limit;
    std::optional<MetStall> stall;
    Duration grace_period{0};  // what the pod gets between SIGTERM and SIGKILL in the kubelet's terms; hard: 1 s
    bool immediate = true;     // hard: SIGKILL at once, without the grace period
    std::string message;       // the kubelet's, to the letter
    std::map<std::string, std::string> annotations;
    std::vector<Condition> rejected_for{};  // it arrived while these held, and is not admitted; no threshold then
};

// A pod being evicted, from the decision to its last process. Times not reached yet are the epoch.
struct Victim {
    PodUid pod;
    std::string pod_name;
    QosClass qos = QosClass::best_effort;
    std::int32_t priority = 0;
    std::optional<Bytes> usage;  // its working set at the look that chose it
    Eviction eviction;
    Cause cause;  // of the look that chose it
    MonotonicTime decided_at;
    MonotonicTime kill_at;     // end of the grace period
    MonotonicTime killed_at;   // SIGKILL delivered
    MonotonicTime emptied_at;  // no process left
    bool failed = false;
    std::string error;
};

// Memory that is still charged to a pod that has no process left.
struct OwedMemory {
    PodUid pod;
    std::string pod_name;  // namespace/name, for people
    CgroupId cgroup;
    Cause cause;                // of the look that chose it
    bool evicted = true;        // false: it had no process when its turn came
    std::optional<Bytes> owed;  // its working set when it was killed
    std::optional<Bytes> left;  // of that, as far as it is known
    MonotonicTime since;        // its last process was gone
    bool overdue = false;       // nothing more comes back; else it may still be on its way
    bool fresh = false;         // overdue since this look
};

// A pod that gets no new sockets until the next look.
struct ShedPod {
    PodUid pod;
    std::string pod_name;  // namespace/name, for people
    CgroupId cgroup;
};

// Memory will have run out, if it goes on like this.
struct Exhaustion {
    Signal signal = Signal::memory_available;
    Duration left{0};
    Bytes falls;                     // a second
    PodUid pod;                      // that grows fastest; empty: none does
    std::int32_t share_percent = 0;  // of the growth
};

// A signal on disk reaches a threshold, if it goes on like this. An estimate for people; policy/exhaustion
// has the threshold on it.
struct DiskExhaustion {
    Signal signal = Signal::nodefs_available;
    Duration left{0};
    // The highest threshold that is not crossed yet, in the signal's unit; 0: all are, and nothing will be left.
    Amount line;
    Amount falls;                    // bytes, or inodes, a second
    PodUid pod{};                    // that grows fastest there; empty: none does, or it is not known
    std::int32_t share_percent = 0;  // of the growth
};

// Pods that no source knows yet and that may come before the pod that would be evicted.
struct AwaitedPods {
    UnknownPod largest;
    std::size_t count = 1;
    Bytes together;         // the working sets of all
    PodUid first;           // would be evicted
    MonotonicTime until{};  // no longer than this
    bool fresh = false;     // evictions wait since this look
};

// Pods of which it is not known yet what they keep on disk: none is evicted for disk.
struct UnknownDiskUsage {
    std::size_t first = 0;  // in Observation::pods: of these the first in the victim order
    std::size_t count = 1;
    MonotonicTime until{};  // no longer than this
    bool fresh = false;     // evictions wait since this look
};

struct Decision {
    std::vector<MetThreshold> thresholds_met;      // past their grace period, in the order in which they are handled
    std::vector<MetThreshold> thresholds_pending;  // met, but their grace period still runs
    std::vector<ThresholdEdge> threshold_edges;
    std::vector<MetStall> stalls_met;      // thresholds on stalls past their grace period
    std::vector<MetStall> stalls_pending;  // met, but their grace period still runs
    std::vector<StallEdge> stall_edges;
    std::vector<Condition> conditions;  // reported now, transition period included
    std::vector<ConditionEdge> condition_edges;
    std::vector<RankedPod> ranking;               // always filled, for `ranked_by`; while tasks stall, by reclaim work
    Signal ranked_by = Signal::memory_available;  // the first met threshold's
    std::optional<Eviction> evict;                // at most one
    std::vector<Eviction> limit_evictions;        // instead of it: every pod that broke a limit of its own
    std::vector<Eviction> rejections;             // beside it: pods that arrived under a condition
    std::vector<NodeReclaim> reclaim;             // reclaim these, then look again: no pod is evicted before
    bool reclaimed = false;                       // what was given back is enough: every threshold is clear
    std::vector<NodeReclaim> announced;           // a reclaim of these begins that is told; a repeated one is not
    bool outcome_repeated = false;                // Observation::reclaimed is of a reclaim that was not announced
    bool reclaim_futile = false;                  // the last reclaim for the threshold that goes first removed nothing
    std::vector<std::string> notes;               // settings that were overruled, in the kubelet's words
    std::vector<ShedPod> shed;                    // no new sockets; pods not listed get sockets again
    std::vector<Rung> ladder;                     // pods not listed are released
    std::vector<DesiredPodStatus> pod_statuses;   // what the API server is to show; one for each pod at most
    DesiredGarbage garbage;                       // what of the runtime and its logs is removed, by name
    std::vector<Removal> removals;                // other pods that the API server is asked to end, beside evictions
    ShutdownWord shutdown = ShutdownWord::none;   // the node shuts down: no pod is evicted
    std::optional<PodUid> steer_to;  // the pod that the kernel's OOM killer should kill; no other is raised
    KernelWatch watch;
    Duration filesystem_pace{0};                   // how often filesystems are asked; 0: no threshold is on disk
    Duration pid_pace{0};                          // how often tasks are counted; 0: no threshold is on PIDs
    std::optional<DesiredNodeStatus> node_status;  // what the API server shows of this node; none: nothing of ours
    std::vector<Action> actions;
    std::vector<Victim> finished;                   // victims that ended at this look: gone, or failed
    std::vector<Victim> failed;                     // an attempt on them failed at this look; they are tried again
    std::vector<OwedMemory> owed;                   // what is missing, until it is back
    std::optional<MonotonicTime> next_eviction_at;  // because of it, no pod is evicted for memory before
    std::optional<AwaitedPods> awaited;             // no pod is evicted for memory before they are known
    std::optional<UnknownDiskUsage> disk_unknown;   // none for disk
    std::vector<Victim> in_flight;                  // being evicted, this look's included
    std::vector<EndedPod> ended;                    // told to the API server and watched, this look's included
    std::vector<EndStep> end_steps;                 // what happened to those since the last look
    std::optional<Exhaustion> exhaustion;           // within the next hour
    std::vector<DiskExhaustion> disk_exhaustion;    // likewise, the soonest first; of signals that have a threshold
    std::optional<MonotonicTime> look_again_at;     // a clock runs out then: grace period, transition period, kill
    NextLook next_look;                             // then, or earlier where something calls for it
    std::string why;                                // one sentence
};

}  // namespace evictd
