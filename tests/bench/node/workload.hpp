// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a pod does all day that goes through the kernel, in slices of equal work, timed in the pod's own CPU time: that
// of others who want the CPU is not in it. It knows nothing of the agent.
#pragma once

#include <array>
#include <memory>

#include "evictd/model/result.hpp"
#include "pod_tree.hpp"
#include "sys/fd.hpp"

namespace evictd::bench {

inline constexpr std::array<const char*, 5> workload_names{"page faults", "fork and exit", "cgroups made and removed",
                                                           "page cache reclaimed at the pod's limit",
                                                           "sockets connected and closed"};
inline constexpr std::size_t reclaim_kind = 3;
inline constexpr std::size_t sockets_kind = 4;
// What its container needs for the fourth, and room for the others.
inline constexpr Bytes workload_limit = 32_MiB;

// User and system time of a slice, of the process and its children, and how long it took.
struct Slice {
    double cpu_us = 0;
    double wall_us = 0;
};

// One process inside a pod's container.
class Workload {
public:
    // Starts it and finds out how much work of each kind takes `wanted`, in CPU time or else in elapsed time.
    static Result<std::unique_ptr<Workload>> start(PodTree& tree, const BenchPod& pod, Slice wanted);
    Workload(const Workload&) = delete;
    Workload& operator=(const Workload&) = delete;
    ~Workload();

    // A slice, after a quarter of one that warms up and does not count.
    Result<Slice> run(std::size_t kind);
    // How often a slice does what it is named for.
    [[nodiscard]] int rounds(std::size_t kind) const { return rounds_.at(kind); }

private:
    Workload() = default;
    Result<Slice> run(std::size_t kind, int rounds);
    Status calibrate(std::size_t kind, Slice wanted);

    pid_t pid_ = -1;
    sys::Fd orders_;
    sys::Fd answers_;
    std::array<int, workload_names.size()> rounds_{};
};

}  // namespace evictd::bench
