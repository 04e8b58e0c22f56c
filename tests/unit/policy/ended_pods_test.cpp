// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A pod that is evicted is told to the API server once and is watched; what an earlier agent had begun is carried out.
#include "ended_pods.hpp"

#include <gmock/gmock.h>

#include "unit/policy/ended.hpp"

namespace evictd::policy {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Result = PodStatusResult;
using Step = EndStepKind;

TEST(EndedPods, AHardEvictionIsDesiredWithTheKill) {
    Ended node;
    node.change("big", [](Pod& pod) { pod.generation = 7; });
    const auto decision = node.act(0s);
    EXPECT_THAT(kills(decision), ElementsAre("uid-big"));
    ASSERT_EQ(decision.pod_statuses.size(), 1U);
    const auto& desired = decision.pod_statuses[0];
    EXPECT_EQ(desired, (DesiredPodStatus{.pod = {"uid-big"},
                                         .name_space = "default",
                                         .name = "big",
                                         .end = PodEnd::failed,
                                         .reason = "Evicted",
                                         .message = decision.evict->message,
                                         .disruption_target = true,
                                         .generation = 7,
                                         .attempt = 1,
                                         .decided_at = at(0s),
                                         .detected_at = at(0s)}));
    EXPECT_THAT(desired.message, HasSubstr("The node was low on resource: memory. "));
}

TEST(EndedPods, WithoutAnApiServerNothingIsDesired) {
    Ended node;
    node.config.pod_statuses = false;
    const auto decision = node.act(0s);
    EXPECT_THAT(kills(decision), ElementsAre("uid-big"));
    EXPECT_THAT(decision.pod_statuses, IsEmpty());
    EXPECT_EQ(node.ended(), nullptr);
}

TEST(EndedPods, ALimitOfItsOwnIsNoDisruption) {
    Ended node({hard(1_MiB)});
    node.find("big").usage->disk.empty_dirs = {{"cache", 20_MiB}};
    node.change("big", [](Pod& pod) {
        pod.volumes = {{.name = "cache", .kind = VolumeKind::empty_dir, .size_limit = quantity(10_MiB)}};
    });
    const auto decision = node.look(0s);
    ASSERT_EQ(decision.pod_statuses.size(), 1U);
    EXPECT_FALSE(decision.pod_statuses[0].disruption_target);
    EXPECT_EQ(decision.pod_statuses[0].message, decision.limit_evictions[0].message);
}

TEST(EndedPods, StaysDesiredUntilItWasWatchedFor12s) {
    Ended node;
    node.evict_big();
    EXPECT_EQ(node.look(12s).pod_statuses.size(), 1U);
    const auto last = node.look(12006ms);
    EXPECT_THAT(last.pod_statuses, IsEmpty());
    EXPECT_THAT(steps(last), ElementsAre(Step::stayed_ended));
    EXPECT_EQ(node.ended()->stage, EndStage::over) << "its attempts are counted on";
    node.remove("big");
    node.look(13s);
    EXPECT_EQ(node.ended(), nullptr);
}

TEST(EndedPods, TheClockOfTheWatchIsPartOfTheDecision) {
    Ended node;
    node.evict_big();
    const auto decision = node.look(11900ms);
    EXPECT_EQ(decision.next_look.at, at(12005ms));
    EXPECT_EQ(decision.next_look.why, NextLookReason::pod_status);
    EXPECT_TRUE(decision.watch.exits) << "a restart is to be reported";
    EXPECT_FALSE(node.look(12005ms).watch.exits);
}

TEST(EndedPods, WhileTheApiServerIsAwayTheIntentStaysAndTheRestartedPodIsKilled) {
    Ended node;
    node.kill_big();
    node.answer(Result::unreachable, 1, 1s);
    EXPECT_THAT(steps(node.look(1s)), ElementsAre(Step::unreachable));
    for (int i = 0; i < 5; ++i) {
        node.start();
        EXPECT_THAT(kills(node.act(Duration(10s * (i + 1)))), ElementsAre("uid-big"));
        node.stop(10s * (i + 1) + 2ms);
        node.look(10s * (i + 1) + 2ms);
    }
    node.answer(Result::unreachable, 6, 51s);
    node.look(51s);
    node.look(6min);  // no pressure any more
    node.start();
    const auto held = node.look(7min);
    EXPECT_THAT(kills(held), IsEmpty()) << "without pressure it may run";
    EXPECT_THAT(held.pod_statuses, IsEmpty()) << "the API server is not to end it when it is back";
    EXPECT_THAT(kills(node.act(8min)), IsEmpty());
}

TEST(EndedPods, AnAnswerThatNeverComesKeepsTheIntentForEver) {
    Ended node;
    node.kill_big();
    node.look(1s);
    EXPECT_EQ(node.look(1h).pod_statuses.size(), 1U);
}

TEST(EndedPods, APodThatIsGoneIsDesiredNoLonger) {
    Ended node;
    node.kill_big();
    node.answer(Result::gone, 1, 3ms);
    EXPECT_THAT(node.look(3ms).pod_statuses, IsEmpty());
}

TEST(EndedPods, ARejectedRequestIsReportedAndThePodWatchedAllTheSame) {
    Ended node;
    node.kill_big();
    node.answer(Result::rejected, 1, 3ms);
    EXPECT_THAT(steps(node.look(3ms)), ElementsAre(Step::rejected));
    node.start();
    EXPECT_THAT(kills(node.look(700ms)), ElementsAre("uid-big"));
}

TEST(EndedPods, ADryRunDesiresAndWatchesNothing) {
    Ended node;
    const auto decision = node.look(0s);
    EXPECT_EQ(decision.pod_statuses.size(), 1U);
    node.carry_out(decision, OutcomeStatus::dry_run, 1ms);
    node.answer(Result::pretended, 1, 1ms);
    EXPECT_THAT(node.look(2ms).pod_statuses, IsEmpty());
    EXPECT_THAT(kills(node.look(20s)), IsEmpty());
    EXPECT_EQ(node.look(31s).pod_statuses[0].attempt, 2) << "never two first attempts for a uid";
}

TEST(EndedPods, APodThatCouldNotBeKilledMayBeChosenAgain) {
    Ended node;
    node.remove("middle");
    node.carry_out(node.look(0s), OutcomeStatus::failed, 1ms, "EPERM");
    EXPECT_EQ(evicted(node.look(1s)), "uid-big");
    EXPECT_EQ(node.ended()->desired.attempt, 2);
}

TEST(EndedPods, AnIntentOfAnAgentBeforeIsCarriedOut) {
    Ended node;
    node.set(500_MiB);
    node.recalled = {{.pod = {"uid-big"},
                      .name_space = "default",
                      .name = "big",
                      .reason = "Evicted",
                      .attempt = 3,
                      .decided_at = at(-9min)}};
    const auto decision = node.act(1s);
    EXPECT_THAT(kills(decision), ElementsAre("uid-big"));
    EXPECT_THAT(steps(decision), ElementsAre(Step::resumed));
    ASSERT_EQ(decision.pod_statuses.size(), 1U);
    EXPECT_EQ(decision.pod_statuses[0].attempt, 4);
}

TEST(EndedPods, AnOldIntentOfAnAgentBeforeKillsNoPod) {
    Ended node;
    node.set(500_MiB);
    node.recalled = {{.pod = {"uid-big"}, .name_space = "default", .name = "big", .decided_at = at(-11min)}};
    const auto decision = node.act(1s);
    EXPECT_THAT(kills(decision), IsEmpty());
    EXPECT_THAT(decision.pod_statuses, IsEmpty());
}

// The API server and the kubelet were away meanwhile.
TEST(EndedPods, AnIntentOfAnAgentBeforeKillsNoPodThatIsListedLongAfterIt) {
    Ended node;
    node.set(500_MiB);
    node.recalled = {{.pod = {"uid-big"}, .name_space = "default", .name = "big", .decided_at = at(-1min)}};
    const auto pods = std::exchange(node.pods, {});
    EXPECT_THAT(kills(node.act(1s)), IsEmpty());
    node.recalled.clear();
    node.pods = pods;
    const auto decision = node.act(10min);
    EXPECT_THAT(kills(decision), IsEmpty());
    EXPECT_THAT(decision.pod_statuses, IsEmpty());
}

TEST(EndedPods, AnIntentOfAnAgentBeforeWhosePodIsDeadIsDeliveredAsItWas) {
    Ended node;
    node.set(500_MiB);
    node.stop(-1s);
    node.recalled = {
        {.pod = {"uid-big"}, .name_space = "default", .name = "big", .reason = "Evicted", .decided_at = at(-1min)}};
    const auto decision = node.look(1s);
    EXPECT_THAT(kills(decision), IsEmpty());
    EXPECT_EQ(decision.pod_statuses[0].attempt, 1);
    node.answer(Result::accepted, 1, 2s);
    node.show(PodPhase::failed);
    node.look(2s);
    EXPECT_THAT(node.look(14s).pod_statuses, IsEmpty());
}

TEST(EndedPods, AnIntentOfAnotherBootOrOfAStaticPodKillsNothing) {
    Ended node;
    node.set(500_MiB);
    node.pods.push_back(pod({.name = "static", .origin = PodOrigin::static_file, .cgroup = 5}));
    node.recalled = {{.pod = {"uid-big"}, .decided_at = at(1h)}, {.pod = {"uid-static"}, .decided_at = at(-1s)}};
    EXPECT_THAT(kills(node.look(1s)), IsEmpty());
}

TEST(EndedPods, APodThatIsBeingDeletedIsLeftToItsOwnEnd) {
    Ended node;
    const auto now = WallTime(std::chrono::hours(1000));
    const auto deleted_at = [&](Duration ends) {
        node.change("big", [&](Pod& pod) { pod.deletion_time = now + ends; });
        node.state = {};
        return evicted(node.look(0s));
    };
    EXPECT_EQ(deleted_at(-1s), "") << "its memory is about to come back: no neighbour is evicted for it";
    EXPECT_EQ(deleted_at(900ms), "uid-big") << "its grace outlasts a kill at once";
    EXPECT_EQ(deleted_at(20s), "uid-big");
    EXPECT_EQ(deleted_at(-5s), "uid-big") << "overdue: its deletion does not end it";
    node.config.thresholds = {soft(100_MiB, 1s)};
    node.config.max_pod_grace_period = 25s;
    node.change("big", [&](Pod& pod) { pod.deletion_time = now + 20s; });
    node.state = {};
    node.look(0s);
    EXPECT_EQ(evicted(node.look(1s)), "") << "a soft eviction would give it 25s";
}

}  // namespace
}  // namespace evictd::policy
