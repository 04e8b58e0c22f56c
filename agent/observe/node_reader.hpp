// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The node's memory. The kernel writes /proc/meminfo as text, which takes 0.1 ms where the caches are cold; a pass over
// the cgroups counts the same from the kernel's counters. Looks read the file and compare it with the pass. An urgent
// look uses the pass, as long as that comparison allows it.
#pragma once

#include <limits>
#include <optional>

#include "evictd/model/result.hpp"
#include "evictd/port/cgroups.hpp"
#include "evictd/port/node_memory.hpp"

namespace evictd::observe {

// What a look needs of a reading of the node's memory.
struct NodeNeed {
    // Something may be decided by it where less than this is available.
    Bytes decides_below{std::numeric_limits<std::int64_t>::max()};
    // A victim was killed a moment ago: what it freed is partly in per-CPU lists, which MemFree leaves out.
    bool memory_returning = false;
};

class NodeReader {
public:
    // Both must outlive it.
    NodeReader(const port::UsageSource& usage, port::NodeMemory& files) : usage_(usage), files_(files) {}

    // After the pass. `urgent`: the look is for a crossing of a threshold or for a cgroup that came to be empty or in
    // use.
    [[nodiscard]] Result<port::NodeMemoryReading> read(bool urgent, const NodeNeed& need, MonotonicTime now);

private:
    // By how much the file was above the pass. Where the kernel defers the initialization of memory, MemFree counts
    // what is not initialized yet.
    struct Comparison {
        Bytes available;
        Bytes reclaimable;
        Bytes total;  // the node's
        MonotonicTime at;
    };
    [[nodiscard]] std::optional<port::NodeMemoryReading> from_pass(const NodeNeed& need, MonotonicTime now) const;
    void compare(const port::NodeMemoryReading& read, MonotonicTime now);

    const port::UsageSource& usage_;
    port::NodeMemory& files_;
    std::optional<Comparison> compared_;
};

}  // namespace evictd::observe
