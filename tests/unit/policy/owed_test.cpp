// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a victim held is owed to the node: when the next eviction may follow, and when it has to wait.
#include "owed.hpp"

#include <gmock/gmock.h>

#include "unit/policy/followed.hpp"

namespace evictd::policy::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Owed, NothingIsLeftAndTheNextGoesAtOnce) {
    Followed node;
    const Decision decision = node.kill_big(0_MiB);
    EXPECT_THAT(decision.finished, SizeIs(1));
    EXPECT_EQ(evicted(decision), "uid-middle");
    EXPECT_THAT(decision.owed, IsEmpty());
}

TEST(Owed, NoPodIsKilledWhileMemoryIsStillBeingReturned) {
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

}  // namespace
}  // namespace evictd::policy::testing
