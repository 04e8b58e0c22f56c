// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The measurements, each with a tree of pods and an agent of its own.
#pragma once

#include <chrono>
#include <string>

#include "evictd/model/result.hpp"
#include "eviction.hpp"
#include "report.hpp"

namespace evictd::bench {

struct Place {
    std::string evictd;     // the program
    std::string directory;  // for raw results and the agent's files
};

struct LatencyRun {
    std::string title;
    int pods = 110;
    int evictions = 200;
    Growth growth = Growth::full_speed;
    bool busy = false;         // as many endless loops as CPUs beside it
    double median_target = 0;  // us; 0: none
    double p99_target = 0;
};

// Kernel sees the crossing -> SIGKILL delivered, over many evictions of one fresh hog each.
Status measure_latency(const LatencyRun& run, const Place& place, Report& report);
struct BaselineRun {
    int rounds;
    std::chrono::milliseconds watched;  // all CPUs, for late wakeups
};

// What the host adds to any thread that is woken and computes, without an agent, and how often one is woken late.
Status measure_baseline(const BaselineRun& run, Report& report);
// One pass of the BPF iterator over 1,000 cgroups against pread of the same cgroups' files, kept open.
Status measure_usage(int rounds, const Place& place, Report& report);
// What the agent costs while nothing happens.
Status measure_idle(int seconds, const Place& place, Report& report);
// The same of an agent that runs already and pins its maps in `bpffs`. `most_kib`: the target of its resident memory.
void measure_idle_agent(int seconds, pid_t pid, const std::string& bpffs, std::int64_t most_kib, Report& report);
// From 10 to 10,000 pods: what starting, looking, deciding, killing and idling cost. Writes scale.csv.
Status measure_scale(bool quick, const Place& place, Report& report);
// What the agent costs those who run beside it: a kernel-bound workload in a pod, with and without it.
Status measure_cost(int blocks, const Place& place, Report& report);

}  // namespace evictd::bench
