// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What is known of the pods' sockets: for people and their tools. No decision depends on it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "evictd/model/ids.hpp"
#include "evictd/model/units.hpp"

namespace evictd {

// IPv4 and IPv6 sockets of every protocol that some process holds. On cgroup v2 a socket belongs to the pod that made
// it, an incoming connection to the pod that made the listening socket; on v1 to the pod that was first found holding
// it.
struct PodSockets {
    CgroupId pod;              // its cgroup in the memory hierarchy
    std::int64_t open = 0;     // now
    std::int64_t refused = 0;  // not made because the pod was shed, in total
    Bytes memory;              // of their buffers
};

// Memory of all TCP sockets of the node, pods' or not.
struct TcpMemory {
    Bytes used;
    Bytes pressure;  // from here on the kernel keeps buffers small: the second figure of net.ipv4.tcp_mem
    Bytes limit;     // the third: nothing more is given
};

struct SocketsReading {
    std::vector<PodSockets> pods;  // those that ever had one
    std::optional<TcpMemory> tcp;
};

}  // namespace evictd
