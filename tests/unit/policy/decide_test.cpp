// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// One look: whether somebody is evicted, who, how long they get, and when to look again.
#include "decide.hpp"

#include <gmock/gmock.h>

#include "unit/policy/node.hpp"

namespace evictd::policy::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Node node_with(std::vector<Threshold> thresholds, std::vector<PodWords> pods) {
    Node node{.config = {std::move(thresholds)}};
    for (const auto& words : pods) node.pods.push_back(pod(words));
    return node;
}

const std::vector<PodWords> big_and_small{{.name = "small", .working_set = 1_MiB},
                                          {.name = "big", .working_set = 2_GiB}};

TEST(Decide, NothingIsDoneWhileNoThresholdIsMet) {
    Node node = node_with({hard(100_MiB)}, big_and_small);
    const Decision decision = node.set(1_GiB).look(0s);
    EXPECT_FALSE(decision.evict);
    EXPECT_THAT(decision.actions, IsEmpty());
    EXPECT_FALSE(decision.look_again_at);
}

TEST(Decide, RanksThePodsThoughNothingIsMet) {
    Node node = node_with({hard(100_MiB)}, big_and_small);
    EXPECT_THAT(names(node.set(1_GiB).look(0s).ranking, node.pods), ElementsAre("big", "small"));
}

TEST(Decide, AHardThresholdKillsTheFirstPodAtOnce) {
    Node node = node_with({hard(100_MiB)}, big_and_small);
    const Decision decision = node.set(96_MiB).look(0s);
    ASSERT_TRUE(decision.evict);
    EXPECT_EQ(decision.evict->pod.value, "uid-big");
    EXPECT_TRUE(decision.evict->immediate);
    EXPECT_EQ(decision.evict->grace_period, 1s);
    EXPECT_EQ(decision.evict->threshold.quantity.value, (100_MiB).value);
    EXPECT_EQ(decision.evict->threshold.available.value, (96_MiB).value);
    ASSERT_EQ(decision.actions.size(), 1U);
    EXPECT_EQ(decision.actions[0].kind, ActionKind::kill);
    EXPECT_EQ(decision.actions[0].pod.value, "uid-big");
    EXPECT_EQ(decision.actions[0].pod_name, "default/big");
    ASSERT_EQ(decision.in_flight.size(), 1U);
    EXPECT_EQ(decision.in_flight[0].pod_name, "default/big");
    EXPECT_EQ(decision.in_flight[0].cause.detected_at, at(0s));
}

TEST(Decide, AVictimKeepsItsDescriptionWhenItsPodIsGone) {
    Node node = node_with({hard(100_MiB)}, big_and_small);
    const Decision first = node.set(96_MiB).look(0s);
    ASSERT_TRUE(first.evict);
    node.carry_out(first, OutcomeStatus::delivered, 0s);
    node.remove("big");  // its manifest is gone, and its processes are not
    auto observation = node.observe(1s);
    observation.victims = {{.pod = {"uid-big"}, .cgroup = {100}, .populated = true, .held = {}}};
    const Decision decision = decide(node.config, observation, node.state).decision;
    ASSERT_EQ(decision.in_flight.size(), 1U);
    EXPECT_EQ(decision.in_flight[0].pod_name, "default/big");
    EXPECT_EQ(decision.in_flight[0].qos, QosClass::best_effort);
    ASSERT_TRUE(decision.in_flight[0].usage);
    EXPECT_EQ(decision.in_flight[0].usage->value, (2_GiB).value);
}

TEST(Decide, AllocatableMemoryEvictsTheSameWay) {
    Node node = node_with({hard(100_MiB, {}, Signal::allocatable_memory_available)}, big_and_small);
    const Decision decision = node.set(96_MiB, Signal::allocatable_memory_available).look(0s);
    EXPECT_EQ(evicted(decision), "uid-big");
    EXPECT_EQ(decision.evict->threshold.threshold.signal, Signal::allocatable_memory_available);
}

