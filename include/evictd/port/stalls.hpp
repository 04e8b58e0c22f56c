// SPDX-License-Identifier: Apache-2.0
// What stalls cost the node. What they cost a pod comes with its usage (cgroups.hpp).
#pragma once

#include <vector>

#include "evictd/model/stall.hpp"
#include "evictd/model/units.hpp"

namespace evictd::port {

class Stalls {
public:
    Stalls() = default;
    Stalls(const Stalls&) = delete;
    Stalls& operator=(const Stalls&) = delete;
    virtual ~Stalls() = default;

    // Fills `stalls` with one for each resource that can be measured; what cannot is left out. Must not wait.
    virtual void read(MonotonicTime now, std::vector<NodeStall>& stalls) = 0;
};

}  // namespace evictd::port
