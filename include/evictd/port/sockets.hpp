// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The pods' sockets: who has how many, and the one thing that can be done about it.
#pragma once

#include <span>
#include <vector>

#include "evictd/model/ids.hpp"
#include "evictd/model/result.hpp"
#include "evictd/model/sockets.hpp"

namespace evictd::port {

class Sockets {
public:
    Sockets() = default;
    Sockets(const Sockets&) = delete;
    Sockets& operator=(const Sockets&) = delete;
    virtual ~Sockets() = default;

    // Every pod's figures as they are now, buffers' memory included. Not from two threads at once. Costs some 200 ns
    // for each open file of the machine: off the kill path.
    virtual Result<std::vector<PodSockets>> read() = 0;

    // From now on, and until `until` unless told anew, the tasks of exactly these pods get EPERM from socket(2), for
    // IPv4 and IPv6; whatever is open stays so. Replaces who was refused before. May be called while another thread is
    // in read(). An error: some of them may not be refused.
    virtual Status refuse(std::span<const CgroupId> pods, MonotonicTime until) = 0;
    // How often a pod was refused a socket, in total; 0: never, or nothing is known of it.
    [[nodiscard]] virtual std::int64_t refused(CgroupId pod) const = 0;
};

}  // namespace evictd::port
