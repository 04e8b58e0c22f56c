// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A node whose tasks stall, for the tests of stall thresholds.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "node.hpp"
#include "stall.hpp"

namespace evictd::policy {

using namespace testing;

inline constexpr std::int32_t ten_percent = 1'000;

inline StallThreshold line(Duration grace = 0s, StallWindow window = StallWindow::second) {
    return {.window = window, .share = ten_percent, .grace_period = grace};
}

// A node with bytes to spare, whose tasks stall.
struct Stalling : ::testing::Test {
    Stalling() {
        node.config.thresholds = {hard(100_MiB)};
        node.config.pressure_transition_period = 5min;
        node.pods = {pod({.name = "big", .working_set = 900_MiB, .cgroup = 1}),
                     pod({.name = "thrasher", .working_set = 50_MiB, .request = 100_MiB, .cgroup = 2}),
                     pod({.name = "worker", .working_set = 300_MiB, .request = 100_MiB, .cgroup = 3})};
        node.set(4_GiB);
        works("thrasher", 900_MiB);
        works("worker", 20_MiB);
    }
    void works(const std::string& name, Bytes reclaimed) { node.find(name).stall.emplace().reclaimed = reclaimed; }
    void set_priority(const std::string& name, std::int32_t priority) {
        auto& observed = node.find(name);
        Pod changed = *observed.pod;
        changed.priority = priority;
        observed.pod = std::make_shared<const Pod>(std::move(changed));
    }
    // Of the node's tasks, as a share of each window.
    void lose(int percent, StallResource resource = StallResource::memory) {
        StallTimes times{};
        for (std::size_t i = 0; i < times.size(); ++i) times[i] = length(static_cast<StallWindow>(i)) / 100 * percent;
        stalls = {{resource, times, std::nullopt}};
    }
    Decision look(Duration since) {
        Observation observation = node.observe(since);
        observation.stalls = stalls;
        Verdict verdict = decide(node.config, observation, node.state);
        node.state = std::move(verdict.state);
        node.outcomes.clear();
        return std::move(verdict.decision);
    }

    Node node;
    std::vector<NodeStall> stalls;
};

}  // namespace evictd::policy