TEST(Decide, TheFirstThresholdHandledIsTheOneThatEvicts) {
    Node node = node_with({hard(100_MiB, {}, Signal::pid_available), soft(500_MiB, 0s), hard(100_MiB)}, big_and_small);
    node.set(1_MiB, Signal::pid_available);
    const Decision decision = node.set(96_MiB).look(0s);
    ASSERT_TRUE(decision.evict);
    EXPECT_EQ(decision.evict->threshold.quantity.value, (500_MiB).value);
    EXPECT_TRUE(decision.evict->immediate);  // a grace period of zero is what makes a threshold hard
}

TEST(Decide, AShortDiskIsReclaimedBeforeAnyPodIsEvicted) {
    Node node = node_with({hard(100_MiB, {}, Signal::nodefs_available)}, big_and_small);
    const Decision decision = node.set(1_MiB, Signal::nodefs_available).look(0s);
    EXPECT_EQ(decision.thresholds_met.size(), 1U);
    EXPECT_FALSE(decision.reclaim.empty());
    EXPECT_THAT(decision.conditions, ElementsAre(Condition::disk_pressure));
    EXPECT_FALSE(decision.evict);
    EXPECT_EQ(decision.ranking.size(), 2U);
}

TEST(Decide, ExemptPodsAreNeverChosen) {
    const std::vector<PodWords> exempt{
        {.name = "critical", .working_set = 9_GiB, .priority = 2'000'000'000},
        {.name = "static", .working_set = 9_GiB, .origin = PodOrigin::static_file},
        {.name = "mirror", .working_set = 9_GiB, .origin = PodOrigin::mirror},
        {.name = "empty", .working_set = {}, .populated = false},
        {.name = "nowhere", .working_set = {}, .cgroup = 0},
    };
    Node node = node_with({hard(100_MiB)}, exempt);
    const Decision nobody = node.set(1_MiB).look(0s);
    EXPECT_FALSE(nobody.evict);
    EXPECT_EQ(nobody.ranking.size(), exempt.size());
    node.pods.push_back(pod({.name = "small", .working_set = 1_B}));
    EXPECT_EQ(evicted(node.look(1s)), "uid-small");
}

TEST(Decide, APodWhoseUsageIsNotKnownGoesFirst) {
    Node node = node_with({hard(100_MiB)}, big_and_small);
    node.pods.push_back(pod({.name = "unknown", .working_set = {}, .priority = 1000}));
    EXPECT_EQ(evicted(node.set(1_MiB).look(0s)), "uid-unknown");
}

TEST(Decide, TheSameReadingTwiceEvictsOnce) {
    Node node = node_with({hard(100_MiB)}, big_and_small);
    node.set(1_MiB);
    EXPECT_EQ(evicted(node.look(0s, 0s)), "uid-big");
    node.remove("big");
    const Decision stale = node.look(1s, 0s);
    EXPECT_FALSE(stale.evict);
    EXPECT_EQ(stale.thresholds_met.size(), 1U);
    EXPECT_FALSE(node.look(2s, -1s).evict);
    EXPECT_EQ(evicted(node.look(3s, 3s)), "uid-small");
}

TEST(Decide, AReadingWithoutATimeAlwaysCountsAsNew) {
    Node node = node_with({hard(100_MiB)}, big_and_small);
    node.set(1_MiB);
    const Duration none = MonotonicTime{} - boot;
    EXPECT_EQ(evicted(node.look(0s, none)), "uid-big");
    node.remove("big");
    EXPECT_EQ(evicted(node.look(1s, none)), "uid-small");
}

TEST(Decide, AReadingThatWasMissingAtTheLastLookCountsAsNew) {
    Node node = node_with({hard(100_MiB)}, {});
    node.set(1_MiB).look(0s, 0s);
    node.forget(Signal::memory_available).look(1s);
    node.pods.push_back(pod({.name = "a", .working_set = 1_MiB}));
    EXPECT_EQ(evicted(node.set(1_MiB).look(2s, 0s)), "uid-a");
}

TEST(Decide, MinReclaimGoesOnEvictingUntilItIsReached) {
    Node node = node_with({hard(1_GiB, 512_MiB)}, big_and_small);
    EXPECT_EQ(evicted(node.set(900_MiB).look(0s)), "uid-big");
    node.remove("big");
    EXPECT_EQ(evicted(node.set(1200_MiB).look(1s)), "uid-small");
}

struct GraceRow {
    const char* rule;
    std::chrono::seconds max_pod_grace_period;
    std::chrono::seconds own;
    std::chrono::seconds expected;
};

TEST(Decide, ASoftThresholdGrantsTheSmallerOfBothGracePeriods) {
    constexpr std::chrono::seconds ages{std::numeric_limits<std::int64_t>::max()};
    constexpr auto longest = std::chrono::duration_cast<std::chrono::seconds>(Duration::max());
    const std::vector<GraceRow> rows{
        {"the pod's own is smaller", 60s, 30s, 30s},    {"the largest allowed is smaller", 10s, 30s, 10s},
        {"none configured: clamped", 0s, 30s, 1s},      {"negative: clamped", -1s, 30s, 1s},
        {"the pod's own is zero: clamped", 0s, 0s, 1s}, {"the pod's own is zero, one is configured", 60s, 0s, 1s},
        {"longer than time", ages, ages, longest},
    };
    for (const auto& row : rows) {
        Node node = node_with({soft(1_GiB, 10s)}, {{.name = "a", .working_set = 1_MiB, .grace = row.own}});
        node.config.max_pod_grace_period = row.max_pod_grace_period;
        node.set(900_MiB).look(0s);
        const Decision decision = node.look(10s);
        ASSERT_TRUE(decision.evict) << row.rule;
        EXPECT_EQ(decision.evict->grace_period, row.expected) << row.rule;
        EXPECT_FALSE(decision.evict->immediate) << row.rule;
        ASSERT_EQ(decision.actions.size(), 1U);
        EXPECT_EQ(decision.actions[0].kind, ActionKind::terminate) << row.rule;
        const MonotonicTime end = row.expected == longest ? MonotonicTime::max() : at(10s) + row.expected;
        EXPECT_EQ(decision.in_flight[0].kill_at, end) << row.rule;
    }
}

TEST(LookAgainAt, IsTheEndOfTheNextGracePeriod) {
    Node node = node_with({soft(1_GiB, 30s), soft(2_GiB, 90s)}, {});
    EXPECT_EQ(node.set(1500_MiB).look(0s).look_again_at, at(90s));
    EXPECT_EQ(node.set(900_MiB).look(10s).look_again_at, at(40s));
    EXPECT_EQ(node.look(40s).look_again_at, at(90s));
    EXPECT_FALSE(node.look(90s).look_again_at);
}

TEST(LookAgainAt, IsTheEndOfATransitionPeriodOnceTheConditionIsNoLongerObserved) {
    Node node = node_with({hard(1_GiB)}, {});
    EXPECT_FALSE(node.set(900_MiB).look(0s).look_again_at);
    EXPECT_EQ(node.set(2_GiB).look(1s).look_again_at, at(5min));
    EXPECT_FALSE(node.look(5min).look_again_at);
}

TEST(LookAgainAt, IsTheKillThenTheEndOfTheCleanupTime) {
    Node node = node_with({soft(1_GiB, 10s)}, big_and_small);
    node.config.soft_eviction_grace = SoftEvictionGrace::pod;
    node.set(900_MiB).look(0s);
    EXPECT_EQ(node.look(10s).look_again_at, at(40s));
    EXPECT_EQ(node.look(40s).look_again_at, at(70s));
    EXPECT_EQ(node.look(69s).look_again_at, at(70s));
}

TEST(Decide, PeriodsOfCenturiesDoNotOverflow) {
    Node node = node_with({soft(1_GiB, Duration::max())}, big_and_small);
    node.config.pressure_transition_period = Duration::max();
    EXPECT_EQ(node.set(1_MiB).look(0s).look_again_at, MonotonicTime::max());
    EXPECT_EQ(node.set(2_GiB).look(1s).look_again_at, MonotonicTime::max());
}

TEST(Decide, NoThresholdsAndNoPodsAreFine) {
    Node node;
    const Decision decision = node.look(0s);
    EXPECT_THAT(decision.ranking, IsEmpty());
    EXPECT_FALSE(decision.evict);
}

}  // namespace
}  // namespace evictd::policy::testing
