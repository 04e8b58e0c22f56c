// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Who a ReplicaSet gives up first: ActivePodsWithRanks, rule by rule.
#include "scale_down.hpp"

#include <algorithm>

#include <gmock/gmock.h>

#include "unit/policy/node.hpp"

namespace evictd::policy::testing {
namespace {

using ::testing::ElementsAreArray;

constexpr WallTime now{std::chrono::hours(1000)};

// A running, ready pod on a node, of no controller, an hour old and ready for half an hour.
struct Replica {
    std::string name;
    std::string node = "n1";
    PodPhase phase = PodPhase::running;
    bool ready = true;
    std::int32_t cost = 0;
    std::string controller = "";
    std::optional<Duration> ready_for = 30min;
    std::int32_t restarts = 0;
    std::int32_t sidecar_restarts = 0;
    std::optional<Duration> age = 1h;
    bool deleted = false;
};

PodPtr replica(const Replica& words) {
    auto pod = std::make_shared<Pod>();
    pod->uid = {"uid-" + words.name};
    pod->name_space = "default";
    pod->name = words.name;
    pod->node_name = words.node;
    pod->phase = words.phase;
    pod->ready = words.ready;
    if (words.ready_for) pod->ready_time = now - *words.ready_for;
    pod->restarts = words.restarts;
    pod->sidecar_restarts = words.sidecar_restarts;
    pod->deletion_cost = words.cost;
    if (words.age) pod->creation_time = now - *words.age;
    if (words.deleted) pod->deletion_time = now;
    pod->owners = {{"Node", "owner", "not-a-controller", false, false}};
    if (!words.controller.empty()) pod->owners.push_back({"ReplicaSet", "rs", words.controller, true, true});
    return pod;
}

std::vector<std::string> order_of(const std::vector<PodPtr>& all, const std::vector<std::uint32_t>& asked,
                                  WallTime when = now) {
    std::vector<std::string> names;
    for (const std::uint32_t position : scale_down_order(all, asked, when)) names.push_back(all[position]->name);
    return names;
}

// Every pod is asked for, in every order; `bystanders` are only known.
void expect_scale_down(const char* rule, const std::vector<Replica>& words, const std::vector<Replica>& bystanders = {},
                       WallTime when = now) {
    std::vector<PodPtr> all;
    std::vector<std::string> expected;
    std::vector<std::uint32_t> asked;
    for (const auto& one : words) {
        asked.push_back(static_cast<std::uint32_t>(all.size()));
        all.push_back(replica(one));
        expected.push_back(one.name);
    }
    for (const auto& one : bystanders) all.push_back(replica(one));
    do {
        EXPECT_THAT(order_of(all, asked, when), ElementsAreArray(expected)) << rule;
    } while (std::next_permutation(asked.begin(), asked.end()));
}

TEST(ScaleDownOrder, FollowsTheReplicaSetController) {
    expect_scale_down("1 unassigned before assigned",
                      {{.name = "z", .node = ""}, {.name = "a", .phase = PodPhase::pending}});
    expect_scale_down("1 two nodes are alike", {{.name = "a", .node = "n2"}, {.name = "b", .node = "n1"}});
    expect_scale_down("2 Pending, Unknown, Running", {{.name = "z", .phase = PodPhase::pending},
                                                      {.name = "y", .phase = PodPhase::unknown, .ready = false},
                                                      {.name = "x", .ready = false}});
    expect_scale_down("2 ended pods count like pending ones", {{.name = "a", .phase = PodPhase::failed},
                                                               {.name = "b", .phase = PodPhase::pending},
                                                               {.name = "c", .phase = PodPhase::succeeded},
                                                               {.name = "d", .phase = PodPhase::unknown}});
    expect_scale_down("3 not ready before ready", {{.name = "z", .ready = false, .cost = 9}, {.name = "a"}});
    expect_scale_down("4 the lower deletion cost first",
                      {{.name = "z", .cost = -1}, {.name = "a"}, {.name = "b", .cost = 5, .restarts = 9}});
    expect_scale_down("6 ready for less time first",
                      {{.name = "z", .ready_for = 1min}, {.name = "a", .ready_for = 10h, .restarts = 9}});
    expect_scale_down("6 an empty ready time first", {{.name = "z", .ready_for = {}}, {.name = "a", .ready_for = 1ns}});
    expect_scale_down("6 about as long: by uid",
                      {{.name = "a", .ready_for = 33min}, {.name = "b", .ready_for = 30min, .restarts = 9}});
    expect_scale_down("6 not yet ready at all: by uid",
                      {{.name = "a", .ready_for = -1h}, {.name = "b", .ready_for = -9h, .restarts = 9}});
    expect_scale_down("6 who is not ready has no ready time",
                      {{.name = "z", .ready = false, .ready_for = 10h, .restarts = 1},
                       {.name = "a", .ready = false, .ready_for = 1min}});
    expect_scale_down("7 more restarts first", {{.name = "z", .restarts = 3}, {.name = "a", .restarts = 2, .age = 1s}});
    expect_scale_down("7 then more restarts of sidecars",
                      {{.name = "z", .restarts = 2, .sidecar_restarts = 1}, {.name = "a", .restarts = 2}});
    expect_scale_down("7 sidecars only then",
                      {{.name = "z", .restarts = 2}, {.name = "a", .restarts = 1, .sidecar_restarts = 9}});
    expect_scale_down("8 the newer first", {{.name = "z", .age = 1min}, {.name = "a", .age = 10h}});
    expect_scale_down("8 an empty creation time first", {{.name = "z", .age = {}}, {.name = "a", .age = 1ns}});
    expect_scale_down("8 about as old: by uid", {{.name = "a", .age = 65min}, {.name = "b", .age = 60min}});
    expect_scale_down("equal everywhere: by uid", {{.name = "a"}, {.name = "b"}, {.name = "c"}});
}

TEST(ScaleDownOrder, TheMoreDoubledUpGoFirst) {
    expect_scale_down(
        "5 more of the same controller on the same node first",
        {{.name = "z", .controller = "rs", .ready_for = 9h}, {.name = "a", .node = "n2", .controller = "rs"}},
        {{.name = "mate", .controller = "rs"}});
    expect_scale_down("5 those of another controller do not count",
                      {{.name = "a", .node = "n2", .controller = "rs"}, {.name = "z", .controller = "rs"}},
                      {{.name = "stranger", .controller = "other"}});
    expect_scale_down("5 inactive ones do not count",
                      {{.name = "a", .node = "n2", .controller = "rs"}, {.name = "z", .controller = "rs"}},
                      {{.name = "failed", .phase = PodPhase::failed, .controller = "rs"},
                       {.name = "succeeded", .phase = PodPhase::succeeded, .controller = "rs"},
                       {.name = "deleted", .controller = "rs", .deleted = true}});
    expect_scale_down("5 unready ones count",
                      {{.name = "z", .controller = "rs"}, {.name = "a", .node = "n2", .controller = "rs"}},
                      {{.name = "unready", .ready = false, .controller = "rs"}});
    expect_scale_down("5 a pod counts itself, and without a controller nobody",
                      {{.name = "z", .controller = "rs"}, {.name = "a"}, {.name = "b"}});
}

TEST(ScaleDownOrder, AgesAreComparedByPowersOfTwoNanoseconds) {
    const Duration power{std::int64_t{1} << 40};
    expect_scale_down("just below a power is younger",
                      {{.name = "z", .age = power - 1us}, {.name = "a", .age = power}});
    expect_scale_down("the same power is as old", {{.name = "a", .age = 2 * power - 1us}, {.name = "b", .age = power}});
    expect_scale_down("the next one is older",
                      {{.name = "z", .age = 2 * power - 1us}, {.name = "a", .age = 2 * power}});
    expect_scale_down("not yet is younger than just now", {{.name = "z", .age = 0ns}, {.name = "a", .age = 1ns}});
    expect_scale_down("an age of a nanosecond and none in the future are apart",
                      {{.name = "a", .age = -1h}, {.name = "b", .age = 0ns}, {.name = "c", .age = 1ns}});
}

TEST(ScaleDownOrder, WithoutANowTimesAreComparedAsTheyAre) {
    expect_scale_down("the newer", {{.name = "z", .age = 60min}, {.name = "a", .age = 65min}}, {}, WallTime{});
    expect_scale_down("ready later", {{.name = "z", .ready_for = 30min}, {.name = "a", .ready_for = 33min}}, {},
                      WallTime{});
}

TEST(ScaleDownOrder, ARuleThatRunsInCirclesHasOneAnswerAllTheSame) {
    // a before b and b before c by uid, c before a by restarts: the equal ready times of a and c are passed over.
    const std::vector<PodPtr> all{replica({.name = "a", .ready_for = 30min}),
                                  replica({.name = "b", .ready_for = 33min}),
                                  replica({.name = "c", .ready_for = 30min, .restarts = 1})};
    std::vector<std::uint32_t> asked{0, 1, 2};
    const auto answer = order_of(all, asked);
    EXPECT_EQ(answer.size(), 3U);
    while (std::next_permutation(asked.begin(), asked.end())) EXPECT_EQ(order_of(all, asked), answer);
}

TEST(ScaleDownOrder, TimesAtTheEndsOfTimeAreComparedToo) {
    auto first = std::make_shared<Pod>(*replica({.name = "z"}));
    auto last = std::make_shared<Pod>(*replica({.name = "a"}));
    first->creation_time = WallTime::max();
    last->creation_time = WallTime::min();
    EXPECT_THAT(order_of({last, first}, {0, 1}, WallTime(Duration::max())), ElementsAreArray({"z", "a"}));
    EXPECT_THAT(order_of({last, first}, {0, 1}, WallTime(Duration::min())), ElementsAreArray({"a", "z"}));
}

std::vector<std::string> places_of(const std::vector<PodPtr>& pods) {
    Observation observation;
    observation.wall = now;
    for (const auto& pod : pods) observation.pods.emplace_back().pod = pod;
    std::vector<std::string> said;
    for (const auto& place : scale_down_places(observation)) {
        said.push_back(pods[place.pod]->name + ": " + place.why);
    }
    return said;
}

TEST(ScaleDownPlaces, EachSaysByWhichRuleItGoesBeforeTheNext) {
    const std::vector<PodPtr> pods{
        replica({.name = "old", .age = 10h}),
        replica({.name = "homeless", .node = ""}),
        replica({.name = "pending", .phase = PodPhase::pending, .ready = false}),
        replica({.name = "unready", .ready = false}),
        replica({.name = "cheap", .cost = -5}),
        replica({.name = "twin-1", .controller = "rs"}),
        replica({.name = "twin-2", .controller = "rs", .ready_for = 25min}),
        replica({.name = "fresh", .ready_for = 5min}),
        replica({.name = "restless", .restarts = 4}),
        replica({.name = "restless-beside", .sidecar_restarts = 2}),
        replica({.name = "young"}),
    };
    EXPECT_THAT(places_of(pods),
                ElementsAreArray({"homeless: not assigned to a node, the next is",
                                  "pending: phase Pending, the next Running", "unready: not ready, the next is",
                                  "cheap: deletion cost -5, the next 0", "twin-1: about as old as the next, by UID",
                                  "twin-2: 2 active pods of its controller on this node, the next 0",
                                  "fresh: ready for 5m, the next 30m", "restless: 4 container restarts, the next 0",
                                  "restless-beside: 2 sidecar restarts, the next 0",
                                  "young: created 1h ago, the next 10h", "old: no pod goes later"}));
}

TEST(ScaleDownPlaces, OnlyActivePodsAreThere) {
    EXPECT_THAT(places_of({replica({.name = "done", .phase = PodPhase::succeeded}),
                           replica({.name = "failed", .phase = PodPhase::failed}),
                           replica({.name = "leaving", .deleted = true}), replica({.name = "live"})}),
                ElementsAreArray({"live: no pod goes later"}));
    Observation unlisted;
    unlisted.pods.emplace_back();  // a cgroup whose pod no source knows
    EXPECT_TRUE(scale_down_places(unlisted).empty());
}

TEST(ScaleDownOrder, NoPodIsAskedFor) {
    EXPECT_TRUE(scale_down_order({}, {}, now).empty());
    EXPECT_TRUE(scale_down_order({nullptr, replica({.name = "a"})}, {}, now).empty());
}

}  // namespace
}  // namespace evictd::policy::testing
