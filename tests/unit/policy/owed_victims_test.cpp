// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Pods without a process that hold memory, and victims that are not gone yet.
#include <gmock/gmock.h>

#include "unit/policy/followed.hpp"

namespace evictd::policy::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// ---- pods without a process

Followed with_empty_pod(Bytes held) {
    Followed node;
    node.find("big").populated = false;
    node.find("big").usage->working_set = held;
    return node;
}

TEST(EmptyPod, ThatHoldsMemoryIsReportedWhereItsTurnIsAndNoOtherDiesForItAtOnce) {
    Followed node = with_empty_pod(300_MiB);
    Decision decision = node.look(0s);
    EXPECT_EQ(names(decision.ranking, node.pods).front(), "big");
    EXPECT_EQ(decision.ranking.front().exemption, Exemption::none);
    EXPECT_THAT(decision.actions, IsEmpty());
    ASSERT_THAT(decision.owed, SizeIs(1));
    EXPECT_TRUE(decision.owed[0].fresh);
    EXPECT_FALSE(decision.owed[0].evicted);
    EXPECT_THAT(decision.why, HasSubstr("default/big has no process left and holds 300Mi"));
    node.say("big", false, 300_MiB);
    decision = node.look(5ms);
    EXPECT_THAT(decision.actions, IsEmpty());
    EXPECT_EQ(decision.ranking.front().exemption, Exemption::memory_not_returned);
    EXPECT_FALSE(decision.owed.at(0).fresh);
    EXPECT_THAT(node.look(9999ms).actions, IsEmpty());
    EXPECT_EQ(evicted(node.look(10s)), "uid-middle");
}

TEST(EmptyPod, DoesNotProtectAHog) {
    Followed node = with_empty_pod(300_MiB);
    EXPECT_EQ(evicted(node.look(0s)), "");
    node.say("big", false, 300_MiB);
    const Decision decision = node.set(80_MiB).look(5ms);
    EXPECT_EQ(evicted(decision), "uid-middle");
}

TEST(EmptyPod, SeveralAreOneWait) {
    Followed node = with_empty_pod(300_MiB);
    node.find("middle").populated = false;
    const Decision decision = node.look(0s);
    EXPECT_THAT(decision.owed, SizeIs(2));
    node.say("big", false, 300_MiB);
    node.say("middle", false, 200_MiB);
    EXPECT_EQ(evicted(node.look(10s)), "uid-small");
}

TEST(EmptyPod, ThatHoldsNextToNothingIsNoCandidate) {
    Followed node = with_empty_pod(4_MiB);
    node.find("big").pod = pod({.name = "big", .priority = -1}).pod;
    const Decision decision = node.look(0s);
    EXPECT_EQ(evicted(decision), "uid-middle");
    EXPECT_THAT(decision.owed, IsEmpty());
}

TEST(EmptyPod, IsNoCandidateForOtherResources) {
    Followed node = with_empty_pod(300_MiB);
    node.config.thresholds = {hard(1_GiB, std::nullopt, Signal::pid_available)};
    node.set(5_MiB, Signal::pid_available);
    EXPECT_EQ(evicted(node.look(0s)), "uid-middle");
}

TEST(EmptyPod, ThatRunsAgainIsACandidateAgain) {
    Followed node = with_empty_pod(300_MiB);
    node.look(0s);
    node.find("big").populated = true;
    node.say("big", true, std::nullopt);
    EXPECT_EQ(evicted(node.look(5s)), "");
    EXPECT_EQ(evicted(node.look(10s)), "uid-big");
}

// ---- the kernel's word, and attempts that fail

TEST(FollowedVictim, IsNotGoneBecauseItsPodIsNoLongerListed) {
    Followed node;
    node.carry_out(node.look(0s), OutcomeStatus::delivered, 1ms);
    node.remove("big");
    EXPECT_THAT(node.look(2ms).finished, IsEmpty());
    EXPECT_EQ(evicted(node.look(29999ms)), "");
    EXPECT_EQ(evicted(node.look(30s)), "uid-middle");
}

TEST(FollowedVictim, IsNotGoneWhileTheKernelCannotBeAsked) {
    Followed node;
    node.carry_out(node.look(0s), OutcomeStatus::delivered, 1ms);
    node.say("big", std::nullopt, std::nullopt);
    node.find("big").populated = false;
    node.find("big").usage.reset();
    const Decision decision = node.look(2ms);
    EXPECT_THAT(decision.finished, IsEmpty());
    EXPECT_EQ(evicted(decision), "");
}

