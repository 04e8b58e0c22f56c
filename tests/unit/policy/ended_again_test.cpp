// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// An evicted pod that comes back, by its processes or its phase, is killed again with a new attempt, up to a limit.
#include <gmock/gmock.h>

#include "ended_pods.hpp"
#include "unit/policy/ended.hpp"

namespace evictd::policy {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Result = PodStatusResult;
using Step = EndStepKind;

TEST(EndedAgain, ARestartIsKilledWithANewAttempt) {
    Ended node;
    node.evict_big();
    node.start();
    const auto decision = node.act(600ms);
    EXPECT_THAT(kills(decision), ElementsAre("uid-big"));
    ASSERT_EQ(decision.pod_statuses.size(), 1U);
    EXPECT_EQ(decision.pod_statuses[0].attempt, 2);
    EXPECT_EQ(decision.pod_statuses[0].decided_at, at(600ms));
    EXPECT_FALSE(decision.evict) << "it is no new eviction";
    EXPECT_THAT(decision.why, HasSubstr("default/big runs again and is killed again"));
    EXPECT_THAT(kills(node.look(601ms)), IsEmpty()) << "it is dying";
    node.stop(602ms);
    EXPECT_EQ(node.look(602ms).pod_statuses[0].attempt, 2);
}

TEST(EndedAgain, ARestartBetweenTwoLooksIsFoundByTheKernelsTime) {
    Ended node;
    node.act(0s);
    node.find("big").emptied_at = at(2ms);  // and populated again
    node.set(500_MiB);
    const auto decision = node.look(3ms);
    EXPECT_THAT(kills(decision), ElementsAre("uid-big"));
    EXPECT_EQ(decision.pod_statuses[0].attempt, 2);
}

TEST(EndedAgain, ARestartInAnotherCgroupIsKilledThere) {
    Ended node;
    node.evict_big();
    node.find("big").cgroup = {9};
    node.find("big").emptied_at.reset();
    node.start();
    const auto decision = node.look(600ms);
    ASSERT_EQ(decision.actions.size(), 1U);
    EXPECT_EQ(decision.actions[0].cgroup, CgroupId{9});
}

TEST(EndedAgain, ItsRestartIsNoRankedEvictionOfAnother) {
    Ended node;
    node.evict_big();
    node.start();
    node.set(90_MiB);
    const auto decision = node.look(600ms);
    EXPECT_THAT(kills(decision), ElementsAre("uid-big"));
    EXPECT_FALSE(decision.evict) << "one victim at a time";
    node.look(601ms);
    node.stop(602ms);
    EXPECT_EQ(evicted(node.look(602ms)), "uid-middle");
}

TEST(EndedAgain, UsageThatCouldNotBeReadIsNoRestart) {
    Ended node;
    node.evict_big();
    node.start();
    node.usage_unknown = true;
    EXPECT_THAT(kills(node.look(600ms)), IsEmpty());
}

TEST(EndedAgain, APhaseThatGoesBackIsAnsweredWithAKillAndANewAttempt) {
    Ended node;
    node.evict_big();
    node.show(PodPhase::running);
    const auto decision = node.act(9s);
    EXPECT_THAT(kills(decision), ElementsAre("uid-big"));
    EXPECT_EQ(decision.pod_statuses[0].attempt, 2);
    EXPECT_EQ(node.look(9100ms).pod_statuses[0].attempt, 2) << "not answered yet";
}

TEST(EndedAgain, APhaseIsNotBackWhileTheSourceIsOlderThanTheAnswer) {
    Ended node;
    node.kill_big();
    node.answer(Result::accepted, 1, 5ms);
    EXPECT_EQ(node.look(6ms).pod_statuses[0].attempt, 1);
    EXPECT_EQ(node.look(2s).pod_statuses[0].attempt, 1);
    EXPECT_EQ(node.look(4s).pod_statuses[0].attempt, 2) << "it was never seen: sent again";
    node.answer(Result::accepted, 2, 4s);
    node.look(4100ms);
    EXPECT_EQ(node.look(10s).pod_statuses[0].attempt, 2) << "the second time later: the pods may come late";
    EXPECT_EQ(node.look(10100ms).pod_statuses[0].attempt, 3) << "the kubelet has written over that one, too";
}

// As after an outage: the request is answered before the pods are listed again.
TEST(EndedAgain, NothingFollowsFromPodsThatAreNotUpToDate) {
    Ended node;
    node.kill_big();
    node.pods_current = false;
    node.answer(Result::accepted, 1, 5ms);
    node.look(6ms);
    for (const Duration now : {4s, 13s, 30s}) {
        const auto decision = node.look(now);
        EXPECT_THAT(decision.end_steps, IsEmpty()) << "neither back nor settled";
        EXPECT_EQ(decision.pod_statuses.at(0).attempt, 1);
    }
    node.pods_current = true;
    EXPECT_EQ(node.look(31s).pod_statuses.at(0).attempt, 1) << "they may have been read before the answer";
    EXPECT_THAT(steps(node.look(34s)), ElementsAre(Step::went_back));
    node.answer(Result::accepted, 2, 34100ms);
    node.look(34100ms);
    node.show(PodPhase::failed);
    node.look(35s);
    const auto last = node.look(46100ms);
    EXPECT_THAT(steps(last), ElementsAre(Step::stayed_ended));
    EXPECT_EQ(last.end_steps.at(0).error, "");
}

TEST(EndedAgain, PodsThatAreOutOfDateBetweenCountAnew) {
    Ended node;
    node.kill_big();
    node.answer(Result::accepted, 1, 5ms);
    node.look(5ms);
    node.pods_current = false;
    node.look(2s);
    node.pods_current = true;
    node.look(2500ms);
    EXPECT_THAT(steps(node.look(5400ms)), IsEmpty());
    EXPECT_THAT(steps(node.look(5500ms)), ElementsAre(Step::went_back));
}

TEST(EndedAgain, PodsThatWereUpToDateBeforeTheAnswerMayStillBeOlder) {
    Ended node;
    node.kill_big();
    node.look(2ms);
    node.look(4s);
    node.answer(Result::accepted, 1, 5s);
    EXPECT_THAT(steps(node.look(5s)), ElementsAre(Step::accepted));
    EXPECT_THAT(steps(node.look(8s)), ElementsAre(Step::went_back));
}

TEST(EndedAgain, ARequestThatIsRejectedLeavesNoPhaseToWaitFor) {
    Ended node;
    node.kill_big();
    node.answer(Result::rejected, 1, 5ms);
    node.look(6ms);
    EXPECT_THAT(steps(node.look(12004ms)), IsEmpty());
    const auto last = node.look(12005ms);
    EXPECT_THAT(steps(last), ElementsAre(Step::stayed_ended));
    EXPECT_EQ(last.end_steps.at(0).error, "the API server does not show it as ended");
}

TEST(EndedAgain, AnOldPhaseDoesNotSettle) {
    Ended node;
    node.evict_big();
    node.pods_current = false;
    EXPECT_THAT(steps(node.look(13s)), IsEmpty()) << "the kubelet may have written over it since";
    node.pods_current = true;
    EXPECT_THAT(steps(node.look(14s)), IsEmpty()) << "a watch that has begun has not yet shown what it missed";
    node.show(PodPhase::running);
    EXPECT_THAT(steps(node.look(14020ms)), ElementsAre(Step::went_back));
}

TEST(EndedAgain, AnOldPhaseThatIsShownAgainSettles) {
    Ended node;
    node.evict_big();
    node.pods_current = false;
    node.look(13s);
    node.pods_current = true;
    node.look(14s);
    EXPECT_THAT(steps(node.look(17s)), ElementsAre(Step::stayed_ended));
}

TEST(EndedAgain, APodThatIsNotListedSettlesByPodsThatAreUpToDate) {
    Ended node;
    node.evict_big();
    node.pods_current = false;
    node.remove("big");
    EXPECT_THAT(steps(node.look(13s)), IsEmpty());
    node.pods_current = true;
    EXPECT_THAT(steps(node.look(14s)), IsEmpty());
    EXPECT_THAT(steps(node.look(17s)), ElementsAre(Step::stayed_ended));
}

TEST(EndedAgain, APhaseIsNotBackByPodsThatAreOutOfDate) {
    Ended node;
    node.evict_big();
    node.pods_current = false;
    node.show(PodPhase::running);
    EXPECT_THAT(steps(node.look(1s)), IsEmpty());
}

TEST(EndedAgain, ThePhaseOfTheAttemptBeforeIsNotThatOfThisOne) {
    Ended node;
    node.evict_big();
    node.start();
    node.act(600ms);
    node.stop(602ms);
    node.look(602ms);
    node.answer(Result::accepted, 2, 700ms);
    node.show(PodPhase::running);  // written before the second request, and shown after its answer
    EXPECT_THAT(steps(node.look(700ms)), ElementsAre(Step::accepted));
}

TEST(EndedAgain, APhaseThatPodsOutOfDateShowIsNotThatOfTheAnswer) {
    Ended node;
    node.evict_big();
    node.start();
    node.act(600ms);
    node.stop(602ms);
    node.pods_current = false;
    node.answer(Result::accepted, 2, 700ms);
    node.look(700ms);
    node.pods_current = true;
    node.show(PodPhase::running);
    EXPECT_THAT(steps(node.look(800ms)), IsEmpty());
}

TEST(EndedAgain, WithPodsThatAreNeverUpToDateItIsWatchedForAnHourMore) {
    Ended node;
    node.pods_current = false;
    node.evict_big();
    EXPECT_THAT(steps(node.look(1h + 12004ms)), IsEmpty());
    const auto last = node.look(1h + 12005ms);
    EXPECT_THAT(steps(last), ElementsAre(Step::stayed_ended));
    EXPECT_EQ(last.end_steps.at(0).error, "it is not known whether the API server shows it as ended");
}

// The API server shows it as running after each of five corrections. Returns when the last one was answered.
Duration correct_five_times(Ended& node) {
    node.evict_big();
    node.show(PodPhase::running);
    Duration now = 1s;
    for (std::int32_t correction = 1; correction <= 5; ++correction) {
        EXPECT_THAT(steps(node.look(now)), ElementsAre(Step::went_back)) << correction;
        node.answer(Result::accepted, correction + 1, now);
        node.look(now);
        if (correction < 5) now += 3s * (1 << correction);
    }
    return now;
}

TEST(EndedAgain, APhaseIsCorrectedFiveTimes) {
    Ended node;
    const Duration answered = correct_five_times(node);
    const auto last = node.look(answered + 96s);
    EXPECT_THAT(steps(last), ElementsAre(Step::stayed_ended));
    EXPECT_EQ(last.end_steps.at(0).error, "the API server does not show it as ended");
}

TEST(EndedAgain, APhaseThatIsShownAfterFiveCorrectionsIsNoFault) {
    Ended node;
    const Duration answered = correct_five_times(node);
    node.show(PodPhase::failed);
    const auto last = node.look(answered + 12s);
    EXPECT_THAT(steps(last), ElementsAre(Step::stayed_ended));
    EXPECT_EQ(last.end_steps.at(0).error, "");
}

TEST(EndedAgain, AReasonThatVanishesIsNoCause) {
    Ended node;
    node.evict_big();
    node.change("big", [](Pod& pod) { pod.status_reason = ""; });
    EXPECT_EQ(node.look(1s).pod_statuses[0].attempt, 1);
}

TEST(EndedAgain, FiveRestartsThenItIsHeldDownAndAtLastGivenUp) {
    Ended node;
    node.evict_big();
    node.set(90_MiB);
    node.remove("middle");
    Duration now = 1s;
    for (std::int32_t restart = 1; restart <= 5; ++restart) {
        node.start();
        EXPECT_EQ(node.act(now).pod_statuses[0].attempt, restart + 1);
        node.stop(now + 2ms);
        node.answer(Result::accepted, restart + 1, now + 2ms);
        node.look(now + 3ms);
        now += 10s;
    }
    node.start();
    const auto held = node.act(now);
    EXPECT_THAT(steps(held), ElementsAre(Step::held_down, Step::restarted));
    EXPECT_THAT(kills(held), ElementsAre("uid-big"));
    EXPECT_THAT(kills(node.look(now + 900ms)), IsEmpty()) << "with back-off";
    EXPECT_EQ(node.act(now + 1s).pod_statuses[0].attempt, 8);
    EXPECT_THAT(kills(node.look(now + 2900ms)), IsEmpty());
    EXPECT_THAT(kills(node.act(now + 3s)), ElementsAre("uid-big"));
    node.answer(Result::accepted, 9, now + 3s);
    node.set(8_GiB);
    EXPECT_FALSE(node.look(now + 4s).pod_statuses[0].given_up) << "the condition still holds";
    EXPECT_EQ(node.act(now + 5min + 4s).pod_statuses[0].attempt, 10);
    node.answer(Result::accepted, 10, now + 5min + 4s);
    const auto given_up = node.look(now + 5min + 5s);
    EXPECT_THAT(steps(given_up), ElementsAre(Step::accepted, Step::given_up));
    ASSERT_EQ(given_up.pod_statuses.size(), 1U);
    EXPECT_TRUE(given_up.pod_statuses[0].given_up);
    EXPECT_EQ(given_up.pod_statuses[0].attempt, 11);
    node.answer(Result::accepted, 11, now + 5min + 6s);
    EXPECT_THAT(node.look(now + 5min + 6s).pod_statuses, IsEmpty());
}

TEST(EndedAgain, OneThatIsDeadWhenThePressureEndsIsNotGivenUp) {
    Ended node;
    node.evict_big();
    auto& ended = node.state.ended.front();
    ended.stage = EndStage::held_down;
    ended.restarts = 5;
    node.state.conditions.clear();
    node.state.condition_last_observed = {};
    EXPECT_THAT(steps(node.look(1s)), IsEmpty());
    EXPECT_EQ(node.ended()->stage, EndStage::killed);
    node.start();
    EXPECT_THAT(steps(node.look(2s)), ElementsAre(Step::held_down, Step::given_up));
}

}  // namespace
}  // namespace evictd::policy
