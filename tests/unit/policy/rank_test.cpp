// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The victim order, rule by rule, and who is exempt from it.
#include "rank.hpp"

#include <gmock/gmock.h>

#include "unit/policy/victim_order.hpp"

namespace evictd::policy::testing {
namespace {

TEST(RankMemoryPressure, FollowsTheKubeletsChain) {
    const std::vector<OrderRow> rows{
        {"a pod without usage goes before all others",
         {{.name = "unknown", .working_set = {}, .request = 1_GiB, .priority = 1000},
          {.name = "over", .working_set = 1_GiB, .request = 1_MiB}}},
        {"over its request before within it, whatever the priority and the amount",
         {{.name = "over", .working_set = 2_MiB, .request = 1_MiB, .priority = 1000},
          {.name = "within", .working_set = 4_GiB, .request = 4_GiB, .priority = -5}}},
        {"lower priority first among those over their request",
         {{.name = "low", .working_set = 2_MiB, .request = 1_MiB, .priority = -1},
          {.name = "none", .working_set = 1_GiB, .request = 1_MiB},
          {.name = "high", .working_set = 4_GiB, .request = 1_MiB, .priority = 1}}},
        {"no priority is priority 0",
         {{.name = "none", .working_set = 9_MiB, .request = 1_MiB},
          {.name = "zero", .working_set = 8_MiB, .request = 1_MiB, .priority = 0},
          {.name = "none-too", .working_set = 7_MiB, .request = 1_MiB}}},
        {"priorities of any size keep their order",
         {{.name = "least", .priority = std::numeric_limits<std::int32_t>::min()},
          {.name = "less", .priority = -1},
          {.name = "more", .priority = 1},
          {.name = "most", .priority = std::numeric_limits<std::int32_t>::max()}}},
        {"the most over its request first, not the biggest",
         {{.name = "most", .working_set = 600_MiB, .request = 100_MiB},
          {.name = "biggest", .working_set = 1000_MiB, .request = 900_MiB}}},
        {"within the request the one nearest to it first",
         {{.name = "near", .working_set = 90_MiB, .request = 100_MiB},
          {.name = "far", .working_set = 900_MiB, .request = 1000_MiB}}},
        {"exactly at the request is within it",
         {{.name = "over", .working_set = 101_B, .request = 100_B, .priority = 9},
          {.name = "at", .working_set = 1_GiB, .request = 1_GiB}}},
        {"among those without usage the lower priority first",
         {{.name = "low", .working_set = {}, .request = 1_GiB, .priority = 1},
          {.name = "high", .working_set = {}, .priority = 2}}},
        {"without usage the request does not count",
         {{.name = "a", .working_set = {}, .request = 1_GiB}, {.name = "b", .working_set = {}, .request = 1_MiB}}},
    };
    for (const auto& row : rows) expect_order(row, {Signal::memory_available, Signal::allocatable_memory_available});
}

TEST(RankPidPressure, IsByPriorityThenUnknownUsageThenProcesses) {
    const std::vector<std::pair<const char*, std::vector<ObservedPod>>> rows{
        {"the lower priority first, whatever the processes",
         {with_processes({.name = "low", .priority = -1}, 1), with_processes({.name = "high"}, 9000)}},
        {"the most processes first",
         {with_processes({.name = "z-many"}, 30), with_processes({.name = "some"}, 20),
          with_processes({.name = "a-few"}, 1)}},
        {"without usage it goes first of its priority, not of all",
         {with_processes({.name = "low", .priority = -1}, 1), with_processes({.name = "unknown", .working_set = {}}, 0),
          with_processes({.name = "many"}, 9000)}},
        {"being over the memory request means nothing",
         {with_processes({.name = "within", .working_set = 1_MiB, .request = 1_GiB}, 3),
          with_processes({.name = "over", .working_set = 1_GiB, .request = 1_MiB}, 2)}},
    };
    for (const auto& [rule, expected] : rows) expect_order(rule, expected, Signal::pid_available);
}

TEST(RankPidPressure, CountsProcessesAndRequestsNone) {
    Observation observation;
    observation.pods = {with_processes({.name = "a", .working_set = 1_GiB, .request = 1_MiB}, 12)};
    const auto ranked = rank_pods({}, Signal::pid_available, observation, {}).at(0);
    EXPECT_EQ(ranked.usage.value, 12);
    EXPECT_EQ(ranked.request.value, 0);
    EXPECT_FALSE(ranked.exceeds_request);
}

TEST(Ranking, InOrderOfQosAsksForTheClassFirst) {
    const EvictionConfig qos{.ranking = RankingOrder::qos};
    const auto guaranteed = [](const ObservedPod& observed) {
        return changed(observed, [](Pod& made) {
            made.containers[0].requests = made.containers[0].limits = {quantity(1_B), quantity(1_MiB), {}};
        });
    };
    const std::vector<OrderRow> memory{
        {"BestEffort before Burstable, over the request or not, whatever the priority",
         {{.name = "best-effort", .working_set = 0_B, .priority = 1000},
          {.name = "burstable", .working_set = 9_GiB, .request = 1_MiB, .priority = -1}}},
        {"BestEffort before Burstable without usage",
         {{.name = "best-effort"}, {.name = "burstable", .working_set = {}, .request = 1_MiB}}},
        {"then who is over its request",
         {{.name = "over", .working_set = 2_MiB, .request = 1_MiB, .priority = 1000},
          {.name = "within", .working_set = 1_MiB, .request = 1_GiB}}},
        {"then the lower priority",
         {{.name = "low", .working_set = 2_MiB, .request = 1_MiB, .priority = -1},
          {.name = "high", .working_set = 1_GiB, .request = 1_MiB}}},
        {"then the most over its request",
         {{.name = "z", .working_set = 3_MiB, .request = 1_MiB},
          {.name = "a", .working_set = 2_MiB, .request = 1_MiB}}},
    };
    for (const auto& row : memory) expect_order(row, {Signal::memory_available}, qos);
    expect_order("Guaranteed last",
                 {pod({.name = "burstable", .request = 1_GiB, .priority = 9}),
                  guaranteed(pod({.name = "guaranteed", .working_set = 1_GiB, .priority = -9}))},
                 Signal::memory_available, {}, qos);
    expect_order(
        "process IDs: the class, the priority, the processes",
        {with_processes({.name = "best-effort", .priority = 9}, 1),
         with_processes({.name = "low", .request = 1_MiB, .priority = -1}, 1),
         with_processes({.name = "many", .request = 1_MiB}, 9), with_processes({.name = "few", .request = 1_MiB}, 8)},
        Signal::pid_available, {}, qos);
    expect_order("disks: the class before the request",
                 {disk_pod({.name = "best-effort"}),
                  changed(disk_pod({.name = "burstable", .used = 9000}),
                          [](Pod& made) { made.containers[0].requests.memory = quantity(1_B); })},
                 Signal::nodefs_available, {}, qos);
}

TEST(Rank, AFractionOfAByteOfRequestCounts) {
    const auto asks = [](const char* name, const char* request) {
        return changed(pod({.name = name, .working_set = 1_B}),
                       [&](Pod& made) { made.containers[0].requests.memory = *parse_quantity(request); });
    };
    Observation observation;
    observation.pods = {asks("a", "500m")};
    EXPECT_TRUE(rank_pods({}, Signal::memory_available, observation, {})[0].exceeds_request);
    expect_order("over by more", {asks("z", "500m"), asks("a", "501m")}, Signal::memory_available);
}

TEST(Rank, ExtremeRequestsDoNotOverflow) {
    const auto negative = [](std::string name, const Quantity& request) {
        return changed(pod({.name = std::move(name), .working_set = 1_GiB}), [&](Pod& made) {
            made.containers.assign(3, made.containers[0]);
            for (auto& one : made.containers) one.requests.memory = request;
        });
    };
    const Quantity least{-static_cast<Int128>(~UInt128{0} >> 1), Quantity::Format::decimal_si};
    expect_order("the most negative",
                 {negative("z", least), negative("a", Quantity::of(std::numeric_limits<std::int64_t>::min())),
                  pod({.name = "plain", .working_set = 1_GiB, .request = 1_B})},
                 Signal::memory_available);
}

TEST(Rank, HoldsActivePodsOnly) {
    Observation observation;
    observation.pods = {
        pod({.name = "running"}),
        pod({.name = "pending", .phase = PodPhase::pending, .populated = false}),
        pod({.name = "succeeded", .phase = PodPhase::succeeded, .populated = false}),
        pod({.name = "failed", .phase = PodPhase::failed, .populated = false}),
        pod({.name = "failed-still-running", .phase = PodPhase::failed}),
        pod({.name = "deleted", .deleted = true, .populated = false}),
        pod({.name = "deleted-still-running", .deleted = true}),
        pod({.name = "evicted", .populated = false}),
        ObservedPod{},
    };
    State state;
    state.evicted = {{"uid-evicted"}};
    for (const auto& row : signal_table) {
        EXPECT_THAT(
            names(rank_pods({.tie_break = TieBreak::uid}, row.signal, observation, state), observation.pods),
            ::testing::UnorderedElementsAre("deleted-still-running", "failed-still-running", "pending", "running"));
    }
}

TEST(Rank, ShowsWhyAPodIsExempt) {
    State state;
    state.in_flight.emplace_back().victim.pod = {"uid-flying"};
    state.passed_over = {
        {{"uid-failed"}, {100}, at(1h)}, {{"uid-reborn"}, {99}, at(1h)}, {{"uid-failed-static"}, {100}, at(1h)}};
    const std::vector<std::pair<PodWords, Exemption>> rows{
        {{.name = "plain"}, Exemption::none},
        {{.name = "critical", .priority = 2'000'000'000}, Exemption::critical},
        {{.name = "static", .priority = 2'000'000'001, .origin = PodOrigin::static_file}, Exemption::static_pod},
        {{.name = "mirror", .origin = PodOrigin::mirror}, Exemption::mirror},
        {{.name = "ours"}, Exemption::own_pod},
        {{.name = "flying"}, Exemption::in_flight},
        {{.name = "failed"}, Exemption::failed_before},
        {{.name = "reborn"}, Exemption::none},
        {{.name = "failed-static", .origin = PodOrigin::static_file}, Exemption::static_pod},
        {{.name = "empty", .populated = false}, Exemption::no_processes},
        {{.name = "nowhere", .cgroup = 0}, Exemption::no_cgroup},
        {{.name = "unmeasured", .working_set = {}}, Exemption::none},
    };
    for (const auto& [words, expected] : rows) {
        Observation observation;
        observation.pods = {pod(words)};
        observation.pods[0].holds_us = words.name == "ours";
        EXPECT_EQ(rank_pods({}, Signal::memory_available, observation, state).at(0).exemption, expected) << words.name;
    }
}

// Without the state, from what a decision says of the pods.
TEST(Rank, ByAnotherSignalIsAsTheDecisionWouldHaveRankedByIt) {
    Observation observation;
    observation.pods = {
        pod({.name = "small", .working_set = 1_MiB}),
        pod({.name = "big", .working_set = 2_GiB, .priority = 5}),
        pod({.name = "done", .phase = PodPhase::succeeded, .populated = false}),
        pod({.name = "critical", .priority = 2'000'000'000}),
        pod({.name = "flying"}),
        pod({.name = "failed", .working_set = 3_MiB}),
        pod({.name = "empty", .populated = false}),
        pod({.name = "holding", .working_set = 1_GiB, .populated = false}),
        pod({.name = "overdue", .working_set = 1_GiB, .populated = false}),
        pod({.name = "evicted", .populated = false}),
        pod({.name = "nowhere", .cgroup = 0}),
    };
    State state;
    state.evicted = {{"uid-evicted"}};
    state.in_flight.emplace_back().victim.pod = {"uid-flying"};
    state.passed_over = {{{"uid-failed"}, {100}, at(1h)}};
    state.owing.emplace_back().victim.pod = {"uid-overdue"};
    state.owing.back().cgroup = {100};
    Decision decided;
    decided.ranking = rank_pods({}, Signal::memory_available, observation, state);
    decided.in_flight = {state.in_flight[0].victim};
    for (const auto& row : signal_table) {
        const auto expected = rank_pods({}, row.signal, observation, state);
        const auto again = rank_again({}, row.signal, observation, decided);
        ASSERT_EQ(names(again, observation.pods), names(expected, observation.pods)) << row.name;
        for (std::size_t i = 0; i < again.size(); ++i) {
            const auto& name = observation.pods[again[i].pod].pod->name;
            EXPECT_EQ(again[i].exemption, expected[i].exemption) << row.name << " " << name;
            EXPECT_EQ(again[i].usage, expected[i].usage) << row.name << " " << name;
        }
    }
    decided.in_flight.emplace_back().pod = {"uid-small"};
    const auto again = rank_again({}, Signal::pid_available, observation, decided);
    const auto chosen = std::find_if(again.begin(), again.end(), [](const RankedPod& one) { return one.pod == 0; });
    EXPECT_EQ(chosen->exemption, Exemption::in_flight) << "chosen at this very look";
    decided.ranking = rank_pods({}, Signal::nodefs_available, observation, state);
    const auto by_memory = rank_again({}, Signal::memory_available, observation, decided);
    const auto holding = std::find_if(by_memory.begin(), by_memory.end(), [](const auto& one) { return one.pod == 7; });
    EXPECT_EQ(holding->exemption, Exemption::none) << "it has no processes, and memory to give back";
}

}  // namespace
}  // namespace evictd::policy::testing
