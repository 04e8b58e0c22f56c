// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A reclaim is told once for each time that a threshold is met, and again when there is something new to remove.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reclaim_node.hpp"

namespace evictd::policy::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// No pod can be evicted.
struct StuckNode : ReclaimNode {
    StuckNode() {
        pods[0] = pod({.name = "web", .priority = 2'000'001'000});
        forget();
    }
    void forget() {
        inventory.runtime.images.clear();
        inventory.runtime.containers.clear();
    }
    // Looks for 30 s, the runtime listed each time that it is asked and what is named removed with `status`. How many
    // reclaims began, how many were announced, and how many ends of announced ones were told.
    struct Told {
        int begun = 0;
        int announced = 0;
        int outcomes = 0;
    };
    Told follow(Duration since, GarbageStatus status = GarbageStatus::failed, Bytes available = 9_GiB) {
        Told told;
        std::optional<ReclaimOutcome> outcome;
        for (Duration now = since; now < since + 30s; now += 100ms) {
            const bool has_outcome = outcome.has_value();
            const Decision decision = disk(now, available, std::exchange(outcome, std::nullopt));
            told.begun += decision.garbage.inventory_since && !decision.reclaim.empty() ? 1 : 0;
            told.announced += decision.announced.empty() ? 0 : 1;
            told.outcomes += has_outcome && !decision.outcome_repeated ? 1 : 0;
            if (decision.garbage.inventory_since) listed = now + 50ms;
            if (!decision.garbage.removals.empty() && !has_outcome) {
                outcome = done(decision);
                outcome->forced = true;
                for (const Garbage& one : decision.garbage.removals) {
                    outcome->removals.push_back({one.kind, one.id, status, {}});
                }
            }
        }
        return told;
    }
};

TEST(ReclaimNews, WhereNothingIsToRemoveAReclaimIsAnnouncedOnceWhileTheThresholdIsMet) {
    StuckNode node;
    const auto told = node.follow(1s);
    EXPECT_EQ(told.announced, 1);
    EXPECT_GE(told.begun, 3) << "it is repeated";
    EXPECT_EQ(node.follow(31s).announced, 0);
    EXPECT_EQ(node.follow(61s, GarbageStatus::failed, 50_GiB).announced, 0);
    EXPECT_EQ(node.follow(91s).announced, 1) << "the threshold is met again";
}

TEST(ReclaimNews, SomethingNewToRemoveIsAnnouncedWithWhatItIs) {
    StuckNode node;
    (void)node.follow(1s);
    node.inventory.image(image_id(1), 1h, 1_GiB);
    Decision decision;
    for (Duration now = 31s; now < 45s && decision.announced.empty(); now += 100ms) {
        decision = node.disk(now, 9_GiB);
        if (decision.garbage.inventory_since) node.listed = now + 50ms;
    }
    EXPECT_THAT(decision.announced, SizeIs(2));
    EXPECT_EQ(named(decision), image_id(1));
    EXPECT_THAT(decision.reclaim, IsEmpty()) << "the runtime was asked before";
}

TEST(ReclaimNews, WhatCannotBeRemovedIsToldOnceWithItsEnd) {
    StuckNode node;
    node.inventory.image(image_id(1), 1h, 1_GiB);
    const auto told = node.follow(1s);
    EXPECT_EQ(told.announced, 1);
    EXPECT_EQ(told.outcomes, 1);
    EXPECT_GE(told.begun, 3);
    node.inventory.image(image_id(2), 1h, 1_GiB);
    const auto more = node.follow(31s);
    EXPECT_EQ(more.announced, 1) << "image 2 is new";
    EXPECT_EQ(more.outcomes, 1);
}

TEST(ReclaimNews, AReclaimAfterOneThatRemovedSomethingIsAnnounced) {
    StuckNode node;
    node.inventory.image(image_id(1), 1h, 1_GiB);
    const auto told = node.follow(1s, GarbageStatus::removed);
    EXPECT_EQ(told.announced, told.begun);
    EXPECT_GE(told.begun, 2);
}

TEST(ReclaimNews, AnotherThresholdIsAnnounced) {
    StuckNode node;
    (void)node.follow(1s);
    node.config.thresholds.insert(node.config.thresholds.begin(), hard(12_GiB, std::nullopt, Signal::nodefs_available));
    EXPECT_EQ(node.follow(31s).announced, 1);
}

// Not: that the filesystem was not read again.
TEST(ReclaimNews, BetweenReadingsItIsSaidThatNothingCanBeRemovedAndNoPodEvicted) {
    StuckNode node;
    (void)node.follow(1s);
    for (const Duration now : {31s, 32s, 33s, 34s}) {
        Observation observation = node.observe(now, 30900ms);
        observation.fs_layout = node.layout;
        auto runtime = std::make_shared<Runtime>(node.inventory.runtime);
        runtime->at = at(*node.listed);
        observation.runtime = runtime;
        Verdict verdict = decide(node.config, observation, node.state);
        node.state = std::move(verdict.state);
        EXPECT_THAT(verdict.decision.why, ::testing::StartsWith("unable to evict any pods from the node: 1 critical; "
                                                                "nodefs.available is 9Gi, under 10Gi for "));
        EXPECT_THAT(verdict.decision.why, ::testing::HasSubstr("; nothing unused could be removed"));
    }
}

TEST(ReclaimNews, WhatWasFreedAndNotEnoughIsSaid) {
    StuckNode node;
    node.inventory.image(image_id(1), 1h, 1_GiB);
    ReclaimOutcome outcome = ReclaimNode::done(node.disk(0s, 9_GiB));
    outcome.removals = {{GarbageKind::image, image_id(1), GarbageStatus::removed, {}}};
    outcome.freed = 512_MiB;
    node.forget();
    EXPECT_EQ(
        node.disk(1s, 9_GiB, outcome).why,
        "unable to evict any pods from the node: 1 critical; nodefs.available is 9Gi, under 10Gi for 1s; removing "
        "unused containers and images freed 512Mi, which was not enough");
}

}  // namespace
}  // namespace evictd::policy::testing
