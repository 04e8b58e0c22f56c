// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a victim held is owed to the node: when the next eviction may follow, and when it has to wait.
#include "owed.hpp"

#include <map>

#include <gmock/gmock.h>

#include "unit/policy/node.hpp"

namespace evictd::policy::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A node whose victims the kernel follows: "big" (cgroup 1) goes first, then "middle" (2), then "small" (3).
struct Followed : Node {
    explicit Followed(std::vector<Threshold> thresholds = {hard(100_MiB)}) {
        config.thresholds = std::move(thresholds);
        pods = {pod({.name = "big", .working_set = 300_MiB, .cgroup = 1}),
                pod({.name = "middle", .working_set = 200_MiB, .cgroup = 2}),
                pod({.name = "small", .working_set = 20_MiB, .cgroup = 3})};
        set(90_MiB);
    }
    Followed& set(Bytes available, Signal signal = Signal::memory_available) {
        Node::set(available, signal);
        return *this;
    }
    // What the kernel says of a pod's cgroup from now on.
    void say(const std::string& name, std::optional<bool> populated, std::optional<Bytes> held) {
        auto& one = find(name);
        victims[one.pod->uid.value] = {one.pod->uid, one.cgroup, populated, held};
        if (populated == false) one.populated = false;
    }
    Decision look(Duration since) {
        Observation observation = observe(since);
        const auto follow = [&](const PodUid& pod, CgroupId cgroup) {
            const auto said = victims.find(pod.value);
            observation.victims.push_back(said != victims.end() ? said->second
                                                                : ObservedVictim{pod, cgroup, true, std::nullopt});
        };
        for (const auto& flight : state.in_flight) follow(flight.victim.pod, flight.cgroup);
        for (const auto& owing : state.owing) follow(owing.victim.pod, owing.cgroup);
        Verdict verdict = decide(config, observation, state);
        state = std::move(verdict.state);
        outcomes.clear();
        return std::move(verdict.decision);
    }
    // "big" is killed at once, and its last process is gone after 2 ms.
    Decision kill_big(std::optional<Bytes> held) {
        carry_out(look(0s), OutcomeStatus::delivered, 1ms);
        look(1ms);
        say("big", false, held);
        return look(2ms);
    }

    std::map<std::string, ObservedVictim> victims;
};

TEST(Owed, NothingIsLeftAndTheNextGoesAtOnce) {
    Followed node;
    const Decision decision = node.kill_big(0_MiB);
    EXPECT_THAT(decision.finished, SizeIs(1));
    EXPECT_EQ(evicted(decision), "uid-middle");
    EXPECT_THAT(decision.owed, IsEmpty());
}

TEST(Owed, NobodyIsKilledWhileMemoryIsStillComing) {
    Followed node;
    Decision decision = node.kill_big(290_MiB);
    EXPECT_EQ(evicted(decision), "");
    EXPECT_THAT(decision.finished, SizeIs(1));
    ASSERT_THAT(decision.owed, SizeIs(1));
    EXPECT_FALSE(decision.owed[0].overdue);
    EXPECT_THAT(decision.why, HasSubstr("290Mi of what default/big held"));
    EXPECT_LE(*decision.look_again_at, at(10ms));
    for (int i = 1; i < 29; ++i) {
        node.say("big", false, 290_MiB - Bytes{10 * i << 20});
        EXPECT_EQ(evicted(node.look(2ms + i * 150ms)), "") << i;
    }
    node.say("big", false, 0_MiB);
    EXPECT_EQ(evicted(node.look(4400ms)), "uid-middle");
}

TEST(Owed, MemoryThatComesForThirtySecondsHoldsUpOthersNoLonger) {
    Followed node;
    node.kill_big(290_MiB);
    for (int i = 1; i < 150; ++i) {
        node.say("big", false, 290_MiB - Bytes{i << 20});
        EXPECT_EQ(evicted(node.look(i * 199ms)), "") << i;
    }
    node.say("big", false, 90_MiB);
    EXPECT_EQ(evicted(node.look(30s)), "uid-middle");
}

