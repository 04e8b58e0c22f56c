// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What one look reads of stalls.
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "unit/observe/observing.hpp"

namespace evictd::observe {
namespace {

struct FakeStalls final : port::Stalls {
    void read(MonotonicTime /*now*/, std::vector<NodeStall>& stalls) override { stalls.push_back({}); }
    [[nodiscard]] bool wants_pods() const override { return wanted; }
    void read_pods(bool latency_critical, std::span<const port::StalledPod> pods) override {
        hurried = latency_critical;
        for (const auto& pod : pods)
            pod.stall = PodStall{.reclaimed = {static_cast<std::int64_t>(pod.cgroup.id().value)}};
    }
    bool wanted = true;
    std::optional<bool> hurried;
};

struct ObservingStalls : Observing {
    ObservingStalls() {
        declare({{.id = 1, .level = 1}, {.id = 5, .level = 2, .pod = "uid-b"}, {.id = 2, .level = 2, .pod = "uid-c"}},
                {"uid-a", "uid-b", "uid-c"});
    }
    Observation look(Cause cause = {}) { return with_stalls.look(std::move(cause), table, {}, {}); }

    FakeStalls stalls;
    Observer with_stalls{tree, node, clock, &stalls};
};

TEST_F(ObservingStalls, EachPodWithACgroupIsAskedAboutByItsOwn) {
    const auto observation = look();
    ASSERT_EQ(observation.pods.size(), 3U);
    EXPECT_FALSE(observation.pods[0].stall) << "it has no cgroup";
    EXPECT_EQ(observation.pods[1].stall->reclaimed, 5_B);
    EXPECT_EQ(observation.pods[2].stall->reclaimed, 2_B);
    EXPECT_EQ(observation.stalls.size(), 1U);
}

TEST_F(ObservingStalls, OfPodsOnlyWantedStallsAreRead) {
    stalls.wanted = false;
    EXPECT_FALSE(look().pods[1].stall);
    EXPECT_FALSE(stalls.hurried);
}

TEST_F(ObservingStalls, WhatThePassCountedIsThePods) {
    stalls.wanted = false;
    tree.line(5).stall = PodStall{.some = {0ms, 20ms, 300ms}, .reclaimed = 2_MiB, .reclaimed_for_node = 1_MiB};
    const auto observation = look();
    ASSERT_TRUE(observation.pods[1].stall);
    EXPECT_EQ(observation.pods[1].stall->some, (StallTimes{0ms, 20ms, 300ms}));
    EXPECT_EQ(observation.pods[1].stall->reclaimed, 2_MiB);
    EXPECT_EQ(observation.pods[1].stall->reclaimed_for_node, 1_MiB);
    EXPECT_FALSE(observation.pods[2].stall);
}

TEST_F(ObservingStalls, AnEvictionDoesNotWaitForThem) {
    const auto caused_by = [](KernelEventKind kind) {
        return Cause{.kind = CauseKind::kernel_event, .event = KernelEvent{{}, std::move(kind)}, .detected_at = {}};
    };
    (void)look({.kind = CauseKind::timer, .event = {}, .detected_at = {}});
    EXPECT_EQ(stalls.hurried, false);
    (void)look(caused_by(WatermarkCrossed{}));
    EXPECT_EQ(stalls.hurried, true);
    (void)look(caused_by(CgroupLife{}));
    EXPECT_EQ(stalls.hurried, true);
    (void)look(caused_by(StallTriggered{}));
    EXPECT_EQ(stalls.hurried, false) << "as long as it lasts there is no other look";
}

}  // namespace
}  // namespace evictd::observe
