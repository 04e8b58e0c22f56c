// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Pods' stalls as the kernel's own files count them: memory.pressure of a pod's cgroup in the v2 hierarchy, also where
// that has no controllers. The one source of a pod's `full`, and of its `some` where our programs do not load.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "evictd/port/stalls.hpp"
#include "kernel/pressure_files.hpp"
#include "sys/clock.hpp"
#include "sys/fd.hpp"

namespace evictd::kernel {

class PodPressure {
public:
    // `mount`: of the v2 hierarchy; empty: there is none. The clock outlives it.
    PodPressure(std::string mount, const sys::Clock& clock);

    // False: this kernel counts no cgroup's stalls (v1 alone, psi=0, no CONFIG_PSI).
    [[nodiscard]] bool available() const { return static_cast<bool>(node_); }
    // Reads the pods' files; pods that are not named are forgotten. Does nothing before the windows have slid, nor
    // more often than a fiftieth of a CPU allows.
    void read(std::span<const port::StalledPod> pods);

    struct Lost {
        std::optional<StallTimes> some;
        std::optional<StallTimes> full;
    };
    // As of read_at(). Null: the pod was not among those read.
    [[nodiscard]] const Lost* lost(CgroupId pod) const;
    [[nodiscard]] MonotonicTime read_at() const { return read_at_; }

private:
    struct File {
        sys::Fd fd;  // none: it has no such cgroup
        PressureTotals totals;
        StallHistory some;
        StallHistory full;
        Lost lost;
    };
    [[nodiscard]] File open(const std::string& path) const;
    [[nodiscard]] bool node_stalled();

    std::string mount_;
    const sys::Clock& clock_;
    sys::Fd node_;
    std::optional<Duration> node_total_;
    std::unordered_map<CgroupId, File> files_;  // by the pod's cgroup in the memory hierarchy
    MonotonicTime read_at_;
    MonotonicTime next_;
    std::string text_;
};

}  // namespace evictd::kernel