TEST(Owed, WhatDoesNotComeIsReportedOnceAndTheNextWaitsForTheKubeletsPeriod) {
    Followed node;
    node.kill_big(290_MiB);
    EXPECT_EQ(evicted(node.look(201ms)), "");
    Decision decision = node.look(202ms);
    EXPECT_EQ(evicted(decision), "");
    ASSERT_THAT(decision.owed, SizeIs(1));
    EXPECT_TRUE(decision.owed[0].overdue);
    EXPECT_TRUE(decision.owed[0].fresh);
    EXPECT_TRUE(decision.owed[0].evicted);
    EXPECT_EQ(decision.owed[0].pod.value, "uid-big");
    EXPECT_EQ(decision.owed[0].owed, 300_MiB);
    EXPECT_EQ(decision.owed[0].left, 290_MiB);
    EXPECT_EQ(decision.next_eviction_at, at(10002ms));
    EXPECT_THAT(decision.why, HasSubstr("were not returned"));
    decision = node.look(5s);
    EXPECT_EQ(evicted(decision), "");
    EXPECT_FALSE(decision.owed.at(0).fresh);
    EXPECT_EQ(evicted(node.look(10001ms)), "");
    EXPECT_EQ(evicted(node.look(10002ms)), "uid-middle");
}

// An innocent pod that gave everything back did not end the pressure, because what is missing is not its memory.
TEST(Owed, ThePaceStaysTheKubeletsForAsLongAsTheMemoryIsMissing) {
    Followed node;
    node.kill_big(290_MiB);
    node.look(202ms);
    node.carry_out(node.look(11s), OutcomeStatus::delivered, 11s);
    node.say("middle", false, 0_MiB);
    EXPECT_EQ(evicted(node.look(11005ms)), "");
    EXPECT_EQ(evicted(node.look(21004ms)), "");
    EXPECT_EQ(evicted(node.look(21005ms)), "uid-small");
}

TEST(Owed, WhatComesLateIsPaidAllTheSame) {
    Followed node;
    node.kill_big(290_MiB);
    EXPECT_THAT(node.look(202ms).owed, SizeIs(1));
    node.say("big", false, 2_MiB);  // its volume was removed
    const Decision decision = node.look(3s);
    EXPECT_THAT(decision.owed, IsEmpty());
    EXPECT_EQ(evicted(decision), "uid-middle");
}

TEST(Owed, MemoryThatFallsFurtherEndsTheWait) {
    Followed node;
    node.kill_big(290_MiB);
    node.look(202ms);
    EXPECT_EQ(evicted(node.set(88_MiB).look(300ms)), "");  // a daemon grew by a few pages
    EXPECT_EQ(evicted(node.set(84_MiB).look(400ms)), "uid-middle");
}

// Per-CPU counters and pods that live tremble by more than a sixteenth of what is left.
TEST(Owed, WhereLittleIsLeftTremblingIsNoFurtherFall) {
    Followed node;
    node.set(6_MiB).kill_big(290_MiB);
    node.look(202ms);
    EXPECT_EQ(evicted(node.set(4_MiB).look(300ms)), "");
    EXPECT_EQ(evicted(node.set(2_MiB).look(400ms)), "uid-middle") << "half of it is gone";
    Followed more;
    more.set(40_MiB).kill_big(290_MiB);
    more.look(202ms);
    EXPECT_EQ(evicted(more.set(37_MiB).look(300ms)), "");
    EXPECT_EQ(evicted(more.set(35_MiB).look(400ms)), "uid-middle");
}

TEST(Owed, AFallOfASignalThatIsNotShortEndsNoWait) {
    Followed node;
    node.set(4_GiB, Signal::allocatable_memory_available).kill_big(290_MiB);
    node.look(202ms);
    node.set(2_GiB, Signal::allocatable_memory_available);  // a build outside of the pods
    EXPECT_EQ(evicted(node.look(300ms)), "");
    EXPECT_EQ(node.look(400ms).next_eviction_at, at(10002ms));
}

