// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Stalls from wherever they can be had: `some` of memory, of the node and of pods, from our own programs, everything
// else, and that too where they do not load, from the kernel's pressure files.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "evictd/model/config.hpp"
#include "evictd/port/stalls.hpp"
#include "kernel/pod_pressure.hpp"
#include "kernel/pressure_files.hpp"
#include "kernel/stall_map.hpp"

namespace evictd::kernel {

class NodeStalls final : public port::Stalls {
public:
    // `map` and the clock outlive it; null: our programs do not count. `v2_mount`: empty: there is none.
    NodeStalls(const StallMap* map, std::string v2_mount, const sys::Clock& clock)
        : map_(map), pods_(std::move(v2_mount), clock) {}

    // The files are read only for what somebody asks for: a read adds up all CPUs and takes tens of microseconds.
    void want(const EvictionConfig& config);
    // Thresholds of those that are wanted which this kernel can never say are met.
    [[nodiscard]] const std::vector<StallThreshold>& uncounted() const { return uncounted_; }
    void read(MonotonicTime now, std::vector<NodeStall>& stalls) override;
    [[nodiscard]] bool wants_pods() const override { return pods_wanted_; }
    void read_pods(bool latency_critical, std::span<const port::StalledPod> pods) override;

private:
    [[nodiscard]] bool is_from_file(const StallThreshold& threshold) const {
        return map_ == nullptr || !threshold.counted();
    }
    void complete(const port::StalledPod& pod) const;

    const StallMap* map_;
    PressureFiles files_;
    PodPressure pods_;
    std::array<bool, stall_resource_count> wanted_{};  // of the node, from the files
    bool pods_wanted_ = false;
    std::vector<StallThreshold> uncounted_;
};

}  // namespace evictd::kernel
