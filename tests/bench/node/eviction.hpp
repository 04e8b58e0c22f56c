// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// One eviction of one fresh hog, with the agent's own measurement of it. It judges nothing.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "agent_process.hpp"
#include "evictd/model/result.hpp"
#include "pod_tree.hpp"

namespace evictd::bench {

// A hog grows this far before it crosses, and has the threshold's size left before the kernel's OOM killer: 16 ms at
// the 8 GiB/s of a CPU that zeroes huge pages.
inline constexpr Bytes room_to_grow = 128_MiB;
inline constexpr Bytes eviction_threshold = 128_MiB;

enum class Growth { full_speed, slow };  // slow: 100 MB/s

inline constexpr std::array<const char*, 5> latency_parts{"detect", "decide", "act", "total", "empty"};

struct Tally {
    std::map<std::string, std::vector<double>> parts;  // us, by latency_parts
    int right = 0;
    int wrong = 0;
    int unmeasured = 0;  // seen by a look of its own, not by an event
    int oom_kills = 0;
};

// `count` pods, named from `first` on; a small process sleeps in each of the first `with_process` of them.
Status populate(PodTree& tree, int count, int with_process, int first = 0);
// Bigger than any hog, and within its request: whoever kills by size kills this one.
Status add_quiet_pod(PodTree& tree);
// A new pod grows until it is evicted, and the threshold is no longer met.
Status evict_one(PodTree& tree, AgentProcess& agent, int number, Growth growth, Tally& tally);

}  // namespace evictd::bench
