// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The first half of synchronize(): which thresholds are met, since when, in which order; node conditions.
#include "thresholds.hpp"

#include <limits>

#include <gmock/gmock.h>

#include "unit/policy/node.hpp"

namespace evictd::policy::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<Amount> met_values(const Decision& decision) {
    std::vector<Amount> values;
    for (const auto& met : decision.thresholds_met) values.push_back(met.quantity);
    return values;
}

TEST(Resolve, APercentageIsAFloat32TakenOfTheCapacityAndCutOff) {
    struct Row {
        float share;
        std::int64_t capacity;
        std::int64_t expected;
    };
    // 0.1f is 0.100000001490116...: ten percent of ten is one, of 10^10 it is more than 10^9.
    for (const Row row : {Row{0.1F, 10, 1}, Row{0.1F, 19, 1}, Row{0.1F, 10'000'000'000, 1'000'000'014},
                          Row{0.05F, 100, 5}, Row{0.15F, 1'000'000'000'000, 150'000'005'960}, Row{0.0F, 1000, 0}}) {
        EXPECT_EQ(resolve({row.share}, {row.capacity}).value(), row.expected) << row.share << " of " << row.capacity;
    }
}

TEST(Resolve, AnAmountBeyondInt64IsCapped) {
    EXPECT_EQ(resolve({1e30F}, {1'000'000}).value(), std::numeric_limits<std::int64_t>::max());
}

TEST(Resolve, WhatIsNoNumberIsNothing) {
    EXPECT_EQ(resolve({std::numeric_limits<float>::quiet_NaN()}, {1'000'000}).value(), 0);
}

TEST(IsMet, OnlyStrictlyUnderTheThreshold) {
    Node node;
    for (const auto& [available, expected] : {std::pair{99_B, true}, {100_B, false}, {101_B, false}}) {
        node.set(available);
        EXPECT_EQ(is_met(hard(100_B), node.readings, MinReclaim::ignored), expected) << available.value;
    }
}

TEST(IsMet, AFractionOfAByteCounts) {
    Node node;
    node.set(100_B);
    const Threshold threshold{Signal::memory_available, {*parse_quantity("100001m")}, {}, {}};
    EXPECT_TRUE(is_met(threshold, node.readings, MinReclaim::ignored));
}

TEST(IsMet, WithoutAReadingNothingIsMet) { EXPECT_FALSE(is_met(hard(100_GiB), Readings{}, MinReclaim::enforced)); }

TEST(Thresholds, ASignalWithoutAReadingIsSkippedAndTheOthersCount) {
    Node node{.config = {{hard(1_GiB), hard(1_GiB, {}, Signal::allocatable_memory_available)}}};
    node.set(512_MiB, Signal::allocatable_memory_available);
    const Decision decision = node.look(0s);
    ASSERT_EQ(decision.thresholds_met.size(), 1U);
    EXPECT_EQ(decision.thresholds_met[0].threshold.signal, Signal::allocatable_memory_available);
}

TEST(Thresholds, MinReclaimProlongsAThresholdThatWasSatisfiedAtTheLastLook) {
    Node node{.config = {{hard(1_GiB, 512_MiB)}}};
    EXPECT_THAT(met_values(node.set(1200_MiB).look(0s)), IsEmpty());
    EXPECT_THAT(met_values(node.set(900_MiB).look(1s)), ElementsAre(Amount{(1_GiB).value}));
    EXPECT_THAT(met_values(node.set(1200_MiB).look(2s)), ElementsAre(Amount{(1_GiB).value}));
    EXPECT_THAT(met_values(node.set(1535_MiB).look(3s)), ElementsAre(Amount{(1_GiB).value}));
    EXPECT_THAT(met_values(node.set(1536_MiB).look(4s)), IsEmpty());
    EXPECT_THAT(met_values(node.set(1200_MiB).look(5s)), IsEmpty());
}

TEST(Thresholds, MinReclaimDoesNotProlongAThresholdStillInItsGracePeriod) {
    Node node{.config = {{soft(1_GiB, 10s)}}};
    node.config.thresholds[0].min_reclaim = ThresholdValue{quantity(512_MiB)};
    EXPECT_EQ(node.set(900_MiB).look(0s).thresholds_pending.size(), 1U);
    EXPECT_THAT(node.set(1200_MiB).look(5s).thresholds_pending, IsEmpty());
}

TEST(Thresholds, APercentageOfMinReclaimIsTakenOfTheCapacity) {
    Node node{.config = {{hard(1_GiB)}}};
    node.config.thresholds[0].min_reclaim = ThresholdValue{0.125F};  // 1Gi of 8Gi
    node.set(900_MiB).look(0s);
    EXPECT_EQ(node.set(2047_MiB).look(1s).thresholds_met.size(), 1U);
    EXPECT_THAT(node.set(2_GiB).look(2s).thresholds_met, IsEmpty());
}

TEST(Thresholds, ASoftThresholdIsPendingUntilItsGracePeriodIsOver) {
    Node node{.config = {{soft(1_GiB, 30s)}}};
    node.set(900_MiB);
    for (const auto& [since, pending] : {std::pair<Duration, bool>{0s, true}, {29999ms, true}, {30s, false}}) {
        const Decision decision = node.look(since);
        EXPECT_EQ(decision.thresholds_pending.size(), pending ? 1U : 0U) << since.count();
        EXPECT_EQ(decision.thresholds_met.size(), pending ? 0U : 1U) << since.count();
    }
}

TEST(Thresholds, ADipAboveResetsTheGracePeriod) {
    Node node{.config = {{soft(1_GiB, 30s)}}};
    node.set(900_MiB).look(0s);
    node.set(1_GiB).look(20s);
    const Decision decision = node.set(900_MiB).look(31s);
    ASSERT_EQ(decision.thresholds_pending.size(), 1U);
    EXPECT_EQ(decision.thresholds_pending[0].first_observed_at, at(31s));
}

TEST(Thresholds, AMissingReadingResetsTheGracePeriodToo) {
    Node node{.config = {{soft(1_GiB, 30s)}}};
    node.set(900_MiB).look(0s);
    node.forget(Signal::memory_available).look(20s);
    EXPECT_THAT(node.set(900_MiB).look(31s).thresholds_met, IsEmpty());
}

TEST(Thresholds, MemoryIsHandledBeforeEverythingElseAndTheRestInTheConfiguredOrder) {
    Node node{.config = {{hard(1_GiB, {}, Signal::pid_available), hard(1_GiB, {}, Signal::nodefs_available),
                          soft(2_GiB, 0s), hard(1_GiB, {}, Signal::allocatable_memory_available)}}};
    for (const auto& threshold : node.config.thresholds) node.set(1_MiB, threshold.signal);
    std::vector<Signal> order;
    for (const auto& met : node.look(0s).thresholds_met) order.push_back(met.threshold.signal);
    EXPECT_THAT(order, ElementsAre(Signal::memory_available, Signal::allocatable_memory_available,
                                   Signal::pid_available, Signal::nodefs_available));
}

TEST(Thresholds, AThresholdTheConfigurationNoLongerHoldsIsForgotten) {
    Node node{.config = {{hard(1_GiB, 1_GiB)}}};
    node.set(900_MiB).look(0s);
    node.config.thresholds = {hard(100_MiB)};
    const Decision decision = node.look(1s);
    EXPECT_THAT(decision.thresholds_met, IsEmpty());
    ASSERT_EQ(decision.threshold_edges.size(), 1U);
    EXPECT_FALSE(decision.threshold_edges[0].met);
}

TEST(ThresholdEdges, AreChangesOfTheMetSetWhateverTheGracePeriodAndMinReclaim) {
    Node node{.config = {{hard(512_MiB, 512_MiB), soft(1_GiB, 30s)}}};
    using Edge = std::pair<bool, std::int64_t>;
    const auto edges = [](const Decision& decision) {
        std::vector<Edge> made;
        for (const auto& edge : decision.threshold_edges) {
            made.emplace_back(edge.met, edge.threshold.quantity.value >> 20);
        }
        return made;
    };
    EXPECT_THAT(edges(node.set(2_GiB).look(0s)), IsEmpty());
    EXPECT_THAT(edges(node.set(900_MiB).look(1s)), ElementsAre(Edge{true, 1024}));
    EXPECT_THAT(edges(node.set(800_MiB).look(2s)), IsEmpty());
    EXPECT_THAT(edges(node.set(500_MiB).look(3s)), ElementsAre(Edge{true, 512}));
    EXPECT_THAT(edges(node.set(900_MiB).look(4s)), IsEmpty());
    EXPECT_THAT(edges(node.set(2_GiB).look(5s)), ElementsAre(Edge{false, 512}, Edge{false, 1024}));
}

TEST(Conditions, AreIndependentOfTheGracePeriod) {
    Node node{.config = {{soft(1_GiB, 30s)}}};
    EXPECT_THAT(node.set(900_MiB).look(0s).conditions, ElementsAre(Condition::memory_pressure));
}

TEST(Conditions, StayForTheTransitionPeriodAfterTheyWereLastObserved) {
    Node node{.config = {{soft(1_GiB, 30s)}, 5min}};
    node.set(900_MiB).look(0s);
    node.look(10s);
    node.set(2_GiB);
    EXPECT_THAT(node.look(20s).conditions, ElementsAre(Condition::memory_pressure));
    EXPECT_THAT(node.look(10s + 5min - 1ns).conditions, ElementsAre(Condition::memory_pressure));
    EXPECT_THAT(node.look(10s + 5min).conditions, IsEmpty());
}

TEST(Conditions, EverySignalTripsItsOwn) {
    for (const auto& row : signal_table) {
        Node node{.config = {{hard(1_GiB, {}, row.signal)}}};
        EXPECT_THAT(node.set(1_MiB, row.signal).look(0s).conditions, ElementsAre(row.condition)) << row.name;
    }
}

TEST(ConditionEdges, ComeOnceEachWay) {
    Node node{.config = {{hard(1_GiB)}, 5min}};
    const auto edge_of = [](const Decision& decision) {
        return decision.condition_edges.empty() ? 0 : decision.condition_edges.front().status ? 1 : -1;
    };
    EXPECT_EQ(edge_of(node.set(2_GiB).look(0s)), 0);
    EXPECT_EQ(edge_of(node.set(900_MiB).look(1s)), 1);
    EXPECT_EQ(edge_of(node.set(2_GiB).look(2s)), 0);
    EXPECT_EQ(edge_of(node.set(900_MiB).look(3s)), 0);
    EXPECT_EQ(edge_of(node.set(2_GiB).look(5min)), 0);
    EXPECT_EQ(edge_of(node.look(10min)), -1);
    EXPECT_EQ(edge_of(node.look(11min)), 0);
}

}  // namespace
}  // namespace evictd::policy::testing
