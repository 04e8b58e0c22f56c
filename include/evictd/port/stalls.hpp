// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What stalls cost the node, and of what they cost pods, what does not come with their usage (cgroups.hpp).
#pragma once

#include <span>
#include <vector>

#include "evictd/model/stall.hpp"
#include "evictd/model/units.hpp"
#include "evictd/port/cgroups.hpp"

namespace evictd::port {

// A pod, and what is known of its stalls so far.
struct StalledPod {
    const PodCgroup& cgroup;
    std::optional<PodStall>& stall;
};

class Stalls {
public:
    Stalls() = default;
    Stalls(const Stalls&) = delete;
    Stalls& operator=(const Stalls&) = delete;
    virtual ~Stalls() = default;

    // Fills `stalls` with one for each resource that can be measured; what cannot is left out. Must not wait.
    virtual void read(MonotonicTime now, std::vector<NodeStall>& stalls) = 0;
    // Whether anybody asks of pods what their usage does not say.
    [[nodiscard]] virtual bool wants_pods() const = 0;
    // Completes the pods' stalls. `latency_critical`: an eviction may depend on this look, so the last values read are
    // used.
    virtual void read_pods(bool latency_critical, std::span<const StalledPod> pods) = 0;
};

}  // namespace evictd::port
