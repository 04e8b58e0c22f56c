// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "disk_evictions.hpp"

#include <gtest/gtest.h>

#include "node.hpp"

namespace evictd::policy {
namespace {

using namespace testing;

ObservedPod on_disk(const std::string& name, Bytes volumes, bool partial = false) {
    ObservedPod observed = pod({.name = name, .cgroup = std::hash<std::string>()(name)});
    observed.usage->disk.volumes = volumes;
    observed.usage->disk_partial = partial;
    return observed;
}

Node short_of_disk(std::vector<ObservedPod> pods) {
    Node node;
    node.config.thresholds = {hard(10_GiB, std::nullopt, Signal::imagefs_available)};
    node.config.garbage = {};
    node.pods = std::move(pods);
    node.set(5_GiB, Signal::imagefs_available, 100_GiB);
    return node;
}

// The first look asks for a reclaim, which gives nothing; the second evicts.
Decision evict_after_reclaim(Node& node, Duration since) {
    const auto asked = node.look(since);
    return asked.evict ? asked : node.look(since + 1ms);
}

void be_calm_for_a_look(Node& node, Duration since) {
    node.set(50_GiB, Signal::imagefs_available, 100_GiB);
    node.look(since);
    node.set(5_GiB, Signal::imagefs_available, 100_GiB);
}

struct Seen {
    std::string pod;
    bool populated;
    std::optional<bool> on_disk;
    std::optional<bool> volumes{};
};

Decision look_with(Node& node, Duration since, const std::vector<Seen>& victims) {
    auto observation = node.observe(since);
    for (const auto& seen : victims) {
        observation.victims.push_back({.pod = {"uid-" + seen.pod},
                                       .cgroup = {std::hash<std::string>()(seen.pod)},
                                       .populated = seen.populated,
                                       .held = Bytes{0},
                                       .on_disk = seen.on_disk,
                                       .volumes = seen.volumes});
    }
    Verdict verdict = decide(node.config, observation, node.state);
    node.state = std::move(verdict.state);
    node.outcomes.clear();
    return std::move(verdict.decision);
}

TEST(DiskEvictions, WaitForWhatIsNotKnown) {
    auto node = short_of_disk({on_disk("small", 1_GiB), on_disk("late", 0_B, true)});
    auto decision = evict_after_reclaim(node, 0s);
    EXPECT_FALSE(decision.evict);
    EXPECT_NE(decision.why.find("the disk usage of default/late is not known yet"), std::string::npos) << decision.why;
    ASSERT_TRUE(decision.disk_unknown);
    EXPECT_EQ(node.observe(1s).pods.at(decision.disk_unknown->first).pod->name, "late");
    EXPECT_TRUE(decision.disk_unknown->fresh);
    decision = evict_after_reclaim(node, 1s);
    ASSERT_TRUE(decision.disk_unknown);
    EXPECT_FALSE(decision.disk_unknown->fresh);
    node.find("late").usage->disk.volumes = 3_GiB;
    node.find("late").usage->disk_partial = false;
    EXPECT_EQ(evicted(evict_after_reclaim(node, 2s)), "uid-late");
}

TEST(DiskEvictions, WhatIsNotKnownWithinTenSecondsIsNotChosen) {
    auto node = short_of_disk({on_disk("small", 1_GiB), on_disk("unknown", 0_B, true)});
    EXPECT_FALSE(evict_after_reclaim(node, 0s).evict);
    EXPECT_FALSE(evict_after_reclaim(node, 9s).evict);
    EXPECT_EQ(evicted(evict_after_reclaim(node, 11s)), "uid-small");
}

TEST(DiskEvictions, NobodyOfWhomSomethingIsKnown) {
    auto node = short_of_disk({on_disk("unknown", 0_B, true)});
    EXPECT_FALSE(evict_after_reclaim(node, 0s).evict);
    const auto decision = evict_after_reclaim(node, 11s);
    EXPECT_FALSE(decision.evict);
    EXPECT_NE(decision.why.find("unable to evict any pods"), std::string::npos) << decision.why;
}

// A reclaim that takes long is part of the wait, and so is one after the other.
TEST(DiskEvictions, TheWaitIsTheFirstTenSecondsOfThePressure) {
    auto node = short_of_disk({on_disk("small", 1_GiB), on_disk("unknown", 0_B, true)});
    EXPECT_FALSE(node.look(0s).evict);
    EXPECT_EQ(evicted(node.look(35s)), "uid-small") << "the reclaim took 35 s";
}

TEST(DiskEvictions, PressureThatComesAndGoesBeginsNoNewWaitEachTime) {
    auto node = short_of_disk({on_disk("small", 1_GiB), on_disk("unknown", 0_B, true)});
    EXPECT_FALSE(evict_after_reclaim(node, 0s).evict);
    be_calm_for_a_look(node, 9s);
    EXPECT_EQ(evicted(evict_after_reclaim(node, 11s)), "uid-small");
}

TEST(DiskEvictions, PressureLongAfterIsANewWait) {
    auto node = short_of_disk({on_disk("small", 1_GiB), on_disk("unknown", 0_B, true)});
    EXPECT_FALSE(evict_after_reclaim(node, 0s).evict);
    be_calm_for_a_look(node, 1s);
    EXPECT_FALSE(evict_after_reclaim(node, 20s).evict);
    EXPECT_FALSE(evict_after_reclaim(node, 29s).evict);
    EXPECT_EQ(evicted(evict_after_reclaim(node, 31s)), "uid-small");
}

TEST(DiskEvictions, PressureThatWasAwayForThreeSecondsIsANewWait) {
    auto node = short_of_disk({on_disk("small", 1_GiB), on_disk("unknown", 0_B, true)});
    EXPECT_FALSE(evict_after_reclaim(node, 0s).evict);
    be_calm_for_a_look(node, 6s);
    EXPECT_FALSE(evict_after_reclaim(node, 11s).evict);
    EXPECT_EQ(evicted(evict_after_reclaim(node, 22s)), "uid-small");
}

// What pods kept as the first was crossed says nothing of who crosses the second.
TEST(DiskEvictions, AnotherThresholdLongAfterIsANewWait) {
    auto node = short_of_disk({on_disk("unknown", 0_B, true)});
    node.config.thresholds.push_back(hard(10_GiB, std::nullopt, Signal::nodefs_available));
    node.set(50_GiB, Signal::nodefs_available, 100_GiB);
    EXPECT_FALSE(evict_after_reclaim(node, 0s).evict);
    node.pods.push_back(on_disk("small", 1_GiB));
    node.set(5_GiB, Signal::nodefs_available, 100_GiB);
    EXPECT_FALSE(evict_after_reclaim(node, 31s).evict);
    EXPECT_EQ(evicted(evict_after_reclaim(node, 42s)), "uid-small");
}

// The wait for the first is over as soon as all is known, and the second has one of its own.
TEST(DiskEvictions, ACrossingAfterAllWasKnownIsANewWait) {
    auto node = short_of_disk({on_disk("small", 1_GiB), on_disk("late", 0_B, true)});
    node.config.thresholds.front().grace_period = 1min;
    node.config.thresholds.push_back(hard(10_GiB, std::nullopt, Signal::nodefs_available));
    node.set(50_GiB, Signal::nodefs_available, 100_GiB);
    node.look(0s);
    node.find("late").usage->disk_partial = false;
    node.look(2s);
    node.find("late").usage->disk_partial = true;
    node.set(5_GiB, Signal::nodefs_available, 100_GiB);
    EXPECT_FALSE(evict_after_reclaim(node, 4s).evict);
    EXPECT_FALSE(evict_after_reclaim(node, 13s).evict) << "9 s after the second crossing";
    EXPECT_EQ(evicted(evict_after_reclaim(node, 15s)), "uid-small");
}

TEST(DiskEvictions, AWaitForDiskUsesUpNoneForMemory) {
    auto node = short_of_disk({on_disk("small", 1_GiB), on_disk("unknown", 0_B, true)});
    EXPECT_FALSE(evict_after_reclaim(node, 0s).evict);
    EXPECT_FALSE(node.state.awaiting_since);
}

TEST(DiskEvictions, MemoryThatRunsShortDuringAReclaimGoesFirst) {
    auto node = short_of_disk({on_disk("disk", 4_GiB), on_disk("memory", 1_GiB)});
    node.config.thresholds.push_back(hard(100_MiB));
    node.find("memory").usage->working_set = 2_GiB;
    node.set(1_GiB);
    EXPECT_FALSE(node.look(0s).evict);
    node.set(50_MiB);
    const Decision decision = node.look(1s);
    EXPECT_EQ(evicted(decision), "uid-memory");
    EXPECT_FALSE(decision.reclaimed) << "the disk is short still";
}

// At least so much is known, and the kubelet would go by that.
TEST(DiskEvictions, APartIsEnoughAfterTenSeconds) {
    auto node = short_of_disk({on_disk("small", 1_GiB), on_disk("large", 4_GiB, true)});
    EXPECT_FALSE(evict_after_reclaim(node, 0s).evict);
    EXPECT_EQ(evicted(evict_after_reclaim(node, 11s)), "uid-large");
}

TEST(DiskEvictions, NoneWhileThePodsUsageCouldNotBeRead) {
    auto node = short_of_disk({on_disk("one", 1_GiB)});
    node.usage_unknown = true;
    EXPECT_FALSE(evict_after_reclaim(node, 0s).evict);
}

TEST(DiskEvictions, TheNextWaitsUntilTheVictimsVolumesAreRemoved) {
    auto node = short_of_disk({on_disk("first", 4_GiB), on_disk("second", 3_GiB)});
    auto decision = evict_after_reclaim(node, 0s);
    ASSERT_EQ(evicted(decision), "uid-first");
    node.carry_out(decision, OutcomeStatus::delivered, 2ms);
    node.find("first").populated = false;
    (void)look_with(node, 1s, {{"first", false, true}});
    ASSERT_EQ(node.state.freeing.size(), 1U);
    decision = look_with(node, 2s, {{"first", false, true}});
    EXPECT_FALSE(decision.evict);
    EXPECT_NE(decision.why.find("waiting for the disk space of the last evicted pod (default/first)"),
              std::string::npos)
        << decision.why;
    decision = look_with(node, 3s, {{"first", false, false}});
    EXPECT_EQ(node.state.freeing.size(), 1U) << "the filesystem was not asked since";
    EXPECT_FALSE(decision.evict);
    decision = look_with(node, 4s, {{"first", false, false}});
    EXPECT_TRUE(node.state.freeing.empty());
    EXPECT_EQ(evicted(decision.evict ? decision : node.look(4s + 1ms)), "uid-second");
}

TEST(DiskEvictions, VolumesThatStayHoldTheNextUpForThirtySeconds) {
    auto node = short_of_disk({on_disk("first", 4_GiB), on_disk("second", 3_GiB)});
    auto decision = evict_after_reclaim(node, 0s);
    node.carry_out(decision, OutcomeStatus::delivered, 2ms);
    node.find("first").populated = false;
    for (const auto since : {1s, 2s, 10s, 30s}) {
        decision = look_with(node, since, {{"first", false, true}});
        EXPECT_FALSE(decision.evict) << since.count();
    }
    (void)look_with(node, 31s + 1ms, {{"first", false, true}});
    EXPECT_EQ(evicted(look_with(node, 31s + 2ms, {{"first", false, true}})), "uid-second");
}

// The eviction was enough, and what is left is what the reclaim of the next crossing takes.
TEST(DiskEvictions, DeadContainersAreNotWaitedForOnceNoThresholdIsMet) {
    auto node = short_of_disk({on_disk("first", 4_GiB), on_disk("second", 3_GiB)});
    auto decision = evict_after_reclaim(node, 0s);
    node.carry_out(decision, OutcomeStatus::delivered, 2ms);
    node.find("first").populated = false;
    (void)look_with(node, 1s, {{"first", false, true, false}});
    ASSERT_EQ(node.state.freeing.size(), 1U) << "the threshold is met still";
    node.set(50_GiB, Signal::imagefs_available, 100_GiB);
    (void)look_with(node, 2s, {{"first", false, true, true}});
    (void)look_with(node, 3s, {{"first", false, true, std::nullopt}});
    ASSERT_EQ(node.state.freeing.size(), 1U) << "its volumes are there";
    (void)look_with(node, 4s, {{"first", false, true, false}});
    node.set(5_GiB, Signal::imagefs_available, 100_GiB);
    (void)look_with(node, 5s, {{"first", false, true, false}});
    EXPECT_EQ(evicted(look_with(node, 5s + 1ms, {{"first", false, true, false}})), "uid-second");
}

TEST(DiskEvictions, DeadContainersAreWaitedForWhileASignalIsNotKnown) {
    auto node = short_of_disk({on_disk("first", 4_GiB), on_disk("second", 3_GiB)});
    auto decision = evict_after_reclaim(node, 0s);
    node.carry_out(decision, OutcomeStatus::delivered, 2ms);
    node.find("first").populated = false;
    (void)look_with(node, 1s, {{"first", false, true, false}});
    node.forget(Signal::imagefs_available);
    (void)look_with(node, 2s, {{"first", false, true, false}});
    EXPECT_EQ(node.state.freeing.size(), 1U);
}

// As in scenarios, and from tapes of agents that did not measure disks.
TEST(DiskEvictions, WithoutAWordOfVolumesNothingIsWaitedFor) {
    auto node = short_of_disk({on_disk("first", 4_GiB), on_disk("second", 3_GiB)});
    auto decision = evict_after_reclaim(node, 0s);
    node.carry_out(decision, OutcomeStatus::delivered, 2ms);
    node.find("first").populated = false;
    (void)look_with(node, 1s, {{"first", false, std::nullopt}});
    EXPECT_TRUE(node.state.freeing.empty());
}

TEST(DiskEvictions, MemoryDoesNotWaitForThem) {
    auto node = short_of_disk({on_disk("one", 1_GiB, true)});
    node.config.thresholds.push_back(hard(100_MiB));
    node.set(50_MiB);
    node.find("one").usage->working_set = 1_GiB;
    EXPECT_EQ(evicted(node.look(0s)), "uid-one");
}

}  // namespace
}  // namespace evictd::policy
