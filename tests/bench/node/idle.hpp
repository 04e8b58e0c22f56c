// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What an agent costs in a stretch of time. It makes no pods and starts nobody.
#pragma once

#include <cstdint>
#include <string>

#include <sys/types.h>

#include "agent_process.hpp"

namespace evictd::bench {

// Shares of one CPU.
struct IdleCost {
    double threads = 0;
    double timer = 0;
    double programs = 0;  // the other BPF programs
    std::uint64_t ticks = 0;
    std::uint64_t tick_ns = 0;
    std::uint64_t period_ns = 0;
    std::uint64_t program_runs = 0;
    bool timer_counted = false;
    bool programs_counted = false;

    [[nodiscard]] double all() const { return threads + timer + programs; }
};

// Of an agent that runs; `bpffs`: where it pins its maps.
[[nodiscard]] IdleCost watch_idle(int seconds, pid_t pid, const std::string& bpffs);
// A line of /proc/PID/status, "VmRSS".
[[nodiscard]] std::int64_t status_kib(pid_t pid, const std::string& key);

}  // namespace evictd::bench
