// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A victim's way over several looks: outcomes, the last process, grace periods, and how long it holds up the next.
#include "flight.hpp"

#include <gmock/gmock.h>

#include "unit/policy/node.hpp"

namespace evictd::policy::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// "big" goes first, then "middle", then "small".
Node three_pods(std::vector<Threshold> thresholds) {
    Node node{.config = {std::move(thresholds)}};
    node.pods = {pod({.name = "big", .working_set = 3_GiB}), pod({.name = "middle", .working_set = 2_GiB}),
                 pod({.name = "small", .working_set = 1_GiB})};
    node.set(1_MiB);
    return node;
}

Node hard_node() { return three_pods({hard(100_MiB)}); }

// big was told to end at 10s and is to be killed at 40s; only the soft threshold is met.
Node soft_node() {
    Node node = three_pods({soft(1_GiB, 10s), hard(100_MiB)});
    node.config.soft_eviction_grace = SoftEvictionGrace::pod;
    node.set(500_MiB).look(0s);
    node.carry_out(node.look(10s), OutcomeStatus::delivered, 10001ms);
    return node;
}

TEST(Victim, IsFinishedWhenItsPodIsNoLongerListed) {
    Node node = hard_node();
    node.carry_out(node.look(0s), OutcomeStatus::delivered, 1ms);
    node.remove("big");
    node.set(4_GiB);
    const Decision decision = node.look(5ms);
    ASSERT_EQ(decision.finished.size(), 1U);
    const Victim& victim = decision.finished[0];
    EXPECT_EQ(victim.pod.value, "uid-big");
    EXPECT_EQ(victim.decided_at, at(1ms));
    EXPECT_EQ(victim.killed_at, at(1ms));
    EXPECT_EQ(victim.emptied_at, at(5ms));
    EXPECT_EQ(victim.cause.detected_at, at(0s));
    EXPECT_FALSE(victim.failed);
    EXPECT_THAT(decision.in_flight, IsEmpty());
}

TEST(Victim, IsFinishedWhenItsLastProcessIsGoneAtTheTimeTheKernelSaw) {
    Node node = hard_node();
    node.carry_out(node.look(0s), OutcomeStatus::delivered, 1ms);
    node.find("big").populated = false;
    node.find("big").emptied_at = at(3ms);
    const Decision decision = node.look(5ms);
    ASSERT_EQ(decision.finished.size(), 1U);
    EXPECT_EQ(decision.finished[0].emptied_at, at(3ms));
}

TEST(Victim, ThatIsGoneIsNoActivePodThoughItsSourceStillListsIt) {
    Node node = hard_node();
    node.carry_out(node.look(0s), OutcomeStatus::delivered, 1ms);
    node.find("big").populated = false;
    node.look(5ms);
    EXPECT_EQ(node.set(4_GiB).look(1min).ranking.size(), 2U);
    node.find("big").populated = true;
    EXPECT_EQ(node.look(2min).ranking.size(), 3U);
    node.find("big").populated = false;  // a life of its own, which we did not end
    EXPECT_EQ(node.look(3min).ranking.size(), 3U);
}

TEST(Victim, IsGoneWhenItsPodLivesInAnotherCgroup) {
    Node node = hard_node();
    node.carry_out(node.look(0s), OutcomeStatus::delivered, 1ms);
    node.find("big").cgroup = {101};
    node.set(4_GiB);
    EXPECT_EQ(node.look(5ms).finished.size(), 1U);
}

TEST(Victim, IsGoneWhenItsCgroupWasEmptyAndWasFilledAgain) {
    Node node = hard_node();
    node.find("big").emptied_at = at(-1s);  // an older life
    node.carry_out(node.look(0s), OutcomeStatus::delivered, 1ms);
    EXPECT_THAT(node.set(4_GiB).look(2ms).finished, IsEmpty());
    node.find("big").emptied_at = at(3ms);
    EXPECT_EQ(node.look(5ms).finished.size(), 1U);
}

