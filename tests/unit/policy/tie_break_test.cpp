// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What decides where the kubelet leaves pods in any order.
#include <gmock/gmock.h>

#include "rank.hpp"
#include "unit/policy/victim_order.hpp"

namespace evictd::policy::testing {
namespace {

using ::testing::ElementsAre;

TEST(TieBreak, BetweenEqualsTheOneAReplicaSetGivesUpFirst) {
    Observation observation;
    const auto started = [](const char* name, Duration age) {
        return changed(pod({.name = name}), [&](Pod& made) { made.creation_time = WallTime(24h) - age; });
    };
    observation.wall = WallTime(24h);
    observation.pods = {started("a-old", 10h), started("b-new", 1min), started("c-middle", 1h),
                        changed(started("d-doubled-up", 10h), [](Pod& made) {
                            made.owners = {{"ReplicaSet", "rs", "rs-1", true, true}};
                        })};
    EXPECT_THAT(names(rank_pods({}, Signal::memory_available, observation, {}), observation.pods),
                ElementsAre("d-doubled-up", "b-new", "c-middle", "a-old"));
    EXPECT_THAT(
        names(rank_pods({.tie_break = TieBreak::uid}, Signal::memory_available, observation, {}), observation.pods),
        ElementsAre("a-old", "b-new", "c-middle", "d-doubled-up"));
}

TEST(TieBreak, LeavesTheKubeletsOrderAlone) {
    const auto created = [](const PodWords& words, Duration when) {
        return changed(pod(words), [&](Pod& made) { made.creation_time = WallTime(when); });
    };
    for (const TieBreak tie_break : {TieBreak::scale_down, TieBreak::uid}) {
        expect_order("the older uses more",
                     {created({.name = "z-more", .working_set = 2_MiB}, 1s),
                      created({.name = "a-less", .working_set = 1_MiB}, 9s)},
                     Signal::memory_available, {}, {.tie_break = tie_break});
    }
}

TEST(TieBreak, EqualUidsGoByNamespaceAndName) {
    const auto twin = [](const char* name) {
        return changed(pod({.name = name}), [](Pod& made) { made.uid = {"same"}; });
    };
    for (const TieBreak tie_break : {TieBreak::scale_down, TieBreak::uid}) {
        expect_order("by name", {twin("a"), twin("b"), twin("c")}, Signal::memory_available, {},
                     {.tie_break = tie_break});
    }
}

}  // namespace
}  // namespace evictd::policy::testing
