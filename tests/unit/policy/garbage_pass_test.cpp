// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// When garbage is removed, until when, and when a pod is evicted after all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reclaim_node.hpp"

namespace evictd::policy::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(GarbagePass, TheDecisionNamesAllThatGoesUntilItIsDone) {
    ReclaimNode node;
    const Decision first = node.disk(0s, 9_GiB);
    EXPECT_THAT(first.reclaim, ElementsAre(NodeReclaim::containers, NodeReclaim::images));
    EXPECT_EQ(named(first), "c, " + image_id(1) + ", " + image_id(2) + ", " + image_id(3));
    EXPECT_TRUE(first.garbage.forced);
    EXPECT_EQ(first.garbage.pass, 1U);
    EXPECT_EQ(first.garbage.deadline, at(30s));
    EXPECT_THAT(first.why, HasSubstr("are removed before any pod is evicted: 1 container and 3 images, 3Gi"));
    const Decision second = node.disk(1s, 9_GiB);
    EXPECT_THAT(second.reclaim, IsEmpty());
    EXPECT_EQ(named(second), named(first));
    EXPECT_EQ(second.garbage.pass, 1U);
    EXPECT_EQ(evicted(second), "");
    ReclaimOutcome outcome = ReclaimNode::done(first);
    outcome.freed = 2_GiB;
    const Decision third = node.disk(2s, 11_GiB, outcome);
    EXPECT_EQ(third.garbage.pass, 0U);
    EXPECT_EQ(named(third), "");
    EXPECT_TRUE(third.reclaimed);
    EXPECT_THAT(third.why, HasSubstr("was enough (2Gi freed)"));
}

TEST(GarbagePass, WhatWasNotEnoughEvictsAPod) {
    ReclaimNode node;
    const Decision first = node.disk(0s, 9_GiB);
    EXPECT_EQ(evicted(node.disk(1s, 9_GiB, ReclaimNode::done(first))), "uid-web");
}

TEST(GarbagePass, TheOutcomeOfAnotherPassIsNotMixedUp) {
    ReclaimNode node;
    const Decision first = node.disk(0s, 9_GiB);
    ReclaimOutcome other = ReclaimNode::done(first);
    ++other.pass;
    EXPECT_EQ(evicted(node.disk(1s, 9_GiB, other)), "");
    EXPECT_EQ(evicted(node.disk(2s, 9_GiB, ReclaimNode::done(first))), "uid-web");
}

TEST(GarbagePass, ARuntimeThatHangsHoldsUpNoEvictionBeyondTheDeadline) {
    ReclaimNode node;
    node.config.garbage.deadline = 5s;
    const Decision first = node.disk(0s, 9_GiB);
    EXPECT_EQ(first.look_again_at, at(5s));
    EXPECT_EQ(evicted(node.disk(4999ms, 9_GiB)), "");
    EXPECT_EQ(evicted(node.disk(5s, 9_GiB)), "uid-web");
}

TEST(GarbagePass, WithoutARuntimeAPodIsEvictedAtTheNextLook) {
    ReclaimNode node;
    node.listed.reset();
    const Decision first = node.disk(0s, 9_GiB);
    EXPECT_EQ(evicted(first), "");
    EXPECT_EQ(first.look_again_at, at(1ms));
    EXPECT_EQ(first.next_look.why, NextLookReason::reclaim);
    EXPECT_EQ(evicted(node.disk(0s, 9_GiB)), "uid-web");
}

TEST(GarbagePass, WhereNothingCanGoAPodIsEvictedAtOnceAndTheRuntimeIsNotAskedAgainForAWhile) {
    ReclaimNode node;
    node.inventory.runtime.images.clear();
    node.inventory.runtime.containers.clear();
    const Decision first = node.disk(0s, 9_GiB);
    EXPECT_EQ(first.look_again_at, at(1ms));
    EXPECT_EQ(first.garbage.pass, 1U);
    EXPECT_EQ(evicted(node.disk(1ms, 9_GiB)), "uid-web");
    node.remove("web");
    const Decision third = node.disk(9s, 9_GiB);
    EXPECT_THAT(third.reclaim, ElementsAre(NodeReclaim::containers, NodeReclaim::images));
    EXPECT_EQ(third.garbage.inventory_since, at(9s)) << "the victim may have left garbage";
    node.listed = 9500ms;
    EXPECT_THAT(node.disk(9501ms, 9_GiB).why, HasSubstr("unable to evict"));
    const Decision same = node.disk(10s, 9_GiB);
    EXPECT_FALSE(same.garbage.inventory_since);
    EXPECT_EQ(same.garbage.pass, 0U) << "by the same inventory";
    EXPECT_THAT(node.disk(10001ms, 9_GiB).why, HasSubstr("unable to evict"));
    const Decision later = node.disk(20s, 9_GiB);
    EXPECT_EQ(later.garbage.inventory_since, at(20s));
    EXPECT_THAT(node.disk(21s, 9_GiB).why, Not(HasSubstr("unable to evict"))) << "it is waited for";
}

