// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Who stands on which rung: only while a memory threshold is near, only who could be evicted, no longer than that, and
// never so that an eviction waits.
#include "ladder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evictd/model/pod_requests.hpp"
#include "qos.hpp"
#include "random_node.hpp"

namespace evictd::policy {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ObservedPod cached(const PodWords& words, Bytes active, Bytes inactive = 0_B) {
    ObservedPod made = pod(words);
    made.usage->usage = made.usage->working_set + inactive;
    made.usage->file = active + inactive;
    return made;
}

std::vector<std::string> rungs_of(const Decision& decision) {
    std::vector<std::string> said;
    for (const auto& rung : decision.ladder) {
        said.push_back(std::string(name(rung.kind)) + " " + rung.pod_name + " " +
                       std::to_string(rung.bytes.value >> 20U));
    }
    return said;
}

struct Ladder : ::testing::Test {
    Node node{
        .config = {.thresholds = {hard(1_GiB)}},
        .pods = {
            cached({.name = "cache", .working_set = 2_GiB, .request = 3_GiB, .cgroup = 11}, 1_GiB, 1_GiB),
            cached({.name = "hog", .working_set = 1_GiB, .cgroup = 12}, 40_MiB),
            cached({.name = "critical", .working_set = 3_GiB, .priority = 2'000'000'000, .cgroup = 13}, 2_GiB),
            cached({.name = "static", .working_set = 3_GiB, .origin = PodOrigin::static_file, .cgroup = 14}, 2_GiB)}};

    static Bytes near() { return 1_GiB + 10_MiB; }
    std::vector<std::string> look(Bytes available, Duration since) { return rungs_of(node.set(available).look(since)); }
    // With the next look: what came of everything that is wanted.
    Observation with_outcomes(Duration since, RungStatus status, Bytes bytes = 0_B, const std::string& error = {}) {
        Observation observation = node.observe(since);
        for (const auto& rung : node.state.ladder.held) {
            observation.rungs.push_back(
                {.rung = rung, .status = status, .at = at(since), .bytes = bytes, .error = error});
        }
        return observation;
    }
    std::vector<std::string> look(const Observation& observation) {
        Verdict verdict = decide(node.config, observation, node.state);
        node.state = std::move(verdict.state);
        return rungs_of(verdict.decision);
    }
};

TEST_F(Ladder, NoPodWhileNoThresholdIsNear) {
    node.config.ladder = {.squeeze = true, .freeze = true};
    EXPECT_THAT(look(1_GiB + 64_MiB, 0s), IsEmpty());
    EXPECT_THAT(look(6_GiB, 1s), IsEmpty());
    EXPECT_FALSE(node.state.ladder.near_at);
}

TEST_F(Ladder, ReclaimIsOnByDefaultAndStartsWithPodsOverTheirRequest) {
    const auto decision = node.set(near()).look(0s);
    EXPECT_THAT(rungs_of(decision), ElementsAre("reclaim default/hog 40", "reclaim default/cache 14"));
    EXPECT_THAT(decision.why, HasSubstr("; reclaiming 40Mi of page cache from default/hog"));
    EXPECT_FALSE(decision.evict);
    EXPECT_EQ(decision.look_again_at, at(20ms));
}

TEST_F(Ladder, InactiveCacheCountsAsAvailableAlreadyAndIsNotAskedFor) {
    node.pods = {cached({.name = "read-once", .working_set = 1_GiB, .cgroup = 11}, 0_B, 4_GiB)};
    EXPECT_THAT(look(near(), 0s), IsEmpty());
}

TEST_F(Ladder, WhatIsCountedAsReclaimableIsNotAskedFor) {
    node.config.memory_available = MemoryAvailable::reclaimable;
    EXPECT_THAT(look(near(), 0s), IsEmpty());
}

TEST_F(Ladder, APodThatGaveEnoughIsAskedAgainSoonAndOneThatDidNotLater) {
    (void)look(near(), 0s);
    EXPECT_THAT(look(with_outcomes(100ms, RungStatus::ended, 64_MiB)), IsEmpty());
    EXPECT_THAT(look(near(), 250ms), IsEmpty());
    EXPECT_THAT(look(near(), 300ms), ElementsAre("reclaim default/hog 40", "reclaim default/cache 14"));
    EXPECT_THAT(look(with_outcomes(400ms, RungStatus::ended, 1_MiB)), IsEmpty());
    EXPECT_THAT(look(near(), 9s), IsEmpty());
    EXPECT_THAT(look(near(), 11s), ElementsAre("reclaim default/hog 40", "reclaim default/cache 14"));
    EXPECT_THAT(look(with_outcomes(12s, RungStatus::failed, 0_B, "not on this kernel")), IsEmpty());
    EXPECT_THAT(look(near(), 4min), IsEmpty());
}

TEST_F(Ladder, AReclaimEndsWhenItIsEnoughAndAfterASecondInAnyCase) {
    EXPECT_EQ(look(near(), 0s).size(), 2U);
    EXPECT_THAT(look(1_GiB + 70_MiB, 50ms), IsEmpty());
    EXPECT_EQ(look(near(), 500ms).size(), 2U);
    EXPECT_EQ(look(near(), 1499ms).size(), 2U);
    EXPECT_THAT(look(near(), 1500ms), IsEmpty()) << "its outcome was lost";
}

TEST_F(Ladder, UnderAHardThresholdThePodIsKilledAndNoRungBegins) {
    const auto decision = node.set(900_MiB).look(0s);
    EXPECT_TRUE(decision.evict);
    EXPECT_THAT(rungs_of(decision), IsEmpty());
}

TEST_F(Ladder, TheGracePeriodOfASoftThresholdIsUsed) {
    node.config.thresholds = {soft(1_GiB, 30s)};
    EXPECT_THAT(look(800_MiB, 0s), ElementsAre("reclaim default/hog 40", "reclaim default/cache 248"));
}

TEST_F(Ladder, AMinimumReclaimCountsOnceItsThresholdIsMet) {
    node.config.thresholds = {hard(1_GiB, 512_MiB)};
    EXPECT_EQ(memory_missing(node.config, node.set(1_GiB).readings, node.state), 64_MiB);
    node.state.first_observed = {{node.config.thresholds[0], at(0s)}};
    EXPECT_EQ(memory_missing(node.config, node.readings, node.state), 64_MiB + 512_MiB);
}

TEST_F(Ladder, APodOverItsRequestIsSqueezedAtWhatIsChargedUntilItIsCalm) {
    node.config.ladder = {.reclaim = false, .squeeze = true};
    EXPECT_THAT(look(near(), 0s), ElementsAre("squeeze default/hog 1024"));
    EXPECT_THAT(look(6_GiB, 1s), ElementsAre("squeeze default/hog 1024")) << "it flaps around the line";
    EXPECT_THAT(look(near(), 2s), ElementsAre("squeeze default/hog 1024"));
    EXPECT_THAT(look(6_GiB, 7s), IsEmpty());
}

TEST_F(Ladder, ASqueezeHasAnEndAndARestOfTheSameLength) {
    node.config.ladder = {.reclaim = false, .squeeze = true, .squeeze_for = 10s};
    EXPECT_EQ(look(near(), 0s).size(), 1U);
    EXPECT_EQ(look(near(), 9s).size(), 1U);
    EXPECT_THAT(look(near(), 10s), IsEmpty());
    EXPECT_THAT(look(near(), 19s), IsEmpty());
    EXPECT_EQ(look(near(), 20s).size(), 1U);
}

TEST_F(Ladder, TheFastestGrowingPodIsFrozenBrieflyAndNotAgainAtOnce) {
    node.config.ladder = {.reclaim = false, .freeze = true, .freeze_for = 500ms};
    node.config.thresholds = {soft(1_GiB, 1min)};
    (void)look(6_GiB, 0s);
    node.find("hog").usage->working_set += 50_MiB;
    node.find("critical").usage->working_set += 500_MiB;
    EXPECT_THAT(look(near(), 50ms), ElementsAre("freeze default/hog 0"));
    EXPECT_THAT(look(near(), 549ms), ElementsAre("freeze default/hog 0"));
    node.find("hog").usage->working_set += 500_MiB;
    EXPECT_THAT(look(near(), 550ms), IsEmpty());
    node.find("hog").usage->working_set += 500_MiB;
    EXPECT_THAT(look(near(), 1049ms), IsEmpty());
    node.find("hog").usage->working_set += 500_MiB;
    EXPECT_THAT(look(near(), 1050ms), ElementsAre("freeze default/hog 0"));
    EXPECT_THAT(look(6_GiB, 1060ms), IsEmpty()) << "no pressure any more";
}

TEST_F(Ladder, APodThatCameSinceTheLastIntervalIsFrozenToo) {
    node.config.ladder = {.reclaim = false, .freeze = true, .freeze_for = 500ms};
    auto known_later = node.pods;
    node.remove("hog");
    (void)look(6_GiB, 0s);
    node.pods = std::move(known_later);
    (void)look(6_GiB, 20ms);  // and nothing calls for a look until memory is short
    node.find("hog").usage->working_set += 100_MiB;
    EXPECT_THAT(look(near(), 2s), ElementsAre("freeze default/hog 0"));
}

TEST_F(Ladder, AVictimIsOnNoRungOnceItsGracePeriodBegins) {
    node.config.thresholds = {soft(1_GiB, 1s)};
    node.config.ladder = {.reclaim = false, .squeeze = true, .squeeze_for = 1min};
    node.config.max_pod_grace_period = 20s;
    EXPECT_THAT(look(900_MiB, 0s), ElementsAre("squeeze default/hog 1024"));
    const auto decision = node.look(1s);
    EXPECT_EQ(evicted(decision), "uid-hog");
    EXPECT_THAT(rungs_of(decision), IsEmpty());
}

TEST_F(Ladder, APodThatIsGoneOrReplacedUnderItsNameIsReleased) {
    node.config.ladder = {.reclaim = false, .squeeze = true};
    (void)look(near(), 0s);
    node.find("hog").cgroup = {99};
    const auto decision = node.set(near()).look(1s);
    ASSERT_EQ(decision.ladder.size(), 1U);
    EXPECT_EQ(decision.ladder[0].cgroup, CgroupId{99});
    node.remove("hog");
    EXPECT_THAT(look(near(), 2s), IsEmpty());
}

// What holds for every node and every course of events.
TEST(LadderAlways, IsClimbedOnlyByEligiblePodsAndOnlyWhileItIsNeeded) {
    int seen = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
        Dice dice(seed);
        Node node = random_node(dice);
        node.config.ladder = {.reclaim = !dice.one_in(4), .squeeze = dice.one_in(2), .freeze = dice.one_in(2)};
        Duration since{0};
        for (int i = 0; i < 30; ++i) {
            change_something(dice, node);
            for (auto& one : node.pods) {
                if (one.usage) one.usage->file = dice.bytes();
            }
            since += std::chrono::milliseconds(dice.below(3000));
            const Observation observation = node.observe(since);
            const auto before = node.state.ladder.held;
            const Decision decision = node.look(since);
            node.carry_out(decision, OutcomeStatus::delivered, since);
            const bool near = memory_missing(node.config, observation.readings, node.state) > 0_B;
            for (const auto& rung : decision.ladder) {
                ++seen;
                const auto found = std::find_if(observation.pods.begin(), observation.pods.end(),
                                                [&](const ObservedPod& one) { return one.pod->uid == rung.pod; });
                ASSERT_NE(found, observation.pods.end()) << seed;
                EXPECT_FALSE(is_critical_pod(*found->pod)) << seed;
                EXPECT_EQ(found->pod->origin, PodOrigin::api) << seed;
                EXPECT_TRUE(found->populated) << seed;
                EXPECT_GT(rung.until, observation.at) << seed;
                EXPECT_TRUE(std::none_of(decision.in_flight.begin(), decision.in_flight.end(),
                                         [&](const Victim& victim) { return victim.pod == rung.pod; }))
                    << seed;
                if (std::find(before.begin(), before.end(), rung) != before.end()) continue;
                EXPECT_TRUE(near) << seed;
                if (rung.kind != RungKind::squeeze) continue;
                const auto request = pod_request(*found->pod, &ResourceList::memory).value();
                EXPECT_GT(found->usage->working_set.value, request) << seed;
                EXPECT_GE(rung.bytes, found->usage->usage) << seed;
            }
        }
    }
    EXPECT_GT(seen, 1000) << "the property was put to the test";
}

}  // namespace
}  // namespace evictd::policy