TEST(Victim, HoldsUpTheNextUntilItIsGone) {
    Node node = hard_node();
    EXPECT_EQ(evicted(node.look(0s)), "uid-big");
    EXPECT_FALSE(node.look(1ms).evict);
    node.remove("big");
    EXPECT_EQ(evicted(node.look(2ms)), "uid-middle");
}

TEST(Victim, ThatDoesNotGoHoldsUpTheNextForThirtySeconds) {
    Node node = hard_node();
    node.look(0s);
    EXPECT_FALSE(node.look(29999ms).evict);
    const Decision decision = node.look(30s);
    EXPECT_EQ(evicted(decision), "uid-middle");
    EXPECT_EQ(decision.in_flight.size(), 2U);
}

TEST(Victim, IsNoCandidateForAsLongAsItIsThere) {
    Node node = hard_node();
    node.look(0s);
    EXPECT_EQ(evicted(node.look(30s)), "uid-middle");
    EXPECT_EQ(evicted(node.look(60s)), "uid-small");
    EXPECT_FALSE(node.look(90s).evict);
    EXPECT_FALSE(node.look(1h).evict);
}

TEST(Victim, DoesNotHoldUpConditionsAndClocks) {
    Node node = three_pods({hard(100_MiB), soft(1_GiB, 10s, Signal::allocatable_memory_available)});
    node.look(0s);
    EXPECT_EQ(node.set(500_MiB, Signal::allocatable_memory_available).look(1s).thresholds_pending.size(), 1U);
    EXPECT_EQ(node.look(11s).thresholds_met.size(), 2U);
}

TEST(SoftVictim, IsKilledWhenItsGracePeriodIsOver) {
    Node node = soft_node();
    EXPECT_THAT(node.look(39999ms).actions, IsEmpty());
    const Decision decision = node.look(40s);
    ASSERT_EQ(decision.actions.size(), 1U);
    EXPECT_EQ(decision.actions[0].kind, ActionKind::kill);
    EXPECT_EQ(decision.actions[0].pod.value, "uid-big");
    EXPECT_FALSE(decision.evict);
    EXPECT_THAT(decision.why, HasSubstr("default/big"));
}

TEST(SoftVictim, IsKilledOnce) {
    Node node = soft_node();
    node.look(40s);
    EXPECT_THAT(node.look(41s).actions, IsEmpty());
}

TEST(SoftVictim, IsKilledThoughTheThresholdIsNoLongerMet) {
    Node node = soft_node();
    EXPECT_EQ(node.set(4_GiB).look(40s).actions.size(), 1U);
}

TEST(SoftVictim, ThatEndsByItselfIsNotKilled) {
    Node node = soft_node();
    node.remove("big");
    node.set(4_GiB);
    const Decision decision = node.look(20s);
    ASSERT_EQ(decision.finished.size(), 1U);
    EXPECT_EQ(decision.finished[0].killed_at, MonotonicTime{});
    EXPECT_THAT(node.look(40s).actions, IsEmpty());
}

TEST(SoftVictim, HoldsUpTheNextForItsGracePeriodAndThirtySeconds) {
    Node node = soft_node();
    node.look(40s);
    EXPECT_FALSE(node.look(69999ms).evict);
    EXPECT_EQ(evicted(node.look(70s)), "uid-middle");
}

TEST(SoftVictim, ThatWasKilledEarlierHoldsUpTheNextForThirtySecondsFromThere) {
    Node node = three_pods({soft(1_GiB, 10s)});
    node.config.soft_eviction_grace = SoftEvictionGrace::pod;
    node.set(500_MiB).look(0s);
    const Decision begun = node.look(10s);
    node.carry_out(begun, OutcomeStatus::delivered, 11s);
    node.outcomes.at(0).action.kind = ActionKind::kill;  // whoever carries it out need not wait
    EXPECT_FALSE(node.look(12s).evict);
    EXPECT_THAT(node.look(40s + 999ms).actions, IsEmpty());
    EXPECT_EQ(evicted(node.look(41s)), "uid-middle");
}