TEST(Owed, WhatTheVictimItselfTookUntilItWasDeadIsNoFurtherFall) {
    Followed node;
    node.carry_out(node.look(0s), OutcomeStatus::delivered, 1ms);
    node.set(60_MiB).look(1ms);
    node.say("big", false, 330_MiB);
    node.look(2ms);
    EXPECT_EQ(evicted(node.look(202ms)), "");
    EXPECT_EQ(evicted(node.look(1s)), "");
    EXPECT_EQ(evicted(node.set(50_MiB).look(2s)), "uid-middle");
}

TEST(Owed, ALittlePageCacheIsNoDebtUnlessItWouldEndThePressure) {
    Followed node;
    node.set(50_MiB).kill_big(25_MiB);
    EXPECT_EQ(evicted(node.look(201ms)), "");
    EXPECT_EQ(evicted(node.look(202ms)), "uid-middle");

    Followed last_pages;
    last_pages.set(96_MiB).kill_big(25_MiB);  // of 300 MiB all but the last 4 under the threshold have come
    EXPECT_EQ(evicted(last_pages.look(202ms)), "");
    EXPECT_EQ(evicted(last_pages.look(5s)), "");
}

// Without BPF a cgroup that is removed cannot be measured any more: available memory has to tell.
TEST(Owed, WhatCannotBeMeasuredIsJudgedByAvailableMemory) {
    Followed node({hard(400_MiB)});
    node.set(104_MiB).kill_big(std::nullopt);
    EXPECT_EQ(evicted(node.set(200_MiB).look(20ms)), "");
    EXPECT_EQ(evicted(node.set(396_MiB).look(27ms)), "");
    EXPECT_EQ(evicted(node.look(226ms)), "");
    EXPECT_EQ(evicted(node.set(399_MiB).look(500ms)), "");
    EXPECT_EQ(evicted(node.look(700ms)), "");
    EXPECT_EQ(evicted(node.look(10002ms)), "uid-middle");

    Followed paid({hard(400_MiB)});
    paid.set(90_MiB).kill_big(std::nullopt);
    EXPECT_EQ(evicted(paid.set(390_MiB).look(20ms)), "uid-middle");
}

TEST(Owed, WhatIsUnknownIsNotPaid) {
    Followed node;
    node.find("big").usage.reset();
    node.kill_big(std::nullopt);
    EXPECT_EQ(evicted(node.look(300ms)), "");
    EXPECT_EQ(evicted(node.look(9s)), "");
    EXPECT_EQ(evicted(node.look(10002ms)), "uid-middle");
}

TEST(Owed, IsForgottenAfterThePressureWhereItCannotBeMeasured) {
    Followed node;
    node.kill_big(std::nullopt);
    EXPECT_THAT(node.look(300ms).owed, SizeIs(1));
    node.set(4_GiB);
    EXPECT_THAT(node.look(11s).owed, IsEmpty());  // by now as much is available as it held
}

TEST(Owed, IsReportedAfterThePressureForAsLongAsItIsThere) {
    Followed node;
    node.kill_big(290_MiB);
    node.look(202ms);
    EXPECT_THAT(node.set(4_GiB).look(1h).owed, SizeIs(1));
    node.say("big", false, 0_MiB);
    EXPECT_THAT(node.look(2h).owed, IsEmpty());
}

TEST(Owed, EvictionsForOtherResourcesDoNotWaitForMemory) {
    Followed node({hard(100_MiB), hard(1_GiB, std::nullopt, Signal::pid_available)});
    node.kill_big(290_MiB);
    node.look(202ms);
    node.set(4_GiB).set(5_MiB, Signal::pid_available);
    EXPECT_EQ(evicted(node.look(300ms)), "uid-middle");
}

TEST(Owed, ASoftVictimOwesWhatItHeldWhenItWasKilled) {
    Followed node({soft(100_MiB, 0s)});
    node.config.thresholds = {soft(100_MiB, 1s)};
    node.look(0s);
    node.carry_out(node.look(1s), OutcomeStatus::delivered, 1s);
    node.find("big").usage->working_set = 500_MiB;
    node.look(15s);
    node.say("big", false, 45_MiB);
    node.set(20_MiB).look(31s);
    EXPECT_EQ(node.state.owing.at(0).victim.usage, 500_MiB);
    EXPECT_EQ(evicted(node.look(31s + 200ms)), "uid-middle");  // less than a tenth is missing
}

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
