// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// One look at the node: everything a decision may depend on, each part with the time it was taken. A plain value: it
// can be written to a file and decided over again.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "evictd/model/garbage.hpp"
#include "evictd/model/ids.hpp"
#include "evictd/model/kernel_event.hpp"
#include "evictd/model/ladder.hpp"
#include "evictd/model/memory_available.hpp"
#include "evictd/model/next_look.hpp"
#include "evictd/model/node_view.hpp"
#include "evictd/model/outcome.hpp"
#include "evictd/model/pod.hpp"
#include "evictd/model/pod_status.hpp"
#include "evictd/model/runtime.hpp"
#include "evictd/model/signal.hpp"
#include "evictd/model/stall.hpp"
#include "evictd/model/units.hpp"

namespace evictd {

// signalObservation of eviction/types.go.
struct Reading {
    Amount available;  // what thresholds are compared with
    Amount capacity;
    MonotonicTime at;
    std::optional<AvailableMemory> memory{};  // of the signals of memory: `available`, and the other way to count
};
using Readings = std::array<std::optional<Reading>, signal_count>;

// Which filesystems a node has: HasDedicatedImageFs and IsContainerFsSeparateFromImageFs of the kubelet.
enum class FsLayout : std::uint8_t {
    unknown,             // nobody has looked yet
    single,              // images, writable layers, logs and volumes on one
    dedicated_image_fs,  // images and writable layers apart
    split,               // only images apart
};

// What one container uses, as far as it is known.
struct ContainerUsage {
    std::string name;
    std::optional<Bytes> working_set;
    std::optional<Bytes> rootfs;  // its writable layer
    std::optional<Bytes> logs;
};

struct VolumeUsage {
    std::string name;
    Bytes used;
};

// What a pod uses on disk. `rootfs` and `logs` include its containers', `volumes` its emptyDirs on disk and its
// hostPath volumes.
struct DiskUsage {
    Bytes rootfs;
    Bytes logs;
    Bytes volumes;
    Bytes host_path;  // the part of `volumes` that counts for the rank, but not for limits
    std::int64_t rootfs_inodes = 0;
    std::int64_t logs_inodes = 0;
    std::int64_t volumes_inodes = 0;
    std::vector<VolumeUsage> empty_dirs;  // those in memory too
};

struct PodUsage {
    Bytes usage;        // memory charged to the pod's cgroup
    Bytes working_set;  // usage minus inactive file cache, at least 0
    Bytes anon;         // swap-backed pages on the LRU lists: anonymous memory, tmpfs, shared memory
    Bytes file;         // file-backed pages on the LRU lists
    std::int32_t processes = 0;
    DiskUsage disk{};
    std::vector<ContainerUsage> containers{};  // those that are known apart; a single one without a row is the pod
    // Some of `disk` is not measured (yet): the pod keeps at least this much.
    bool disk_partial = false;
};

// A pod some source knows, with what its cgroup says.
struct ObservedPod {
    PodPtr pod;
    std::optional<PodUsage> usage;            // none: no cgroup was found, or it went away while we looked
    CgroupId cgroup;                          // in the memory hierarchy; 0: none
    bool populated = false;                   // some process is left in it
    std::optional<MonotonicTime> emptied_at;  // when its last process went; others may have come since
    std::optional<PodStall> stall;            // none: its tasks did not stall, or nothing counts it
    bool holds_us = false;                    // evictd itself runs in it; false also where it cannot be told
    // When it came to this node, at the earliest. None: it was there before the agent looked, or that is not known.
    std::optional<MonotonicTime> arrived_at{};
    bool departed = false;  // no source has it any more; its cgroup is still there
};

// What the kernel says of the cgroup of a victim that decide() follows: of that very cgroup, whatever the pods' sources
// say, also after it was removed.
struct ObservedVictim {
    PodUid pod;
    CgroupId cgroup;
    std::optional<bool> populated;  // whether a process is left; none: it could not be read
    std::optional<Bytes> held;      // the working set still charged to it; none: it could not be measured
    std::optional<std::int64_t>
        tasks{};                    // also ended ones, which count until something waited for them; none: not known
    std::optional<bool> on_disk{};  // volumes or containers of it are still there; none: not known
    std::optional<bool> volumes{};  // volumes alone, likewise
    bool removed = false;           // the cgroup is gone: its tasks cannot be counted any more
};

// A cgroup that is named as the kubelet names a pod's, and no source knows a pod of that UID: its manifest is late, or
// was removed.
struct UnknownPod {
    PodUid pod;
    CgroupId cgroup;
    MonotonicTime first_seen;  // the cgroup, by this agent
    Bytes working_set;
    bool populated = false;
};

// The cgroup of a pod that no source knows, without a process in it or below it.
struct LeftCgroup {
    PodUid pod;
    std::string path;  // below the mount point of its hierarchy, the same in each
};

// A manifest that has not come for so long is not expected any more, and the cgroup is left out of observations. It is
// the kubelet's own period: half of it, and a source on a loaded machine is late; twice as much, and evictd is slower
// than the kubelet.
inline constexpr Duration unknown_pod_period = std::chrono::seconds(10);

enum class CauseKind : std::uint8_t { started, kernel_event, timer, pods_changed, requested, config };

// Why the agent looked.
struct Cause {
    CauseKind kind = CauseKind::started;
    std::optional<KernelEvent> event;  // the one that made it look, where a kernel event did
    MonotonicTime detected_at;         // when the agent had it in hand
};

// What came of the reclaim of node-level resources that the last decision asked for. Whether it was enough, the
// readings say.
struct ReclaimOutcome {
    std::vector<std::string> errors;
    std::uint64_t pass = 0;                  // of DesiredGarbage; 0: whichever it is
    std::vector<GarbageOutcome> removals{};  // one for each that was begun
    std::optional<Bytes> freed{};            // by statfs, until the deadline; none: it could not be measured
    bool forced = true;                      // as of DesiredGarbage; a routine pass says nothing of pressure
    std::vector<Garbage> orphans{};          // those of `removals` that are gone, or would be (`report_only`)
};

struct Observation {
    Cause cause;
    MonotonicTime at;
    WallTime wall;
    Readings readings;
    std::vector<ObservedPod> pods;
    std::vector<Outcome> outcomes;  // of the actions decided last time
    FsLayout fs_layout = FsLayout::unknown;
    std::optional<ReclaimOutcome> reclaimed;
    std::vector<NodeStall> stalls;   // of the node, one for each resource that is measured
    std::vector<RungOutcome> rungs;  // what came of the ladder since the last look
    // One for each victim in State::in_flight, State::owing and State::freeing. Without one, as in scenarios and in
    // tapes of older agents, a victim is gone when its pod is, and owes nothing.
    std::vector<ObservedVictim> victims;
    std::vector<UnknownPod> unknown_pods;
    bool usage_unknown = false;  // it could not be read of any pod, at this look
    bool incomplete = false;     // some part of the node could not be read
    bool pods_unlisted = false;  // not all pods' cgroups could be opened: a pod without one may be running
    Watching watching;           // what the kernel reports by itself until the next look, and what it does not
    std::vector<PodStatusOutcome> pod_statuses;  // what came of Decision::pod_statuses since the last look
    std::vector<DesiredPodStatus> recalled;      // what an agent before this one had begun; with the first look
    bool pods_current = false;                   // the API server's pods are here, and its watch is not interrupted
    std::optional<NodeView> node;                // none: it was never heard
    std::optional<LogindView> logind;            // none: it never answered
    RuntimePtr runtime{};                        // none: there is no runtime
    // Every source of pods has been read to its end and refuses none of them, and `pods_current`: a pod that is not in
    // `pods` is known to none.
    bool pods_complete = false;
    std::vector<LeftCgroup> left_cgroups{};  // however old; of pods in Collecting::unknown alone
};

}  // namespace evictd