TEST(SoftVictim, IsKilledAtOnceWhenAHardThresholdIsMetAndNoOtherPodIs) {
    Node node = soft_node();
    const Decision decision = node.set(50_MiB).look(15s);
    ASSERT_EQ(decision.actions.size(), 1U);
    EXPECT_EQ(decision.actions[0].kind, ActionKind::kill);
    EXPECT_EQ(decision.actions[0].pod.value, "uid-big");
    EXPECT_FALSE(decision.evict);
    EXPECT_THAT(decision.why, HasSubstr("cut short"));
    EXPECT_THAT(node.look(16s).actions, IsEmpty());
    EXPECT_FALSE(node.look(44s).evict);
    EXPECT_EQ(evicted(node.look(45s)), "uid-middle");
}

TEST(SoftVictim, IsNotCutShortByAStaleReading) {
    Node node = soft_node();
    node.set(50_MiB);
    EXPECT_THAT(node.look(15s, 10s).actions, IsEmpty());
}

TEST(Outcome, OfAFailedKillEndsTheVictimAndTheNextOneIsChosen) {
    Node node = hard_node();
    node.carry_out(node.look(0s), OutcomeStatus::failed, 1ms, "cgroup.kill: Permission denied");
    const Decision decision = node.look(1s);
    ASSERT_EQ(decision.finished.size(), 1U);
    EXPECT_TRUE(decision.finished[0].failed);
    EXPECT_EQ(decision.finished[0].error, "cgroup.kill: Permission denied");
    EXPECT_EQ(evicted(decision), "uid-middle");
    node.remove("middle");
    EXPECT_EQ(evicted(node.look(29999ms)), "uid-small");
    node.remove("small");
}

TEST(Outcome, OfAFailedKillPassesThePodOverForThirtySecondsWhileThereIsAnother) {
    Node node = hard_node();
    node.carry_out(node.look(0s), OutcomeStatus::failed, 1ms, "no");
    EXPECT_EQ(evicted(node.look(1s)), "uid-middle");
    node.remove("middle");
    EXPECT_EQ(evicted(node.look(30s)), "uid-big");
}

TEST(Outcome, OfAFailedKillDoesNotPassThePodOverWhenItIsHeardOfLate) {
    Node node = hard_node();
    node.carry_out(node.look(0s), OutcomeStatus::failed, 1ms, "no");
    EXPECT_EQ(evicted(node.look(30s)), "uid-big");
}

TEST(Outcome, OfAFailedKillDoesNotProtectTheOnlyCandidate) {
    Node node = hard_node();
    node.remove("middle");
    node.remove("small");
    node.carry_out(node.look(0s), OutcomeStatus::failed, 1ms, "no");
    EXPECT_EQ(evicted(node.look(1s)), "uid-big");
}

TEST(Outcome, OfAFailedKillOfAPodThatIsGoneAllTheSameIsNoFailure) {
    Node node = hard_node();
    node.carry_out(node.look(0s), OutcomeStatus::failed, 1ms, "no");
    node.remove("big");
    const Decision decision = node.look(1s);
    ASSERT_EQ(decision.finished.size(), 1U);
    EXPECT_FALSE(decision.finished[0].failed);
}

TEST(Outcome, VanishedEndsTheVictimWithoutAFailure) {
    Node node = hard_node();
    node.carry_out(node.look(0s), OutcomeStatus::vanished, 1ms);
    node.remove("big");
    const Decision decision = node.look(1s);
    ASSERT_EQ(decision.finished.size(), 1U);
    EXPECT_FALSE(decision.finished[0].failed);
    EXPECT_THAT(decision.finished[0].error, HasSubstr("gone"));
    EXPECT_EQ(decision.finished[0].killed_at, MonotonicTime{});
    EXPECT_EQ(decision.finished[0].emptied_at, at(1s));
}

