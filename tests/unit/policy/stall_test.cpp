// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Thresholds on stalls: when they are met, whom they cost what, and what confirms pressure.
#include "stall.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stalling.hpp"

namespace evictd::policy {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(Stalling, WorkAtItsOwnLimitMakesNoPodTheNodesCulprit) {
    node.find("worker").stall->reclaimed = 2_GiB;  // at its own limit, where it streams page cache
    node.find("worker").stall->reclaimed_for_node = 0_MiB;
    node.find("thrasher").stall->reclaimed_for_node = 30_MiB;
    node.config.stalls = {line()};
    lose(50);
    const auto decision = look(1s);
    ASSERT_TRUE(decision.evict);
    EXPECT_EQ(decision.evict->pod, node.find("thrasher").pod->uid);
}

TEST_F(Stalling, NoPodIsEvictedWhereAllWaitAtTheirOwnLimits) {
    for (const char* name : {"worker", "thrasher"}) node.find(name).stall->reclaimed_for_node = 0_MiB;
    node.config.stalls = {line()};
    lose(50);
    const auto decision = look(1s);
    EXPECT_FALSE(decision.evict) << decision.why;
    EXPECT_NE(decision.why.find("no pod is known to cause it"), std::string::npos) << decision.why;
}

TEST_F(Stalling, WithoutAThresholdNothingComesOfIt) {
    lose(100);
    const auto decision = look(1s);
    EXPECT_EQ(evicted(decision), "");
    EXPECT_THAT(decision.conditions, IsEmpty());
    EXPECT_THAT(decision.stall_edges, IsEmpty());
}

TEST_F(Stalling, AHardThresholdEvictsThePodThatCausesTheStallAndNotTheLargest) {
    node.config.stalls = {line()};
    lose(9);
    EXPECT_EQ(evicted(look(1s)), "");
    lose(10);
    const auto decision = look(2s);
    EXPECT_EQ(evicted(decision), "uid-thrasher");
    EXPECT_TRUE(decision.evict->immediate);
    ASSERT_TRUE(decision.evict->stall);
    EXPECT_EQ(decision.evict->stall->lost, 100ms);
    EXPECT_THAT(decision.evict->message, HasSubstr("The node was low on resource: memory. Tasks stalled on memory"));
    EXPECT_THAT(decision.conditions, ElementsAre(Condition::memory_pressure));
    EXPECT_THAT(decision.why, HasSubstr("default/thrasher did 900Mi of reclaim work"));
    EXPECT_THAT(decision.why, HasSubstr("tasks of the node stalled on memory for 10% of the last 1s (some)"));
}

TEST_F(Stalling, ItIsReportedWhenItBeginsAndWhenItEnds) {
    node.config.stalls = {line(30s)};
    lose(50);
    auto decision = look(1s);
    ASSERT_THAT(decision.stall_edges, SizeIs(1));
    EXPECT_TRUE(decision.stall_edges.front().met);
    EXPECT_THAT(look(2s).stall_edges, IsEmpty());
    lose(1);
    decision = look(3s);
    ASSERT_THAT(decision.stall_edges, SizeIs(1));
    EXPECT_FALSE(decision.stall_edges.front().met);
    EXPECT_THAT(decision.conditions, ElementsAre(Condition::memory_pressure)) << "for the transition period";
    EXPECT_THAT(look(3s + 5min).conditions, IsEmpty());
}

TEST_F(Stalling, ASoftThresholdWaitsForItsGracePeriodAndGivesThePodItsOwn) {
    node.config.soft_eviction_grace = SoftEvictionGrace::pod;
    node.config.stalls = {line(5s)};
    lose(50);
    auto decision = look(1s);
    EXPECT_EQ(evicted(decision), "");
    EXPECT_THAT(decision.stalls_pending, SizeIs(1));
    EXPECT_EQ(decision.look_again_at, at(6s));
    EXPECT_THAT(decision.why, HasSubstr("its grace period ends in 5s"));
    decision = look(6s);
    EXPECT_EQ(evicted(decision), "uid-thrasher");
    EXPECT_FALSE(decision.evict->immediate);
    EXPECT_EQ(decision.evict->grace_period, 30s);
}

TEST_F(Stalling, ADipBeginsTheGracePeriodAnew) {
    node.config.stalls = {line(5s)};
    lose(50);
    (void)look(1s);
    lose(0);
    (void)look(4s);
    lose(50);
    EXPECT_EQ(evicted(look(7s)), "");
    EXPECT_EQ(evicted(look(12s)), "uid-thrasher");
}

TEST_F(Stalling, OfThePodsThatCauseItTheLowestPriorityGoesFirst) {
    node.config.stalls = {line()};
    works("worker", 300_MiB);
    set_priority("thrasher", 100);
    lose(50);
    EXPECT_EQ(evicted(look(1s)), "uid-worker");
}

TEST_F(Stalling, APodThatDoesLittleOfTheWorkIsNotToBlameWhateverItsPriority) {
    node.config.stalls = {line()};
    set_priority("thrasher", 100);
    set_priority("worker", -10);
    lose(50);
    EXPECT_EQ(evicted(look(1s)), "uid-thrasher");
}

TEST_F(Stalling, WhereNoCulpritIsFoundTheOrderIsTheKubelets) {
    node.config.stalls = {line()};
    for (auto& pod : node.pods) pod.stall.reset();
    lose(50);
    const auto decision = look(1s);
    EXPECT_EQ(evicted(decision), "uid-big");
    EXPECT_THAT(decision.why, HasSubstr("no culprit found; using the memory order"));
}

TEST_F(Stalling, ACriticalPodThatCausesItStays) {
    node.config.stalls = {line()};
    set_priority("thrasher", 2'000'000'000);
    works("worker", 150_MiB);
    lose(50);
    EXPECT_EQ(evicted(look(1s)), "uid-worker");
}

TEST_F(Stalling, BytesComeFirst) {
    node.config.stalls = {line()};
    node.set(50_MiB);
    lose(50);
    const auto decision = look(1s);
    EXPECT_EQ(evicted(decision), "uid-big");
    EXPECT_FALSE(decision.evict->stall);
}

TEST_F(Stalling, TimeLostBeforeAVictimEndedEvictsNoOtherPod) {
    node.config.stalls = {line(0s, StallWindow::ten_seconds)};
    lose(50);
    const auto first = look(1s);
    ASSERT_EQ(evicted(first), "uid-thrasher");
    node.carry_out(first, OutcomeStatus::delivered, 1s);
    node.remove("thrasher");
    works("worker", 300_MiB);
    auto decision = look(2s);
    EXPECT_EQ(evicted(decision), "") << "its stall is still in the window";
    EXPECT_THAT(decision.why, HasSubstr("before the last eviction"));
    EXPECT_EQ(decision.look_again_at, at(12s));
    EXPECT_EQ(evicted(look(12s - 1ms)), "");
    EXPECT_EQ(evicted(look(12s)), "uid-worker") << "tasks are still stalled, and not for the first one's sake";
}

TEST_F(Stalling, APodsOwnStallIsComparedByItself) {
    node.config.stalls = {{.scope = StallScope::pod, .window = StallWindow::second, .share = ten_percent}};
    lose(100);
    EXPECT_EQ(evicted(look(1s)), "") << "the node's is not asked about";
    node.find("worker").stall->some[1] = 200ms;
    const auto decision = look(2s);
    ASSERT_THAT(decision.stalls_met, SizeIs(1));
    EXPECT_EQ(decision.stalls_met.front().pod.value, "uid-worker");
    EXPECT_EQ(evicted(decision), "uid-thrasher") << "who causes it goes, not who suffers";
    EXPECT_THAT(decision.why, HasSubstr("tasks of default/worker stalled on"));
}

// It may wait for its own limit: new pods do not have to stay away from the node for that.
TEST_F(Stalling, APodsOwnStallIsNoConditionOfTheNode) {
    node.config.node_status = NodeStatusUse::taints;
    node.config.stalls = {{.scope = StallScope::pod, .window = StallWindow::second, .share = ten_percent}};
    node.find("worker").stall->some[1] = 200ms;
    const auto decision = look(1s);
    ASSERT_THAT(decision.stalls_met, SizeIs(1));
    EXPECT_THAT(decision.conditions, IsEmpty());
    ASSERT_TRUE(decision.node_status);
    EXPECT_THAT(decision.node_status->taints, IsEmpty());
}

TEST_F(Stalling, ForAPodsOwnNoPodIsEvictedWhereNoCulpritIsFound) {
    node.config.stalls = {{.scope = StallScope::pod, .share = ten_percent}};
    for (auto& pod : node.pods) pod.stall.reset();
    node.find("worker").stall = PodStall{{100ms, 1s, 5s}, 0_MiB};  // at its limit, where nobody counts reclaim work
    const auto decision = look(1s);
    EXPECT_THAT(decision.stalls_met, SizeIs(1)) << "it is told";
    EXPECT_EQ(evicted(decision), "");
    EXPECT_THAT(decision.why, HasSubstr("no pod is known to cause it"));
}

TEST_F(Stalling, APodsFullIsComparedWhereItIsKnown) {
    node.config.stalls = {{.kind = StallKind::full, .scope = StallScope::pod, .share = ten_percent}};
    node.find("worker").stall->some[1] = 900ms;
    EXPECT_THAT(look(1s).stalls_met, IsEmpty()) << "some is not full";
    node.find("worker").stall->full = StallTimes{0ms, 99ms, 99ms};
    EXPECT_THAT(look(2s).stalls_met, IsEmpty());
    node.find("worker").stall->full = StallTimes{0ms, 100ms, 100ms};
    const auto decision = look(3s);
    ASSERT_THAT(decision.stalls_met, SizeIs(1));
    EXPECT_EQ(decision.stalls_met.front().pod.value, "uid-worker");
    EXPECT_EQ(evicted(decision), "uid-thrasher");
    EXPECT_THAT(decision.why, HasSubstr("tasks of default/worker stalled on memory for 10% of the last 1s (full)"));
}

TEST_F(Stalling, AReadingTooSoonAfterAVictimsEndEvictsNoOtherPod) {
    node.config.stalls = {{.kind = StallKind::full, .scope = StallScope::pod, .share = ten_percent}};
    const auto full_at = [&](Duration read_at) {
        node.find("worker").stall->full = StallTimes{0ms, 500ms, 500ms};
        node.find("worker").stall->read_at = at(read_at);
    };
    full_at(1s);
    const auto first = look(1s);
    ASSERT_EQ(evicted(first), "uid-thrasher");
    node.carry_out(first, OutcomeStatus::delivered, 1s);
    node.remove("thrasher");
    works("worker", 300_MiB);
    (void)look(2s);
    full_at(3s - 1ms);
    EXPECT_EQ(evicted(look(4s)), "") << "its window reaches back before the victim ended";
    full_at(3s);
    EXPECT_EQ(evicted(look(5s)), "uid-worker");
}

TEST_F(Stalling, IoTripsNoConditionAndWhatIsNotMeasuredIsNeverMet) {
    node.config.stalls = {{.resource = StallResource::io, .share = ten_percent, .grace_period = 5s},
                          {.resource = StallResource::cpu, .kind = StallKind::full, .share = 1}};
    lose(50, StallResource::io);
    const auto decision = look(1s);
    EXPECT_THAT(decision.stalls_pending, SizeIs(1));
    EXPECT_THAT(decision.conditions, IsEmpty());
}

TEST_F(Stalling, ForIoThePodThatDoesReclaimWorkIsEvicted) {
    node.config.stalls = {{.resource = StallResource::io, .share = ten_percent}};
    lose(50, StallResource::io);
    EXPECT_EQ(evicted(look(1s)), "uid-thrasher");
}

TEST_F(Stalling, ForIoNoPodIsEvictedWhereNoneDoesReclaimWork) {
    node.config.stalls = {{.resource = StallResource::io, .share = ten_percent}};
    lose(50, StallResource::io);
    for (auto& pod : node.pods) pod.stall.reset();
    const auto decision = look(1s);
    EXPECT_EQ(evicted(decision), "");
    EXPECT_THAT(decision.stalls_met, SizeIs(1));
    EXPECT_THAT(decision.why, HasSubstr("no pod is known to cause it"));
}

TEST_F(Stalling, ForIoNoPodIsEvictedInPlaceOfExemptOnes) {
    node.config.stalls = {{.resource = StallResource::io, .share = ten_percent}};
    lose(50, StallResource::io);
    set_priority("thrasher", 2'000'000'000);
    node.find("worker").stall.reset();
    EXPECT_EQ(evicted(look(1s)), "");
}

TEST_F(Stalling, ForCpuNoPodIsEvicted) {
    node.config.stalls = {{.resource = StallResource::cpu, .share = ten_percent}};
    lose(100, StallResource::cpu);
    const auto decision = look(1s);
    EXPECT_EQ(evicted(decision), "");
    EXPECT_THAT(decision.stalls_met, SizeIs(1));
    EXPECT_THAT(decision.why, HasSubstr("stalled on cpu"));
}

TEST_F(Stalling, AHardStallCutsASoftEvictionsGraceShort) {
    node.config.soft_eviction_grace = SoftEvictionGrace::pod;
    node.config.thresholds = {soft(1_GiB, 1s)};
    node.config.stalls = {line()};
    node.set(500_MiB);
    (void)look(1s);
    const auto softly = look(2s);
    ASSERT_EQ(evicted(softly), "uid-big");
    node.carry_out(softly, OutcomeStatus::delivered, 2s);
    lose(50);
    const auto decision = look(3s);
    ASSERT_THAT(decision.actions, SizeIs(1));
    EXPECT_EQ(decision.actions.front().kind, ActionKind::kill);
    EXPECT_THAT(decision.why, HasSubstr("cut short"));
}

TEST(StallShares, AreShownAsTheyAreConfigured) {
    EXPECT_EQ(say_share(1000), "10%");
    EXPECT_EQ(say_share(50), "0.5%");
    EXPECT_EQ(say_share(1234), "12.34%");
    EXPECT_EQ(say_share(10000), "100%");
}

}  // namespace
}  // namespace evictd::policy
