// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How many tasks the node can have, and how many it has.
#pragma once

#include <cstdint>

#include "evictd/model/result.hpp"

namespace evictd::port {

// MaxPID and NumOfRunningProcesses of the kubelet's RlimitStats (pkg/kubelet/stats/pidlimit). Both count threads.
struct NodePidsReading {
    std::int64_t most = 0;     // the lesser of kernel.pid_max and kernel.threads-max
    std::int64_t running = 0;  // also those that ended and were not waited for
};

class NodePids {
public:
    NodePids() = default;
    NodePids(const NodePids&) = delete;
    NodePids& operator=(const NodePids&) = delete;
    virtual ~NodePids() = default;

    virtual Result<NodePidsReading> read() = 0;  // does not wait
};

}  // namespace evictd::port
