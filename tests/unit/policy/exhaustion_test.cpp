// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How long memory lasts at the rate at which it falls, whose growth that is, and the soft threshold on it.
#include "exhaustion.hpp"

#include <gmock/gmock.h>

#include "trends.hpp"
#include "unit/policy/node.hpp"

namespace evictd::policy::testing {
namespace {

using ::testing::HasSubstr;

// Two pods on 8 GiB; one begins with 1 GiB and takes what the node loses.
struct Filling : Node {
    Bytes available = 4_GiB;
    Duration now{0};

    explicit Filling(Duration threshold = 0s, Duration grace = 2s) {
        pods = {pod({.name = "web", .working_set = 1_GiB, .cgroup = 11}),
                pod({.name = "db", .working_set = 3_GiB, .cgroup = 12})};
        config.thresholds = {hard(100_MiB)};
        config.pressure_transition_period = 50ms;
        config.time_to_exhaustion = threshold;
        config.time_to_exhaustion_grace_period = grace;
    }
    // `by` later, so much less is left, and web has so much more.
    Decision then(Duration by, Bytes less) {
        now += by;
        available = available - less;
        auto& usage = *find("web").usage;
        usage.working_set += less;
        set(available);
        return look(now);
    }
    Decision steadily(int looks, Duration by, Bytes less) {
        Decision last;
        for (int i = 0; i < looks; ++i) last = then(by, less);
        return last;
    }
};

TEST(Exhaustion, IsWhatIsLeftDividedByTheRate) {
    Filling node;
    const auto decision = node.steadily(10, 100ms, 10_MiB);  // 100 MiB/s; 4 GiB - 100 MiB are left
    ASSERT_TRUE(decision.exhaustion);
    EXPECT_EQ(decision.exhaustion->signal, Signal::memory_available);
    EXPECT_NEAR(std::chrono::duration<double>(decision.exhaustion->left).count(), 39.96, 0.1);
    EXPECT_NEAR(static_cast<double>(decision.exhaustion->falls.value), 100 * 1024 * 1024, 1e5);
    EXPECT_EQ(decision.exhaustion->pod.value, "uid-web");
    EXPECT_EQ(decision.exhaustion->share_percent, 100);
}

TEST(Exhaustion, NeedsThreeIntervalsAndAFall) {
    Filling node;
    EXPECT_FALSE(node.steadily(3, 100ms, 10_MiB).exhaustion) << "the first look begins, two intervals are known";
    EXPECT_TRUE(node.then(100ms, 10_MiB).exhaustion);
    Filling still;
    EXPECT_FALSE(still.steadily(10, 100ms, 0_B).exhaustion);
    Filling slow;
    EXPECT_FALSE(slow.steadily(10, 1s, 1_MiB).exhaustion) << "more than an hour";
}

TEST(Exhaustion, LooksInQuickSuccessionAddUpToAnInterval) {
    Filling node;
    const auto decision = node.steadily(1000, 1ms, 1_MiB);
    ASSERT_TRUE(decision.exhaustion);
    EXPECT_NEAR(static_cast<double>(decision.exhaustion->falls.value), 1000.0 * 1024 * 1024, 1e7);
}

// A line through the figures, or a mean, would take it for 400 MiB/s.
TEST(Exhaustion, AJumpIsNoTrend) {
    Filling node;
    (void)node.steadily(5, 100ms, 0_B);
    EXPECT_FALSE(node.then(100ms, 1_GiB).exhaustion);
    EXPECT_FALSE(node.then(100ms, 1_GiB).exhaustion) << "nor are two";
    EXPECT_FALSE(node.steadily(10, 100ms, 0_B).exhaustion);
}

TEST(Exhaustion, WhatTremblesAroundALevelDoesNotFall) {
    Filling node;
    Filling other;
    int seen = 0;
    for (int i = 0; i < 60; ++i) {
        // A fall every other time, and one that is made good for more slowly: medians of 0 and of a rise.
        const auto first = node.then(100ms, i % 2 == 0 ? 200_MiB : Bytes{-(200_MiB).value});
        const auto second = other.then(100ms, i % 3 == 0 ? 20_MiB : Bytes{-(10_MiB).value});
        if (i > 6 && (first.exhaustion || second.exhaustion)) ++seen;  // six intervals are known
    }
    EXPECT_EQ(seen, 0);
}

TEST(Exhaustion, SharesWhatGrewAmongThePods) {
    Filling node;
    Decision decision;
    for (int i = 0; i < 10; ++i) {
        node.find("db").usage->working_set += 1_MiB;
        decision = node.then(100ms, 9_MiB);
    }
    ASSERT_TRUE(decision.exhaustion);
    EXPECT_EQ(decision.exhaustion->pod.value, "uid-web");
    EXPECT_EQ(decision.exhaustion->share_percent, 90);
    // Something that is no pod takes ten times as much.
    Filling other;
    for (int i = 0; i < 10; ++i) {
        other.available = other.available - 90_MiB;
        decision = other.then(100ms, 10_MiB);
    }
    ASSERT_TRUE(decision.exhaustion);
    EXPECT_EQ(decision.exhaustion->share_percent, 10);
}

TEST(Exhaustion, OfTwoSignalsTheOneThatIsUsedUpFirst) {
    Filling node;
    Decision decision;
    for (int i = 0; i < 10; ++i) {
        node.set(Bytes{(1_GiB).value - i * (10_MiB).value}, Signal::allocatable_memory_available, 2_GiB);
        decision = node.then(100ms, 10_MiB);
    }
    ASSERT_TRUE(decision.exhaustion);
    EXPECT_EQ(decision.exhaustion->signal, Signal::allocatable_memory_available);
}

TEST(Exhaustion, PodsComeAndGo) {
    Filling node;
    (void)node.steadily(6, 100ms, 10_MiB);
    node.pods.insert(node.pods.begin(), pod({.name = "new", .working_set = 3_GiB, .cgroup = 9}));
    auto decision = node.steadily(1, 100ms, 10_MiB);
    EXPECT_EQ(decision.exhaustion->pod.value, "uid-web") << "what a pod had when it came is no growth";
    node.remove("db");
    node.pods[0].usage.reset();
    decision = node.steadily(3, 100ms, 10_MiB);
    EXPECT_EQ(decision.exhaustion->pod.value, "uid-web");
    EXPECT_EQ(node.state.trends.pods.size(), 1U);
}

TEST(TimeThreshold, IsOffUnlessItIsConfigured) {
    Filling node;
    const auto decision = node.steadily(100, 100ms, 10_MiB);
    EXPECT_TRUE(decision.thresholds_pending.empty());
    EXPECT_FALSE(decision.look_again_at);
    EXPECT_TRUE(time_thresholds(node.config).empty());
}

TEST(TimeThreshold, WorksAsASoftOne) {
    Filling node(30s);  // 100 MiB/s: met from 3000 MiB on
    auto decision = node.steadily(100, 100ms, 10_MiB);
    EXPECT_TRUE(decision.thresholds_pending.empty()) << "31 s are left";
    EXPECT_EQ(decision.look_again_at, at(node.now + 1s)) << "the kernel watches no such line";
    decision = node.steadily(15, 100ms, 10_MiB);
    ASSERT_EQ(decision.thresholds_pending.size(), 1U);
    const auto& pending = decision.thresholds_pending[0];
    EXPECT_EQ(pending.threshold.time_left, 30s);
    EXPECT_NEAR(std::chrono::duration<double>(pending.time_left()).count(), 29.5, 0.6);
    EXPECT_THAT(decision.conditions, ::testing::ElementsAre(Condition::memory_pressure));
    EXPECT_FALSE(decision.evict);
    EXPECT_THAT(decision.why, HasSubstr("at this rate, under 30s"));
    for (int i = 0; i < 30 && !decision.evict; ++i) decision = node.then(100ms, 10_MiB);
    ASSERT_TRUE(decision.evict);
    EXPECT_EQ(evicted(decision), "uid-db") << "the kubelet's order: the most over its request, not the fastest";
    EXPECT_FALSE(decision.evict->immediate);
    EXPECT_THAT(decision.evict->message, HasSubstr("The node was low on resource: memory. Threshold quantity: "));
    ASSERT_EQ(decision.actions.size(), 1U);
    EXPECT_EQ(decision.actions[0].kind, ActionKind::terminate);
}

TEST(TimeThreshold, ItsGracePeriodStartsAnewWhenTheFallPauses) {
    Filling node(30s);
    (void)node.steadily(120, 100ms, 10_MiB);
    auto decision = node.steadily(10, 100ms, 0_B);
    EXPECT_TRUE(decision.thresholds_pending.empty());
    EXPECT_TRUE(decision.conditions.empty());
    for (int i = 0; i < 15; ++i) EXPECT_FALSE(node.then(100ms, 10_MiB).evict);
}

// Before the kill it fell by 100 MiB/s; with what is freed, that rate says nothing.
TEST(TimeThreshold, AKillStartsTheMeasuringAnew) {
    Filling node(30s, 100ms);
    node.config.max_pod_grace_period = 1s;
    Decision decision;
    while (!decision.evict) decision = node.then(100ms, 10_MiB);
    node.carry_out(decision, OutcomeStatus::delivered, node.now);
    node.find("db").populated = false;
    node.find("db").usage = PodUsage{};
    decision = node.then(100ms, 10_MiB);
    EXPECT_EQ(decision.finished.size(), 1U);
    EXPECT_FALSE(decision.exhaustion);
    EXPECT_TRUE(decision.thresholds_met.empty());
    EXPECT_FALSE(decision.evict) << "a second pod would go for what the first has given back";
}

TEST(TimeThreshold, BelongsToThePodsCgroupWhereThresholdsDo) {
    Filling node(30s);
    EXPECT_EQ(time_thresholds(node.config).size(), 1U);
    node.config.thresholds.push_back(hard(50_MiB, std::nullopt, Signal::allocatable_memory_available));
    EXPECT_EQ(time_thresholds(node.config).size(), 2U);
}

TEST(TimeThreshold, IsTheSameWhateverItComesTo) {
    Filling node(30s);
    auto one = time_thresholds(node.config)[0];
    auto other = one;
    other.value = {quantity(7_MiB)};
    EXPECT_EQ(one, other);
    other.time_left = 20s;
    EXPECT_FALSE(one == other);
    EXPECT_FALSE(hard(1_MiB) == hard(2_MiB));
}

TEST(Trends, NothingOnATapeOverflows) {
    Trends odd;
    odd.since = MonotonicTime(Duration(1));
    odd.available[0] = Trend{INT64_MIN, {INT32_MIN, INT32_MAX, 1, 2, 3}, INT32_MAX};
    odd.pods = {{{11}, {INT64_MAX, {}, -7}}};
    Filling node(30s);
    node.set(4_GiB);
    const auto observation = node.observe(1s);
    const auto next = follow(odd, observation, false);
    EXPECT_EQ(next.available[0]->rates.back(), INT32_MAX);
    EXPECT_EQ(next.pods[0].working_set.intervals, 1);
    (void)exhaustion(next, observation);
    State state;
    state.trends = next;
    add_time_thresholds(node.config, state, observation.readings);
}

}  // namespace
}  // namespace evictd::policy::testing
