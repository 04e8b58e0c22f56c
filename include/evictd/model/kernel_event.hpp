// SPDX-License-Identifier: Apache-2.0
// What the kernel told us, decoded from abi/event.h or from the fallback sources. One alternative a kind of event.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "evictd/model/ids.hpp"
#include "evictd/model/signal.hpp"
#include "evictd/model/units.hpp"

namespace evictd {

// A threshold was crossed, in either direction.
struct WatermarkCrossed {
    Signal signal = Signal::memory_available;
    bool under = true;
    Bytes threshold;
    Bytes available;
};

// The kernel's OOM killer chose a victim.
struct OomKill {
    std::int32_t pid = 0;
    std::string comm;
    bool memcg = false;        // a cgroup's limit, not the whole machine
    CgroupId cgroup;           // of the victim
    CgroupId limiting_cgroup;  // whose limit it was, when memcg
    Bytes usage;               // of limiting_cgroup
    Bytes limit;
    std::int32_t oom_score_adj = 0;
    PodUid pod;  // whose process it was; empty: no known pod's, or the cgroup was gone when the agent looked
};

enum class CgroupChange : std::uint8_t { made, removed, populated, emptied };

// Something happened to a cgroup below the pods' root.
struct CgroupLife {
    CgroupChange change = CgroupChange::made;
    CgroupId cgroup;
    std::string path;  // below the hierarchy's mount point, as the kernel prints it
};

enum class MemcgLimit : std::uint8_t { high, max };

// A cgroup below the pods' root ran into its memory.high or memory.max and is being reclaimed.
struct MemcgBreach {
    MemcgLimit limit_kind = MemcgLimit::max;
    CgroupId cgroup;
    Bytes usage;
    Bytes limit;
};

// A pressure stall trigger fired (the fallback without BPF).
struct StallTriggered {
    std::string source;  // the pressure file
};

// Events were lost on the way: never ignored, always published.
struct EventsLost {
    std::string cause;
    std::uint64_t count = 0;
};

using KernelEventKind = std::variant<WatermarkCrossed, OomKill, CgroupLife, MemcgBreach, StallTriggered, EventsLost>;

struct KernelEvent {
    MonotonicTime time;  // when the kernel saw it
    KernelEventKind kind;
};

}  // namespace evictd