TEST(FollowedVictim, ThatCannotBeKilledIsTriedAgainEverLaterAndHoldsUpOthersForThirtySeconds) {
    Followed node;
    Decision decision = node.look(0s);
    std::vector<Duration> tried;
    int failures = 0;
    for (Duration since{}; since < 30s; since += 100ms) {
        if (!decision.actions.empty()) {
            EXPECT_EQ(decision.actions.at(0).pod.value, "uid-big");
            tried.push_back(since);
        }
        node.carry_out(decision, OutcomeStatus::failed, since, "EMFILE");
        decision = node.look(since + 100ms);
        failures += static_cast<int>(decision.failed.size());
        EXPECT_EQ(decision.finished.empty(), since + 100ms < 30s);
    }
    EXPECT_THAT(tried, ::testing::ElementsAre(0s, 1100ms, 3200ms, 7300ms, 15400ms));
    EXPECT_EQ(failures, 5);
    ASSERT_THAT(decision.finished, SizeIs(1));
    EXPECT_TRUE(decision.finished[0].failed);
    EXPECT_EQ(decision.finished[0].error, "EMFILE");
    EXPECT_EQ(evicted(decision), "uid-middle");
}

TEST(FollowedVictim, ThatIsRefusedHoldsUpNoOther) {
    Followed node;
    node.carry_out(node.look(0s), OutcomeStatus::refused, 1ms, "evictd itself runs in this pod");
    Decision decision = node.look(2ms);
    ASSERT_THAT(decision.finished, SizeIs(1));
    EXPECT_TRUE(decision.finished[0].failed);
    EXPECT_EQ(evicted(decision), "uid-middle");
    node.remove("middle");
    node.remove("small");
    for (Duration since = 1s; since < 30s; since += 1s) EXPECT_THAT(node.look(since).actions, IsEmpty());
}

TEST(FollowedVictim, ThatCouldNotBeKilledContinuesItsSeriesWhenItsTurnComesAgain) {
    Followed node;
    node.remove("middle");
    node.remove("small");
    std::vector<Duration> tried;
    Decision decision = node.look(0s);
    for (Duration since{}; since < 10min; since += 500ms) {
        if (!decision.actions.empty()) tried.push_back(since);
        node.carry_out(decision, OutcomeStatus::failed, since, "EMFILE");
        decision = node.look(since + 500ms);
    }
    // Once a minute in the end: no storm of events.
    EXPECT_LE(tried.size(), 16U);
    EXPECT_GE(tried.size(), 12U);
}

TEST(FollowedVictim, ThatCouldNotBeKilledIsLeftAloneWhenThePressureIsOver) {
    Followed node;
    node.carry_out(node.look(0s), OutcomeStatus::failed, 1ms, "EMFILE");
    EXPECT_THAT(node.look(2ms).failed, SizeIs(1));
    node.set(4_GiB);
    for (Duration since = 1s; since < 60s; since += 1s) EXPECT_THAT(node.look(since).actions, IsEmpty());
    EXPECT_THAT(node.state.in_flight, IsEmpty());
}

TEST(FollowedVictim, HasNotVanishedWhileTheKernelCountsItsProcesses) {
    Followed node;
    node.carry_out(node.look(0s), OutcomeStatus::vanished, 1ms, "its cgroup is gone");
    const Decision decision = node.look(2ms);
    EXPECT_THAT(decision.finished, IsEmpty());
    EXPECT_EQ(evicted(decision), "");
    EXPECT_THAT(decision.failed, SizeIs(1));
}

TEST(FollowedVictim, ThatIsKilledAtASecondTryIsGoneAsAnyOther) {
    Followed node;
    node.carry_out(node.look(0s), OutcomeStatus::failed, 1ms, "EMFILE");
    node.look(2ms);
    node.carry_out(node.look(1100ms), OutcomeStatus::delivered, 1101ms);
    node.say("big", false, 0_MiB);
    const Decision decision = node.look(1105ms);
    ASSERT_THAT(decision.finished, SizeIs(1));
    EXPECT_FALSE(decision.finished[0].failed);
    EXPECT_EQ(decision.finished[0].error, "");
    EXPECT_EQ(decision.finished[0].killed_at, at(1101ms));
}

}  // namespace
}  // namespace evictd::policy::testing
