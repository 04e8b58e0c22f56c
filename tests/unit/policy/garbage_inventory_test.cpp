// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which inventory garbage is chosen from: one that is old, late, incomplete or used up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reclaim_node.hpp"

namespace evictd::policy::testing {
namespace {

using ::testing::HasSubstr;

TEST(GarbageInventory, AnOldInventoryIsAskedForAnewAndWaitedForUntilTheDeadline) {
    ReclaimNode node;
    const Decision first = node.disk(11s, 9_GiB);
    EXPECT_EQ(named(first), "");
    EXPECT_EQ(first.garbage.pass, 0U);
    EXPECT_EQ(first.garbage.inventory_since, at(11s));
    EXPECT_THAT(first.why, HasSubstr("waiting for a current list from the container runtime"));
    node.listed = 10s;  // begun before it was asked for
    EXPECT_EQ(named(node.disk(12s, 9_GiB)), "");
    node.listed = 12s;
    const Decision third = node.disk(13s, 9_GiB);
    EXPECT_FALSE(third.garbage.inventory_since);
    EXPECT_EQ(third.garbage.removals.size(), 4U);
    EXPECT_EQ(third.garbage.deadline, at(41s)) << "since it began to wait";

    ReclaimNode other;
    (void)other.disk(11s, 9_GiB);
    EXPECT_EQ(evicted(other.disk(40s, 9_GiB)), "");
    EXPECT_EQ(evicted(other.disk(41s, 9_GiB)), "uid-web");
}

// It takes the runtime longer to list than an inventory may be old that nobody waited for.
TEST(GarbageInventory, ASlowRuntimesInventoryCountsForItWasAskedFor) {
    ReclaimNode node;
    (void)node.disk(11s, 9_GiB);
    node.listed = 11s;
    const Decision decision = node.disk(26s, 9_GiB);
    EXPECT_EQ(decision.garbage.removals.size(), 4U);
    EXPECT_EQ(evicted(decision), "");

    ReclaimNode routine;
    routine.config.garbage.routine = true;
    (void)routine.disk(20s, 10_GiB);
    routine.listed = 21s;
    EXPECT_EQ(routine.disk(36s, 10_GiB).garbage.pass, 1U);
}

TEST(GarbageInventory, AnIncompleteInventoryIsAskedForAgainUntilTheDeadline) {
    ReclaimNode node;
    node.inventory.runtime.whole = {};
    const Decision first = node.disk(0s, 9_GiB);
    EXPECT_EQ(first.garbage.inventory_since, at(0s));
    EXPECT_EQ(first.look_again_at, at(1s));
    EXPECT_EQ(first.garbage.deadline, at(30s));
    EXPECT_EQ(node.disk(500ms, 9_GiB).garbage.inventory_since, at(0s)) << "not at once: it may refuse";
    const Decision third = node.disk(1s, 9_GiB);
    EXPECT_EQ(third.garbage.inventory_since, at(1s));
    EXPECT_EQ(evicted(third), "");
    node.listed = 2s;
    node.inventory.runtime.whole = {.images = true, .sandboxes = true, .containers = true, .logs = true};
    EXPECT_EQ(node.disk(3s, 9_GiB).garbage.removals.size(), 4U);

    ReclaimNode other;
    other.inventory.runtime.whole = {};
    (void)other.disk(0s, 9_GiB);
    other.listed = 29s;
    EXPECT_EQ(other.disk(29500ms, 9_GiB).look_again_at, at(30s));
    EXPECT_EQ(evicted(other.disk(30s, 9_GiB)), "uid-web");
    other.remove("web");
    EXPECT_FALSE(other.disk(31s, 9_GiB).garbage.inventory_since) << "nor by the same one again";
}

TEST(GarbageInventory, WhatIsInTheListsThatAreWholeGoesMeanwhileAndThenTheyAreAskedForAgain) {
    ReclaimNode node;
    node.config.garbage.logs = ReclaimedLogs::truncate_rotated;
    node.inventory.runtime.rotated_logs = {{"/p/0.log.20261125-150405", "c", "uid-web", 1_GiB}};
    node.inventory.runtime.whole.images = false;
    const Decision first = node.disk(0s, 5_GiB);
    EXPECT_EQ(named(first), "c") << "no rotated log, which cannot be pulled again";
    const Decision second = node.disk(1s, 5_GiB, ReclaimNode::done(first));
    EXPECT_EQ(evicted(second), "");
    EXPECT_EQ(second.garbage.inventory_since, at(1s));
    node.listed = 1s;
    node.inventory.runtime.containers.clear();
    node.inventory.runtime.whole.images = true;
    const Decision third = node.disk(2s, 5_GiB);
    EXPECT_EQ(third.garbage.removals.size(), 3U) << "the images";
    node.inventory.runtime.images.clear();
    const Decision fourth = node.disk(3s, 5_GiB, ReclaimNode::done(third));
    EXPECT_EQ(evicted(fourth), "") << "the log is left";
    node.listed = 3s;
    EXPECT_EQ(named(node.disk(4s, 5_GiB)), "/p/0.log.20261125-150405");
    // Log directories alone that cannot be listed hold up nothing.
    ReclaimNode bare;
    bare.inventory.runtime.images.clear();
    bare.inventory.runtime.containers.clear();
    bare.inventory.runtime.whole.logs = false;
    (void)bare.disk(0s, 9_GiB);
    EXPECT_EQ(evicted(bare.disk(1ms, 9_GiB)), "uid-web");
}

TEST(GarbageInventory, OfOneInventoryNothingIsRemovedTwice) {
    ReclaimNode node;
    node.pods.erase(node.pods.begin());  // nobody to evict
    const Decision first = node.disk(0s, 9_GiB);
    ReclaimOutcome outcome = ReclaimNode::done(first);
    outcome.removals = {{GarbageKind::container, "c", GarbageStatus::removed, {}}};
    node.disk(1s, 9_GiB, outcome);
    const Decision again = node.disk(2s, 9_GiB);
    EXPECT_EQ(named(again), "");
    EXPECT_EQ(again.garbage.inventory_since, at(2s)) << "what the old one lists may be gone";
    node.listed = 3s;
    EXPECT_EQ(node.disk(4s, 9_GiB).garbage.pass, 2U);
}

TEST(GarbageInventory, WhatCouldNotBeRemovedIsNotTriedAgainWhileTheInventoryIsRecent) {
    ReclaimNode node;
    node.pods.erase(node.pods.begin());
    const Decision first = node.disk(0s, 9_GiB);
    ReclaimOutcome outcome = ReclaimNode::done(first);
    outcome.removals = {{GarbageKind::container, "c", GarbageStatus::failed, "it is stuck"}};
    node.disk(1s, 9_GiB, outcome);
    const Decision again = node.disk(2s, 9_GiB);
    EXPECT_EQ(named(again), "");
    EXPECT_FALSE(again.garbage.inventory_since);
    node.disk(2s + 1ms, 9_GiB);
    EXPECT_TRUE(node.disk(11s, 9_GiB).garbage.inventory_since);
}

TEST(GarbageInventory, AfterAVictimEndedANewOneIsAskedFor) {
    ReclaimNode node;
    node.inventory.runtime.images.clear();
    node.inventory.runtime.containers.clear();
    node.disk(0s, 9_GiB);
    const Decision evicting = node.disk(0s + 1ms, 9_GiB);
    ASSERT_EQ(evicted(evicting), "uid-web");
    node.carry_out(evicting, OutcomeStatus::delivered, 1ms);
    node.pods[0].populated = false;
    node.disk(1s, 9_GiB);
    const Decision again = node.disk(2s, 9_GiB);
    EXPECT_TRUE(again.garbage.inventory_since) << again.why;
}

}  // namespace
}  // namespace evictd::policy::testing
