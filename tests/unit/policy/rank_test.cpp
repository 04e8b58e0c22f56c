// SPDX-License-Identifier: Apache-2.0
// The victim order, rule by rule, and who is exempt from it.
#include "rank.hpp"

#include <gmock/gmock.h>

#include "unit/policy/node.hpp"

namespace evictd::policy::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

struct OrderRow {
    const char* rule;
    std::vector<PodWords> pods;  // in the order expected
};

TEST(RankForMemory, FollowsTheKubeletsChain) {
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
         {{.name = "new", .working_set = {}, .request = 1_GiB, .started = 9s},
          {.name = "old", .working_set = {}, .request = 1_MiB, .started = 1s}}},
        {"equals: the newer first",
         {{.name = "a-new", .started = 9s}, {.name = "b-old", .started = 5s}, {.name = "c-older", .started = 1s}}},
        {"equals: without a start it has not begun", {{.name = "z"}, {.name = "a", .started = 5s}}},
        {"equals in all: by uid", {{.name = "a"}, {.name = "b"}, {.name = "c"}}},
    };
    for (const auto& row : rows) {
        std::vector<std::string> expected;
        Observation observation;
        for (const auto& words : row.pods) {
            expected.push_back(words.name);
            observation.pods.insert(observation.pods.begin(), pod(words));  // given in reverse
        }
        for (const Signal signal : {Signal::memory_available, Signal::allocatable_memory_available}) {
            EXPECT_THAT(names(rank_pods(signal, observation, {}), observation.pods), ElementsAreArray(expected))
                << row.rule;
        }
    }
}

TEST(RankForMemory, AFractionOfAByteOfRequestIsExceededByAByte) {
    ObservedPod observed = pod({.name = "a", .working_set = 1_B});
    auto changed = std::make_shared<Pod>(*observed.pod);
    changed->containers[0].requests.memory = *parse_quantity("500m");
    observed.pod = changed;
    Observation observation;
    observation.pods = {observed};
    EXPECT_TRUE(rank_pods(Signal::memory_available, observation, {})[0].exceeds_request);
}

TEST(RankForMemory, ExtremeRequestsDoNotOverflow) {
    ObservedPod negative = pod({.name = "negative", .working_set = 1_GiB});
    auto changed = std::make_shared<Pod>(*negative.pod);
    changed->containers[0].requests.memory = Quantity::of(std::numeric_limits<std::int64_t>::min() + 1);
    negative.pod = changed;
    Observation observation;
    observation.pods = {pod({.name = "plain", .working_set = 1_GiB, .request = 1_B}), negative};
    EXPECT_THAT(names(rank_pods(Signal::memory_available, observation, {}), observation.pods),
                ElementsAre("negative", "plain"));
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
    EXPECT_THAT(names(rank_pods(Signal::memory_available, observation, state), observation.pods),
                ElementsAre("deleted-still-running", "failed-still-running", "pending", "running"));
}

TEST(Rank, SaysWhyAPodIsExempt) {
    State state;
    state.in_flight.emplace_back().victim.pod = {"uid-flying"};
    state.passed_over = {
        {{"uid-failed"}, {100}, at(1h)}, {{"uid-reborn"}, {99}, at(1h)}, {{"uid-failed-static"}, {100}, at(1h)}};
    const std::vector<std::pair<PodWords, Exemption>> rows{
        {{.name = "plain"}, Exemption::none},
        {{.name = "critical", .priority = 2'000'000'000}, Exemption::critical},
        {{.name = "static", .priority = 2'000'000'001, .origin = PodOrigin::static_file}, Exemption::static_pod},
        {{.name = "mirror", .origin = PodOrigin::mirror}, Exemption::mirror},
        {{.name = "flying"}, Exemption::in_flight},
        {{.name = "failed"}, Exemption::failed_before},
        {{.name = "reborn"}, Exemption::none},
        {{.name = "failed-static", .origin = PodOrigin::static_file}, Exemption::static_pod},
        {{.name = "empty", .populated = false}, Exemption::no_cgroup},
        {{.name = "nowhere", .cgroup = 0}, Exemption::no_cgroup},
        {{.name = "unmeasured", .working_set = {}}, Exemption::none},
    };
    for (const auto& [words, expected] : rows) {
        Observation observation;
        observation.pods = {pod(words)};
        EXPECT_EQ(rank_pods(Signal::memory_available, observation, state).at(0).exemption, expected) << words.name;
    }
}

}  // namespace
}  // namespace evictd::policy::testing