TEST(GarbagePass, BeforeAPodIsEvictedTheRuntimeIsAskedAgainASecondAfterItHadNothing) {
    ReclaimNode node;
    node.inventory.runtime.images.clear();
    node.inventory.runtime.containers.clear();
    node.pods.front().usage->disk_partial = true;  // evictions wait for its figures
    (void)node.disk(0s, 9_GiB);
    EXPECT_EQ(evicted(node.disk(1ms, 9_GiB)), "");
    EXPECT_FALSE(node.disk(900ms, 9_GiB).garbage.inventory_since);
    (void)node.disk(901ms, 9_GiB);
    EXPECT_EQ(node.disk(1100ms, 9_GiB).garbage.inventory_since, at(1100ms)) << "a container may have died meanwhile";
}

TEST(GarbagePass, ThatNothingCanGoIsOnlyKnownFromAnInventoryOfNow) {
    ReclaimNode node;
    auto garbage = node.inventory.runtime;
    node.inventory.runtime.images.clear();
    node.inventory.runtime.containers.clear();
    const Decision first = node.disk(5s, 9_GiB);
    EXPECT_EQ(first.garbage.inventory_since, at(5s));
    EXPECT_EQ(evicted(node.disk(5001ms, 9_GiB)), "");
    node.inventory.runtime = std::move(garbage);
    node.listed = 5100ms;
    EXPECT_EQ(named(node.disk(5200ms, 9_GiB)), "c, " + image_id(1) + ", " + image_id(2) + ", " + image_id(3));
}

TEST(GarbagePass, ALieOfSizesTakesAnotherRoundAndOnlyThenAPod) {
    ReclaimNode node;
    node.config.garbage.images = ReclaimedImages::enough;
    const Decision first = node.disk(0s, 9_GiB);
    EXPECT_EQ(named(first), "c, " + image_id(1));
    node.inventory.runtime.containers.clear();
    node.inventory.runtime.images.erase(node.inventory.runtime.images.begin());
    const Decision second = node.disk(1s, Bytes{(9_GiB).value + 1}, ReclaimNode::done(first));
    EXPECT_EQ(evicted(second), "");
    EXPECT_EQ(second.garbage.inventory_since, at(1s));
    EXPECT_EQ(second.garbage.deadline, at(30s)) << "that of the first";
    node.listed = 1s;
    const Decision third = node.disk(2s, Bytes{(9_GiB).value + 1});
    EXPECT_EQ(named(third), image_id(2));
    EXPECT_EQ(third.garbage.pass, 2U);
    node.inventory.runtime.images.erase(node.inventory.runtime.images.begin());
    (void)node.disk(3s, 9_GiB, ReclaimNode::done(third));
    node.listed = 3s;
    const Decision fourth = node.disk(4s, 9_GiB);
    EXPECT_EQ(named(fourth), image_id(3));
    node.inventory.runtime.images.clear();
    EXPECT_EQ(evicted(node.disk(5s, 9_GiB, ReclaimNode::done(fourth))), "uid-web");
}

TEST(GarbagePass, EnoughCountsTheMinimumReclaim) {
    ReclaimNode node;
    node.config.garbage.images = ReclaimedImages::enough;
    node.config.thresholds[0].min_reclaim = ThresholdValue{quantity(1_GiB)};
    EXPECT_EQ(named(node.disk(0s, 9_GiB)), "c, " + image_id(1) + ", " + image_id(2));
    ReclaimNode inodes;
    inodes.config.garbage.images = ReclaimedImages::enough;
    inodes.config.thresholds.push_back(hard(1000_B, std::nullopt, Signal::nodefs_inodes_free));
    inodes.set(10_B, Signal::nodefs_inodes_free, 10000_B);
    EXPECT_EQ(inodes.disk(0s, 9_GiB).garbage.removals.size(), 4U) << "sizes say nothing of inodes";
}

