// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The sentences, whole: they are read by people who were just woken up.
#include "explain.hpp"

#include <gmock/gmock.h>

#include "rank.hpp"
#include "unit/policy/node.hpp"

namespace evictd::policy::testing {
namespace {

Node web_node(std::vector<Threshold> thresholds,
              PodWords words = {.name = "web", .working_set = 612_MiB, .request = 100_MiB}) {
    Node node{.config = {std::move(thresholds)}};
    node.pods = {pod(words)};
    return node;
}

TEST(Why, NothingToDo) {
    Node node = web_node({hard(100_MiB), soft(200_MiB, 10s), hard(1_GiB, {}, Signal::nodefs_available)});
    node.set(100_GiB, Signal::nodefs_available);
    EXPECT_EQ(node.set(1229_MiB).look(0s).why, "memory.available is 1.2Gi, above 200Mi: no eviction needed");
    EXPECT_EQ(node.set(200_MiB).look(0s).why, "memory.available is 200Mi, not under 200Mi: no eviction needed");
    EXPECT_EQ(web_node({}).look(0s).why, "no threshold is configured: nothing to do");
    EXPECT_EQ(web_node({hard(1_B)}).look(0s).why, "no threshold's signal can be read: no pod can be protected");
}

TEST(Why, Pending) {
    Node node = web_node({soft(1536_MiB, 30s)});
    node.set(1_GiB).look(0s);
    EXPECT_EQ(node.look(18s).why, "memory.available is 1Gi, under 1.5Gi for 18s; the grace period of 30s ends in 12s");
}

TEST(Why, EvictingAtOnce) {
    Node node = web_node({hard(100_MiB)});
    EXPECT_EQ(node.set(96_MiB).look(0s).why,
              "default/web is over its request by 512Mi, the most of the evictable pods with priority 0; "
              "memory.available is 96Mi, under 100Mi");
}

TEST(Why, EvictingWithAGracePeriod) {
    Node node =
        web_node({soft(100_MiB, 300ms)}, {.name = "web", .working_set = 1_MiB, .request = 100_MiB, .priority = 7});
    node.config.soft_eviction_grace = SoftEvictionGrace::pod;
    node.set(96_MiB).look(0s);
    EXPECT_EQ(
        node.look(300ms).why,
        "default/web has the lowest priority, 7, and is nearest to its request: no evictable pod is over its own; "
        "memory.available is 96Mi, under 100Mi for 0.3s; it has 30s to end by itself");
    EXPECT_EQ(node.look(10300ms).why, "default/web is being evicted; it has 20s left to end by itself");
    EXPECT_EQ(node.look(30300ms).why, "the grace period of default/web is over: it is killed");
    EXPECT_EQ(node.look(31s).why, "default/web is being evicted; waiting for its last process");
    node.remove("web");
    EXPECT_EQ(node.set(1_GiB).look(32s).why,
              "default/web is gone; memory.available is 1Gi, above 100Mi: no eviction needed");
}

TEST(Why, AnUnknownUsage) {
    Node node = web_node({hard(100_MiB)}, {.name = "web", .working_set = {}});
    EXPECT_EQ(node.set(96_MiB).look(0s).why,
              "default/web goes first: its usage is not known; memory.available is 96Mi, under 100Mi");
}

TEST(Why, CutShort) {
    Node node = web_node({soft(1_GiB, 1s), hard(100_MiB)});
    node.config.soft_eviction_grace = SoftEvictionGrace::pod;
    node.set(500_MiB).look(0s);
    node.look(1s);
    node.config.thresholds = {hard(100_MiB)};
    EXPECT_EQ(node.set(96_MiB).look(2s).why,
              "the grace period of default/web is cut short and it is killed now: a hard threshold is met, "
              "memory.available is 96Mi, under 100Mi");
}

TEST(Why, NoPodToEvict) {
    Node node = web_node({hard(100_MiB)}, {.name = "web", .priority = 2'000'000'000});
    EXPECT_EQ(node.set(96_MiB).look(0s).why,
              "unable to evict any pods from the node: 1 critical; memory.available is 96Mi, under 100Mi");
    node.pods.clear();
    EXPECT_EQ(node.look(1s).why,
              "unable to evict any pods from the node: none is active; memory.available is 96Mi, under 100Mi for 1s");
}

TEST(Why, AFailure) {
    Node node = web_node({hard(100_MiB)});
    node.carry_out(node.set(96_MiB).look(0s), OutcomeStatus::failed, 0s, "not permitted");
    EXPECT_EQ(node.look(1s).why,
              "evicting default/web failed: not permitted; default/web is over its request by 512Mi, the most of the "
              "evictable pods with priority 0, and there is no other pod though its eviction failed before; "
              "memory.available is 96Mi, under 100Mi for 1s");
}

TEST(Why, AStaleReadingAndMinReclaim) {
    Node node = web_node({hard(100_MiB, 100_MiB)}, {.name = "web", .priority = 2'000'000'000});
    node.set(96_MiB).look(0s);
    EXPECT_EQ(node.set(150_MiB).look(1s, 0s).why,
              "unable to evict any pods from the node: 1 critical; memory.available is 150Mi, back above 100Mi but its "
              "minimum reclaim is not reached");
    node.pods = {pod({.name = "web"})};
    EXPECT_EQ(node.look(2s, 0s).why,
              "memory.available is 150Mi, back above 100Mi but its minimum reclaim is not reached, but it was not read "
              "again since the last look");
}

TEST(Place, ShowsWhatCounted) {
    State state;
    state.passed_over = {{{"uid-failed"}, {100}, at(1h)}};
    for (const auto& [words, expected] : std::vector<std::pair<PodWords, std::string>>{
             {{.name = "over", .working_set = 612_MiB, .request = 100_MiB},
              "default/over uses 612Mi, 512Mi over its request; priority 0"},
             {{.name = "within", .working_set = 1_MiB, .request = 100_MiB, .priority = -3},
              "default/within uses 1Mi, within its request of 100Mi; priority -3"},
             {{.name = "unknown", .working_set = {}},
              "default/unknown goes before all pods whose usage is known: its own is not; priority 0"},
             {{.name = "static", .origin = PodOrigin::static_file},
              "default/static uses 0, within its request of 0; priority 0; not evicted: static"},
             {{.name = "failed"},
              "default/failed uses 0, within its request of 0; priority 0; evicting it failed: others go first"},
         }) {
        Observation observation;
        observation.pods = {pod(words)};
        EXPECT_EQ(place(Signal::memory_available, rank_pods({}, Signal::memory_available, observation, state).at(0),
                        observation),
                  expected);
    }
}

TEST(Place, SpeaksInTheUnitOfItsSignal) {
    ObservedPod web = pod({.name = "web"});
    web.usage->processes = 12;
    web.usage->disk = {.rootfs = 3_MiB, .rootfs_inodes = 900};
    ObservedPod asking = web;
    auto copy = std::make_shared<Pod>(*web.pod);
    copy->containers[0].requests.ephemeral_storage = quantity(1_MiB);
    asking.pod = copy;
    for (const auto& [signal, observed, expected] : std::vector<std::tuple<Signal, ObservedPod, std::string>>{
             {Signal::pid_available, web, "default/web runs 12 processes; priority 0"},
             {Signal::pid_available, pod({.name = "db", .working_set = {}}),
              "default/db goes first of its priority: its processes are not known; priority 0"},
             {Signal::nodefs_inodes_free, web, "default/web uses 900 inodes; priority 0"},
             {Signal::nodefs_inodes_free, asking,
              "default/web uses 900 inodes, less the bytes of its ephemeral-storage request, 1Mi; priority 0"},
             {Signal::nodefs_available, asking, "default/web uses 3Mi, 2Mi over its request; priority 0"},
             {Signal::imagefs_available, pod({.name = "db"}), "default/db uses 0, within its request of 0; priority 0"},
         }) {
        Observation observation;
        observation.pods = {observed};
        EXPECT_EQ(place(signal, rank_pods({}, signal, observation, {}).at(0), observation), expected);
    }
}

}  // namespace
}  // namespace evictd::policy::testing
