// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A soft eviction asks the Eviction API first, and ends the pod itself where that does not.
#include <random>

#include <gmock/gmock.h>

#include "unit/policy/ended.hpp"

namespace evictd::policy {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Result = PodStatusResult;
using Step = EndStepKind;

// A soft threshold has been met for its second; "big" gets 5 s. A hard one is 50 MiB further down.
struct Asking : Ended {
    Asking() : Ended({hard(40_MiB), soft(100_MiB, 1s)}) {
        config.max_pod_grace_period = 5s;
        look(-1s);
        asked = act(0s);
    }
    void say(Result result, std::int32_t attempt, Duration since, Duration retry_after = Duration::zero()) {
        answer(result, attempt, since, PodEnd::evicted, retry_after);
    }
    Decision asked;
};

std::vector<ActionKind> kinds(const Decision& decision) {
    std::vector<ActionKind> made;
    for (const auto& action : decision.actions) made.push_back(action.kind);
    return made;
}

TEST(SoftEviction, AsksTheApiServerAndSignalsNothing) {
    Asking node;
    EXPECT_TRUE(node.asked.evict);
    EXPECT_THAT(node.asked.actions, IsEmpty());
    ASSERT_EQ(node.asked.pod_statuses.size(), 1U);
    const auto& desired = node.asked.pod_statuses[0];
    EXPECT_EQ(desired.end, PodEnd::evicted);
    EXPECT_EQ(desired.grace_period, 5s);
    EXPECT_EQ(desired.attempt, 1);
    EXPECT_THAT(node.look(1s).actions, IsEmpty());
}

TEST(SoftEviction, WithoutTheApiItIsTerminatedAtOnce) {
    Ended node({soft(100_MiB, 1s)});
    node.config.soft_eviction_api = false;
    node.look(-1s);
    const auto decision = node.act(0s);
    EXPECT_THAT(kinds(decision), ElementsAre(ActionKind::terminate));
    EXPECT_THAT(decision.pod_statuses, IsEmpty()) << "it may end by itself";
    const auto killed = node.act(1s);
    EXPECT_THAT(kinds(killed), ElementsAre(ActionKind::kill));
    EXPECT_EQ(killed.pod_statuses[0].end, PodEnd::failed);
    EXPECT_EQ(killed.pod_statuses[0].attempt, 1);
}

TEST(SoftEviction, OneThatEndsByItselfIsToldToTheApiServer) {
    Ended node({soft(100_MiB, 1s)});
    node.config.soft_eviction_api = false;
    node.look(-1s);
    node.act(0s);
    node.stop(500ms);
    node.set(500_MiB);
    const auto decision = node.look(501ms);
    EXPECT_THAT(kills(decision), IsEmpty());
    ASSERT_EQ(decision.pod_statuses.size(), 1U) << "else the kubelet starts it again";
    EXPECT_EQ(decision.pod_statuses[0].end, PodEnd::failed);
}

TEST(SoftEviction, AcceptedTheKubeletEndsThePod) {
    Asking node;
    node.say(Result::accepted, 1, 20ms);
    const auto granted = node.look(20ms);
    EXPECT_THAT(steps(granted), ElementsAre(Step::accepted));
    EXPECT_THAT(granted.actions, IsEmpty());
    EXPECT_THAT(node.look(6s).actions, IsEmpty());
    node.stop(6s);
    node.set(500_MiB);
    const auto gone = node.look(6100ms);
    EXPECT_THAT(gone.pod_statuses, IsEmpty());
    EXPECT_EQ(gone.finished.size(), 1U);
}

TEST(SoftEviction, AcceptedAndNotEndedItIsKilled) {
    Asking node;
    node.say(Result::accepted, 1, 20ms);
    node.look(20ms);
    const auto killed = node.look(16s);
    EXPECT_THAT(kills(killed), ElementsAre("uid-big"));
    EXPECT_EQ(killed.pod_statuses[0].end, PodEnd::failed);
    EXPECT_EQ(killed.pod_statuses[0].attempt, 2);
    EXPECT_FALSE(killed.pod_statuses[0].grace_period);
}

TEST(SoftEviction, RefusedItIsAskedAgainForHalfAMinute) {
    Asking node;
    node.say(Result::refused, 1, 10ms, 3s);
    EXPECT_EQ(node.look(10ms).pod_statuses[0].attempt, 1);
    EXPECT_EQ(node.look(3s).pod_statuses[0].attempt, 1) << "as long as the server asked";
    EXPECT_EQ(node.look(3010ms).pod_statuses[0].attempt, 2);
    node.say(Result::refused, 2, 3020ms);
    node.look(3020ms);
    EXPECT_EQ(node.look(5s).pod_statuses[0].attempt, 2) << "twice as long as at first";
    EXPECT_EQ(node.look(5020ms).pod_statuses[0].attempt, 3);
    node.say(Result::refused, 3, 5030ms, 1h);
    EXPECT_EQ(node.look(5030ms).next_look.at, at(5130ms)) << "under pressure";
    EXPECT_THAT(node.look(29s).actions, IsEmpty());
    const auto ends = node.act(30s);
    EXPECT_THAT(kinds(ends), ElementsAre(ActionKind::terminate));
    EXPECT_THAT(ends.pod_statuses, IsEmpty());
    EXPECT_THAT(kinds(node.look(34s)), IsEmpty());
    const auto killed = node.look(35s);
    EXPECT_THAT(kinds(killed), ElementsAre(ActionKind::kill));
    EXPECT_EQ(killed.pod_statuses[0].attempt, 4);
}

TEST(SoftEviction, UnansweredItIsTerminatedAfter2s) {
    Asking node;
    node.say(Result::unreachable, 1, 1s);
    EXPECT_THAT(node.look(1s).actions, IsEmpty());
    EXPECT_THAT(kinds(node.look(2s)), ElementsAre(ActionKind::terminate));
}

TEST(SoftEviction, RejectedItIsTerminatedAtOnce) {
    Asking node;
    node.say(Result::rejected, 1, 10ms);
    EXPECT_THAT(kinds(node.look(10ms)), ElementsAre(ActionKind::terminate));
}

TEST(SoftEviction, RefusedItIsWithdrawnOnceThePressureIsOver) {
    Asking node;
    node.say(Result::refused, 1, 10ms, 20s);
    node.look(10ms);
    node.set(500_MiB);
    const auto over = node.look(1s);
    EXPECT_THAT(steps(over), ElementsAre(Step::withdrawn));
    EXPECT_THAT(over.actions, IsEmpty());
    EXPECT_THAT(over.pod_statuses, IsEmpty());
    EXPECT_THAT(over.in_flight, IsEmpty());
    EXPECT_EQ(node.ended()->stage, EndStage::over);
    EXPECT_THAT(node.look(1min).actions, IsEmpty()) << "it lives";
    node.set(90_MiB);
    EXPECT_FALSE(node.look(61s).evict) << "a new grace period";
    const auto again = node.look(62s);
    EXPECT_EQ(evicted(again), "uid-big");
    EXPECT_EQ(again.pod_statuses.at(0).attempt, 2) << "attempts are counted on";
}

TEST(SoftEviction, WhileTheNodeShutsDownItIsWithdrawn) {
    for (const auto result : {Result::refused, Result::rejected, Result::unreachable}) {
        Asking node;
        node.logind_view = LogindView{.shuts_down = true, .said_at = at(1s), .current = true};
        node.say(result, 1, 1s);
        node.look(1s);
        EXPECT_THAT(node.look(2s).actions, IsEmpty()) << name(result) << ": the kubelet ends it";
        EXPECT_EQ(node.ended()->stage, EndStage::over) << name(result);
    }
}

TEST(SoftEviction, ARequestUnderWayIsAwaitedAlsoWhenThePressureIsOver) {
    Asking node;
    node.set(500_MiB);
    EXPECT_EQ(node.look(1s).pod_statuses.size(), 1U) << "the server may have accepted it";
    node.say(Result::accepted, 1, 1100ms);
    EXPECT_THAT(steps(node.look(1100ms)), ElementsAre(Step::accepted));
    EXPECT_EQ(node.ended()->stage, EndStage::granted);
}

TEST(SoftEviction, NothingIsSignalledForAPressureThatIsOver) {
    for (const auto result : {Result::refused, Result::rejected, Result::unreachable}) {
        Asking node;
        node.set(500_MiB);
        node.say(result, 1, 1s);
        node.look(1s);
        EXPECT_THAT(node.look(2s).actions, IsEmpty()) << name(result);
        EXPECT_EQ(node.ended()->stage, EndStage::over) << name(result);
        EXPECT_THAT(node.state.in_flight, IsEmpty()) << name(result);
    }
}

TEST(SoftEviction, AMinimumReclaimThatIsMissingIsStillPressure) {
    Asking node;
    node.config.thresholds.at(1).min_reclaim = ThresholdValue{quantity(50_MiB)};
    node.state = {};
    node.look(-1s);
    node.look(0s);
    node.say(Result::refused, 1, 10ms, 20s);
    node.look(10ms);
    node.set(120_MiB);
    EXPECT_THAT(steps(node.look(1s)), IsEmpty());
    node.set(151_MiB);
    EXPECT_THAT(steps(node.look(2s)), ElementsAre(Step::withdrawn));
}

TEST(SoftEviction, APressureThatCannotBeReadIsNotOver) {
    Asking node;
    node.say(Result::refused, 1, 10ms, 20s);
    node.look(10ms);
    node.readings = {};
    EXPECT_THAT(steps(node.look(1s)), IsEmpty());
    EXPECT_EQ(node.ended()->stage, EndStage::asking);
}

TEST(SoftEviction, AHardThresholdDoesNotWaitForTheApiServer) {
    Asking node;
    node.set(30_MiB);
    const auto killed = node.look(5ms);
    EXPECT_THAT(kills(killed), ElementsAre("uid-big"));
    ASSERT_EQ(killed.pod_statuses.size(), 1U);
    EXPECT_EQ(killed.pod_statuses[0].end, PodEnd::failed);
    EXPECT_EQ(killed.pod_statuses[0].attempt, 2);
    node.say(Result::accepted, 1, 6ms);
    EXPECT_THAT(steps(node.look(6ms)), IsEmpty()) << "an answer to what is not asked any more";
}

TEST(SoftEviction, ADryRunAsksNoOneAndPretends) {
    Asking node;
    node.say(Result::pretended, 1, 1ms);
    const auto decision = node.look(1ms);
    EXPECT_THAT(kinds(decision), ElementsAre(ActionKind::terminate));
    node.carry_out(decision, OutcomeStatus::dry_run, 2ms);
    EXPECT_THAT(node.look(2ms).pod_statuses, IsEmpty());
}

// Whatever the pod, the kubelet and the API server do: attempts only grow, and while something runs none begins without
// a kill.
TEST(SoftEviction, NoAttemptIsEverRepeatedNorBegunAloneWhileThePodRuns) {
    for (unsigned seed = 0; seed < 120; ++seed) {
        std::mt19937 random(seed);
        Ended node({hard(40_MiB), soft(100_MiB, 1s)});
        node.remove("middle");
        std::int32_t attempt = 0;
        for (Duration now = 0s; now < 60s; now += Duration(std::chrono::milliseconds(1 + random() % 900))) {
            if (random() % 3 == 0) node.set(random() % 2 == 0 ? 30_MiB : random() % 2 == 0 ? 90_MiB : 500_MiB);
            if (random() % 3 == 0) node.show(random() % 2 == 0 ? PodPhase::failed : PodPhase::running);
            random() % 2 == 0 ? node.start() : node.stop(now);
            if (random() % 2 == 0) {
                const auto result = static_cast<Result>(random() % 5);  // any but pretended
                node.answer(result, attempt, now, node.ended() ? node.ended()->desired.end : PodEnd::failed);
            }
            const auto decision = node.act(now);
            for (const auto& desired : decision.pod_statuses) {
                ASSERT_GE(desired.attempt, attempt) << "seed " << seed;
                const bool begins = desired.attempt > attempt && desired.end == PodEnd::failed && !desired.given_up;
                const bool alone = node.find("big").populated && kills(decision).empty();
                ASSERT_FALSE(begins && alone) << "seed " << seed << " attempt " << desired.attempt;
                attempt = desired.attempt;
            }
        }
        EXPECT_GT(attempt, 0) << "seed " << seed;
    }
}

}  // namespace
}  // namespace evictd::policy