// Of the fate of pods only proofs count.
TEST(GarbagePass, TheContentOfAPodThatNoSourceKnowsStays) {
    ReclaimNode node;
    node.config.garbage.images = ReclaimedImages::unused;
    node.inventory.runtime.images.clear();
    node.remove("job");
    EXPECT_EQ(named(node.disk(0s, 9_GiB)), "");
    ReclaimNode populated;
    populated.find("job").populated = true;
    populated.inventory.runtime.images.clear();
    EXPECT_EQ(named(populated.disk(0s, 9_GiB)), "") << "it has ended, and has processes";
    ReclaimNode departed;
    departed.find("job").departed = true;
    departed.inventory.runtime.images.clear();
    EXPECT_EQ(named(departed.disk(0s, 9_GiB)), "");
}

TEST(GarbagePass, OnlyWhatRelievesTheSignalGoes) {
    ReclaimNode node;
    node.layout = FsLayout::split;
    EXPECT_EQ(named(node.disk(0s, 9_GiB)), "c");
    ReclaimNode logs;
    logs.layout = FsLayout::dedicated_image_fs;
    logs.config.garbage.logs = ReclaimedLogs::truncate_rotated;
    logs.inventory.runtime.rotated_logs = {{"/p/0.log.20261125-150405", "c", "uid-web", 1_GiB}};
    const Decision decision = logs.disk(0s, 9_GiB);
    EXPECT_THAT(decision.reclaim, ElementsAre(NodeReclaim::logs));
    EXPECT_EQ(named(decision), "/p/0.log.20261125-150405");
}

TEST(GarbagePass, NothingIsRemovedWhileTheNodeShutsDown) {
    ReclaimNode node;
    (void)node.disk(0s, 9_GiB);
    node.set(9_GiB, Signal::nodefs_available, 100_GiB);
    Observation observation = node.observe(1s);
    observation.logind = LogindView{.shuts_down = true, .said_at = at(1s), .current = true};
    const Decision decision = decide(node.config, observation, node.state).decision;
    ASSERT_NE(decision.shutdown, ShutdownWord::none);
    EXPECT_EQ(decision.garbage.pass, 0U);
    EXPECT_EQ(named(decision), "");
}

TEST(GarbagePass, RoutineFollowsTheKubeletsPeriods) {
    ReclaimNode node;
    node.config.garbage.routine = true;
    node.find("job").pod = [&] {
        Pod gone = *node.find("job").pod;
        gone.deletion_time = WallTime(1s);
        return std::make_shared<const Pod>(gone);
    }();
    const Decision first = node.disk(1s, 10_GiB);  // 90 % used, no threshold is met
    EXPECT_THAT(first.reclaim, IsEmpty());
    EXPECT_FALSE(first.garbage.forced);
    EXPECT_EQ(named(first), "c, " + image_id(1) + ", " + image_id(2) + ", " + image_id(3));
    EXPECT_EQ(named(node.disk(2s, 10_GiB)), named(first)) << "until it is done";
    EXPECT_EQ(node.disk(3s, 10_GiB, ReclaimNode::done(first)).garbage.pass, 0U);
    node.listed = 60s;
    EXPECT_EQ(node.disk(60s, 10_GiB).garbage.pass, 0U);
    EXPECT_EQ(named(node.disk(61s, 10_GiB)), "c") << "images every five minutes";
    node.config.garbage.routine = false;
    EXPECT_EQ(node.disk(62s, 10_GiB).garbage.pass, 0U);
}

TEST(GarbagePass, RoutineAsksForAnInventoryThatIsNewEnough) {
    ReclaimNode node;
    node.config.garbage.routine = true;
    const Decision first = node.disk(20s, 10_GiB);
    EXPECT_EQ(first.garbage.inventory_since, at(20s));
    node.listed = 21s;
    EXPECT_EQ(node.disk(22s, 10_GiB).garbage.pass, 1U);
}

// Without a disk signal and without an inventory there is nothing to do.
TEST(GarbagePass, ACalmNodeDesiresNothing) {
    ReclaimNode node;
    EXPECT_EQ(node.disk(0s, 50_GiB).garbage.pass, 0U);
    node.config.garbage.routine = true;
    node.listed.reset();
    const Decision decision = node.disk(1s, 50_GiB);
    EXPECT_EQ(decision.garbage.pass, 0U);
    EXPECT_FALSE(decision.garbage.inventory_since);
}

}  // namespace
}  // namespace evictd::policy::testing