TEST(Outcome, VanishedOfAPodStillListedUnchangedPassesItOver) {
    Node node = hard_node();
    node.carry_out(node.look(0s), OutcomeStatus::vanished, 1ms);
    EXPECT_EQ(evicted(node.look(1s)), "uid-middle");
}

TEST(Outcome, VanishedOfAPodThatWasMadeAgainDoesNotProtectTheNewOne) {
    Node node = hard_node();
    node.carry_out(node.look(0s), OutcomeStatus::vanished, 1ms);
    node.find("big").cgroup = {101};
    EXPECT_EQ(evicted(node.look(1s)), "uid-big");
}

TEST(Outcome, OfAnotherCgroupOfThePodIsNotMixedUp) {
    Node node = hard_node();
    const Decision decision = node.look(0s);
    ASSERT_EQ(decision.actions.size(), 1U);
    Action action = decision.actions[0];
    EXPECT_EQ(action.cgroup, node.find("big").cgroup);
    action.cgroup = {4711};
    node.outcomes = {{action, OutcomeStatus::failed, {}, {}, 0, "", "no"}};
    EXPECT_THAT(node.look(1s).finished, IsEmpty());
    action.cgroup = {};  // of a tape that does not tell
    node.outcomes = {{action, OutcomeStatus::failed, {}, {}, 0, "", "no"}};
    EXPECT_FALSE(node.look(2s).finished.empty());
}

TEST(SoftVictim, IsKilledInTheCgroupThatItWasChosenIn) {
    Node node = soft_node();
    const auto chosen = node.find("big").cgroup;
    const Decision decision = node.look(40s);
    ASSERT_EQ(decision.actions.size(), 1U);
    EXPECT_EQ(decision.actions[0].cgroup, chosen);
}

TEST(Outcome, OfAnotherPodIsNotMixedUp) {
    Node node = hard_node();
    node.look(0s);
    node.outcomes = {{{ActionKind::kill, {"uid-small"}, ""}, OutcomeStatus::failed, {}, {}, 0, "", "no"}};
    EXPECT_THAT(node.look(1s).finished, IsEmpty());
}

TEST(DryRun, APodIsNamedAgainOnlyAfterThirtySecondsAndNoOtherMeanwhile) {
    Node node = hard_node();
    node.carry_out(node.look(0s), OutcomeStatus::dry_run, 1ms);
    for (const Duration since : {Duration(1ms), Duration(15s), Duration(29999ms)}) {
        EXPECT_FALSE(node.look(since).evict) << since.count();
    }
    const Decision decision = node.look(30s);
    EXPECT_EQ(evicted(decision), "uid-big");
    EXPECT_THAT(decision.finished, IsEmpty());
    EXPECT_EQ(decision.in_flight.size(), 1U);
}

TEST(DryRun, ASoftVictimIsKilledOnPaperOnly) {
    Node node = three_pods({soft(1_GiB, 10s)});
    node.config.soft_eviction_grace = SoftEvictionGrace::pod;
    node.set(500_MiB).look(0s);
    node.carry_out(node.look(10s), OutcomeStatus::dry_run, 10s);
    const Decision kill = node.look(40s);
    ASSERT_EQ(kill.actions.size(), 1U);
    node.carry_out(kill, OutcomeStatus::dry_run, 40s);
    EXPECT_FALSE(node.look(69s).evict);
    EXPECT_EQ(evicted(node.look(70s)), "uid-big");
}

TEST(DryRun, APodThatEndsByItselfWasNotEvicted) {
    Node node = hard_node();
    node.carry_out(node.look(0s), OutcomeStatus::dry_run, 1ms);
    node.look(1s);
    node.remove("big");
    const Decision decision = node.set(4_GiB).look(2s);
    EXPECT_THAT(decision.finished, IsEmpty());
    EXPECT_THAT(decision.in_flight, IsEmpty());
}

}  // namespace
}  // namespace evictd::policy::testing
