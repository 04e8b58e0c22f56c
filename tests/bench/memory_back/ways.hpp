// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Ways to get the memory of killed processes back, and what each takes.
#pragma once

#include <string>
#include <vector>

#include "victim.hpp"

namespace evictd::bench {

enum class Share { queue, same };  // each process by one thread; every process by all threads
enum class Raise { nothing, nice, fifo, deadline, shares };

struct Way {
    const char* name;
    const char* what;
    int threads = 0;  // that call process_mrelease(2)
    Share share = Share::queue;
    bool fifo = false;             // these threads are real-time threads
    bool early = false;            // they are woken just before the kill, and wait for it on the CPU
    Raise raise = Raise::nothing;  // of the victim, 1 ms after its SIGKILL
    bool biggest_first = false;    // killed and released; else the smallest is first
    bool cgroup_kill = false;
};

[[nodiscard]] const std::vector<Way>& all_ways();

// The CPU weight while memory is filled, and once nobody waits for it any more.
inline constexpr int filling_shares = 1024;

// Milliseconds since just before the first SIGKILL; 5,000: not by then.
struct Times {
    double to_10 = 0;  // per cent of the memory is left
    double to_1 = 0;
    double gone = 0;       // all processes have ended
    double released = 0;   // the last process_mrelease(2) came back
    bool refused = false;  // the victim could not be raised
};

// Kills `victims`, which hold memory in `cgroups` with a CPU weight of `shares`.
[[nodiscard]] Times measure(const Way& way, const PodCgroups& cgroups, int shares, std::vector<Victim>& victims);

}  // namespace evictd::bench
