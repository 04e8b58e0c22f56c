// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The node's own memory, apart from any cgroup.
#pragma once

#include "evictd/model/result.hpp"
#include "evictd/model/units.hpp"

namespace evictd::port {

struct NodeMemoryReading {
    Bytes total;          // MemTotal
    Bytes available;      // MemFree + Inactive(file): what the kubelet's MemTotal - workingSet comes to
    Bytes reclaimable{};  // MemAvailable: what can be had without swapping
    Bytes cpu_lists{};    // of both, free pages in per-CPU lists; 0 where they were not counted
};

class NodeMemory {
public:
    NodeMemory() = default;
    NodeMemory(const NodeMemory&) = delete;
    NodeMemory& operator=(const NodeMemory&) = delete;
    virtual ~NodeMemory() = default;

    // `with_cpu_lists` counts the free pages in per-CPU lists too. They are what makes MemFree lie after a kill, and
    // they cost 0.1 ms to add up: asked for only while a victim's memory is on its way back.
    virtual Result<NodeMemoryReading> read(bool with_cpu_lists) = 0;
};

}  // namespace evictd::port
