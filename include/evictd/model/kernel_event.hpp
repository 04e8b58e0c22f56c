// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the kernel told us, decoded from abi/event.h or from the fallback sources. One alternative a kind of event.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>

#include "evictd/model/ids.hpp"
#include "evictd/model/signal.hpp"
#include "evictd/model/stall.hpp"
#include "evictd/model/units.hpp"

namespace evictd {

// A threshold was crossed, in either direction.
struct WatermarkCrossed {
    Signal signal = Signal::memory_available;
    bool under = true;
    Bytes threshold;
    Bytes available;
};

// What a process is to its container. A container ends with its first process; without a child it goes on, and few
// notice.
enum class OomRole : std::uint8_t { unknown, first_process, child };

// The kernel's OOM killer kills a process; with memory.oom.group there is one of these for each.
struct OomKill {
    std::int32_t pid = 0;
    std::string comm;
    bool memcg = false;        // a cgroup's limit, not the whole machine
    CgroupId cgroup;           // of the victim
    CgroupId limiting_cgroup;  // whose limit it was, when memcg
    Bytes usage;               // of limiting_cgroup
    Bytes limit;
    std::int32_t oom_score_adj = 0;
    PodUid pod;           // whose process it was; empty: no known pod's, or the cgroup was gone when the agent looked
    CgroupId pod_cgroup;  // of the pod, as the kernel program found it; 0: none
    OomRole role = OomRole::unknown;
    bool group = false;            // memory.oom.group: all processes of a cgroup go together
    std::string container_cgroup;  // the name of its container's cgroup; empty: it was in the pod's own
    std::string container;         // the container's name; empty: no container of the pod's goes with that cgroup
};

// Somebody wrote to the oom_score_adj of a pod's process.
struct OomScoreChanged {
    std::int32_t pid = 0;
    CgroupId cgroup;
    CgroupId pod_cgroup;
    std::int32_t oom_score_adj = 0;
};

enum class CgroupChange : std::uint8_t { made, removed, populated, emptied };

// Something happened to a cgroup below the pods' root.
struct CgroupLife {
    CgroupChange change = CgroupChange::made;
    CgroupId cgroup;
    std::string path;  // below the hierarchy's mount point, as the kernel prints it
};

enum class MemcgLimit : std::uint8_t { high, max };

// The pods' root ran into its memory.high or memory.max, or a pod or a container into its memory.max, and is being
// reclaimed. Of a pod there is one a minute at most.
struct MemcgBreach {
    MemcgLimit limit_kind = MemcgLimit::max;
    CgroupId cgroup;
    Bytes usage;
    Bytes limit;
    PodUid pod;                    // whose limit it was; empty: the root's, or of no known pod
    CgroupId pod_cgroup;           // of the pod; 0: it was the root's
    std::uint64_t hits = 0;        // of the pod's limits, its own and its containers', since the last of these
    std::string container_cgroup;  // the name of its container's cgroup; empty: it was the pod's own limit
    std::string container;         // the container's name; empty: no container of the pod's goes with that cgroup
    // A pod at a limit of its own does not concern the node.
    [[nodiscard]] bool calls_for_look() const { return pod_cgroup == CgroupId{}; }
};

// The kernel refused a socket memory for its buffers: the protocol's memory is short, or its pod's cgroup is at its
// limit. `used`, `pressure` and `limit` are the protocol's, over all sockets of the node.
struct SocketMemoryShort {
    CgroupId cgroup;       // of the pod whose socket it was; 0: no pod's
    std::string protocol;  // "TCP"
    Bytes used;
    Bytes pressure;  // from here on buffers are kept small
    Bytes limit;
    PodUid pod;  // whose cgroup that is; empty: no known pod's
    // Whether it is the node that is short, not the pod's cgroup.
    [[nodiscard]] bool of_node() const { return used > pressure; }
};

// Tasks stalled on memory for as long as a line says within its window, or no longer do.
struct StallCrossed {
    bool over = true;
    StallWindow window = StallWindow::second;
    Duration lost{0};
    Duration line{0};
    CgroupId cgroup;  // the pod's; 0: the node
};

// A pressure stall trigger fired (the fallback without BPF).
struct StallTriggered {
    std::string source;  // the pressure file
};

// Events were lost on the way: never ignored, always published.
struct EventsLost {
    std::string cause;  // one of loss::all
    std::uint64_t count = 0;
};

// Why kernel events are lost; all there are, so that each can be counted from zero.
namespace loss {
inline constexpr const char* watermark = "watermark: ring buffer full";
inline constexpr const char* oom_kill = "oom kill: ring buffer full";
inline constexpr const char* cgroup = "cgroup: ring buffer full";
inline constexpr const char* memcg = "memcg: ring buffer full";
inline constexpr const char* sockets = "socket memory: ring buffer full";
inline constexpr const char* oom_score = "oom_score_adj: ring buffer full";
inline constexpr const char* stall = "stall: ring buffer full";
inline constexpr const char* undecodable = "record that could not be decoded";
inline constexpr const char* cgroup_watch = "cgroup watch: the inotify queue was full";
inline constexpr std::array all{watermark, oom_kill, cgroup,      memcg,       sockets,
                                oom_score, stall,    undecodable, cgroup_watch};
}  // namespace loss

using KernelEventKind = std::variant<WatermarkCrossed, OomKill, CgroupLife, MemcgBreach, StallTriggered, EventsLost,
                                     SocketMemoryShort, OomScoreChanged, StallCrossed>;

struct KernelEvent {
    MonotonicTime time;  // when the kernel saw it
    KernelEventKind kind;
};

}  // namespace evictd
