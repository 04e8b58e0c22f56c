// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a step does to the next one, and what a step's line says of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/replay/play.hpp"

namespace evictd::replay {
namespace {

using nlohmann::ordered_json;

// Steps after the first one of memory_node.
std::vector<ordered_json> memory_story(const std::string& steps) { return play(memory_node + steps); }

std::string evicted(const ordered_json& step) {
    return step.at("evict").is_null() ? "" : step.at("evict").at("pod").get<std::string>();
}

TEST(Player, AQuietStepHasItsFiveKeysAndNulls) {
    EXPECT_EQ(play_lines(memory_node).at(0),
              R"({"at":"0s","thresholds_met":[],"conditions":[],"evict":null,"ranking":null,)"
              R"("why":"memory.available is 2Gi, above 1Gi: no eviction needed"})");
}

TEST(Player, AnEvictionIsReportedInTheKubeletsWords) {
    const auto steps = memory_story("- {at: 1m30s, available: {memory.available: 512Mi}}\n");
    EXPECT_EQ(steps.at(1).at("at"), "1m30s");
    EXPECT_EQ(steps.at(1).at("thresholds_met").dump(), R"([{"signal":"memory.available","kind":"hard"}])");
    EXPECT_EQ(steps.at(1).at("conditions").dump(), R"(["MemoryPressure"])");
    EXPECT_EQ(steps.at(1).at("evict").dump(),
              R"({"pod":"ns/a","signal":"memory.available","grace_period_seconds":1,"message":)"
              R"("The node was low on resource: memory. Threshold quantity: 1Gi, available: 512Mi. )"
              R"(Container c was using 600Mi, request is 100Mi, has larger consumption of memory. "})");
    EXPECT_EQ(steps.at(1).at("ranking").dump(), R"(["ns/a","ns/b","ns/system"])") << "all active pods, critical too";
}

TEST(Player, AtIsEchoedAsItWasWritten) {
    const auto steps = play("steps: [{at: 0}, {at: 60s}, {at: 1m}, {at: 1.5h}]");
    EXPECT_EQ(steps.at(0).at("at"), "0");
    EXPECT_EQ(steps.at(1).at("at"), "60s");
    EXPECT_EQ(steps.at(2).at("at"), "1m");
    EXPECT_EQ(steps.at(3).at("at"), "1.5h");
}

TEST(Player, StepsAtTheSameTimeAreLooksOfTheirOwn) {
    const auto steps = memory_story(
        "- {at: 5s, available: {memory.available: 512Mi}}\n"
        "- {at: 5s}\n");
    EXPECT_EQ(evicted(steps.at(1)), "ns/a");
    EXPECT_EQ(evicted(steps.at(2)), "ns/b");
}

TEST(Player, AnEvictedPodIsGoneByTheNextStep) {
    const auto steps = memory_story(
        "- {at: 5s, available: {memory.available: 512Mi}}\n"
        "- {at: 6s}\n"
        "- {at: 7s, stuck: [ns/a]}\n");
    EXPECT_EQ(steps.at(2).at("ranking").dump(), R"(["ns/b","ns/system"])");
    EXPECT_EQ(evicted(steps.at(3)), "") << "gone is gone, and a critical pod is never evicted";
}

TEST(Player, WhileAVictimIsStuckNoOtherPodIsEvictedForThirtySeconds) {
    const auto steps = memory_story(
        "- {at: 5s, available: {memory.available: 512Mi}}\n"
        "- {at: 6s, stuck: [ns/a]}\n"
        "- {at: 34s, stuck: [ns/a]}\n"
        "- {at: 35s, stuck: [ns/a]}\n");
    EXPECT_EQ(evicted(steps.at(1)), "ns/a");
    EXPECT_EQ(evicted(steps.at(2)), "");
    EXPECT_EQ(steps.at(2).at("conditions").dump(), R"(["MemoryPressure"])") << "conditions go on";
    EXPECT_EQ(evicted(steps.at(3)), "");
    EXPECT_EQ(evicted(steps.at(4)), "ns/b") << "and a stuck pod is no candidate";
}

TEST(Player, ASoftVictimThatIsStuckHoldsUpOthersForThirtySecondsFromItsEviction) {
    const auto steps = play(R"(
config: {evictionHard: {pid.available: 1}, evictionSoft: {memory.available: 1Gi}, evictionSoftGracePeriod: {memory.available: 0s}, evictionMaxPodGracePeriod: 0}
node: {capacity: {memory: 3Gi}}
pods:
- {metadata: {name: a}, spec: {terminationGracePeriodSeconds: 90, containers: [{name: c}]}}
- {metadata: {name: b}, spec: {containers: [{name: c}]}}
steps:
- {at: 0s, available: {memory.available: 1Mi}, usage: {default/a: {memory: 2Mi}, default/b: {memory: 1Mi}}}
- {at: 29s, stuck: [default/a]}
- {at: 30s, stuck: [default/a]}
)");
    EXPECT_EQ(evicted(steps.at(0)), "default/a");
    EXPECT_EQ(evicted(steps.at(1)), "");
    EXPECT_EQ(evicted(steps.at(2)), "default/b");
}

TEST(Player, AFailedEvictionIsThisStepsOneAndThePodIsPassedOverForThirtySeconds) {
    const auto steps = memory_story(
        "- {at: 5s, available: {memory.available: 512Mi}, evictionFails: [ns/a, ns/b]}\n"
        "- {at: 10s, evictionFails: [ns/b]}\n"
        "- {at: 34s, evictionFails: [ns/a]}\n"
        "- {at: 35s}\n");
    EXPECT_EQ(evicted(steps.at(1)), "ns/a");
    EXPECT_EQ(steps.at(1).at("evict").at("failed"), true);
    EXPECT_EQ(evicted(steps.at(2)), "ns/b") << "moves on at the next look";
    EXPECT_EQ(steps.at(2).at("evict").at("failed"), true);
    EXPECT_EQ(evicted(steps.at(3)), "ns/a") << "nobody else is left";
    EXPECT_EQ(steps.at(3).at("ranking").size(), 3U) << "the pod stays";
    EXPECT_EQ(evicted(steps.at(4)), "ns/a") << "b is still passed over, and it is the last resort; a's time is over";
    EXPECT_FALSE(steps.at(4).at("evict").contains("failed"));
}

TEST(Player, ValuesStayUntilTheyAreGivenAgainAndUsageIsMergedKeyByKey) {
    const auto steps = memory_story(
        "- {at: 1s, usage: {ns/b: {pids: 3, containers: {c: {logs: 1Mi}}}}}\n"
        "- {at: 2s, usage: {ns/b: {memory: 700Mi}}, available: {memory.available: 512Mi}}\n");
    EXPECT_EQ(evicted(steps.at(1)), "");
    EXPECT_EQ(evicted(steps.at(2)), "ns/b");
}

TEST(Player, WhatIsUnavailableIsSoForItsStepOnly) {
    const auto steps = memory_story(
        "- {at: 1s, unavailable: [ns/b], available: {memory.available: 512Mi}}\n"
        "- {at: 2s}\n");
    EXPECT_EQ(evicted(steps.at(1)), "ns/b") << "a pod whose usage is not known goes first";
    EXPECT_EQ(evicted(steps.at(2)), "ns/a");
}

TEST(Player, APodThatWasNeverGivenUsageHasNone) {
    const auto steps = play(R"(
config: {evictionHard: {memory.available: 1Gi}}
pods: [{metadata: {name: a}, spec: {containers: [{name: c}]}}, {metadata: {name: b}, spec: {containers: [{name: c}]}}]
steps: [{at: 0s, usage: {default/a: {memory: 1Gi}}, available: {memory.available: 1Mi}}]
)");
    EXPECT_EQ(steps.at(0).at("ranking").dump(), R"(["default/b","default/a"])");
}

TEST(Player, NullMakesASignalUnknown) {
    const auto steps = memory_story(
        "- {at: 1s, available: {memory.available: null}}\n"
        "- {at: 2s, available: {memory.available: 512Mi}}\n");
    EXPECT_EQ(steps.at(1).at("thresholds_met").size(), 0U);
    EXPECT_EQ(steps.at(2).at("thresholds_met").size(), 1U);
}

TEST(Player, AConditionStaysForTheTransitionPeriod) {
    const auto steps = memory_story(
        "- {at: 1s, available: {memory.available: 512Mi}}\n"
        "- {at: 60s, available: {memory.available: 2Gi}}\n"
        "- {at: 61s}\n");
    EXPECT_EQ(steps.at(2).at("conditions").size(), 1U);
    EXPECT_EQ(steps.at(3).at("conditions").size(), 0U);
}

TEST(Player, PodsThatAreOnlyAskedAboutAreNeverOnTheNode) {
    const auto steps = memory_story(
        "- {at: 1s, available: {memory.available: 512Mi}, admit: [ns/b, ns/system]}\n"
        "- {at: 2s}\n");
    EXPECT_EQ(steps.at(1).at("ranking").dump(), R"(["ns/a"])");
    EXPECT_EQ(steps.at(1).at("admit").dump(), R"({"ns/b":{"allowed":true},"ns/system":{"allowed":true}})")
        << "under memory pressure only BestEffort pods are refused";
    EXPECT_EQ(evicted(steps.at(2)), "");
}

TEST(Player, ARefusedPodIsRefusedInTheKubeletsWords) {
    const auto steps = play(R"(
config: {evictionHard: {memory.available: 1Gi}}
pods: [{metadata: {name: new}, spec: {containers: [{name: c}]}}]
steps: [{at: 0s, available: {memory.available: 1Mi}, admit: [default/new]}]
)");
    EXPECT_EQ(steps.at(0).at("admit").dump(), R"({"default/new":{"allowed":false,"reason":"Evicted",)"
                                              R"("message":"The node had condition: [MemoryPressure]. "}})");
}

TEST(Player, TaintsHoldFromTheirStepOnAndWhatIsDueIsGoneFromTheNextStep) {
    const auto steps = play(R"(
config: {evictionHard: {memory.available: 1Gi}}
pods:
- {metadata: {name: a}, spec: {tolerations: [{key: k, operator: Exists, tolerationSeconds: 30}], containers: [{name: c}]}}
- {metadata: {name: b}, spec: {tolerations: [{operator: Exists}], containers: [{name: c}]}}
- {metadata: {name: c}, spec: {containers: [{name: c}]}}
steps:
- {at: 0s}
- {at: 10s, taints: [{key: k, value: v, effect: NoExecute}]}
- {at: 39s, available: {memory.available: 1Mi}, evictionFails: [default/a]}
- {at: 41s, available: {memory.available: 1Mi}, evictionFails: [default/a]}
- {at: 42s}
- {at: 43s, taints: []}
)");
    EXPECT_FALSE(steps.at(0).contains("taint_evictions"));
    EXPECT_EQ(steps.at(1).at("taint_evictions").dump(),
              R"([{"pod":"default/c","at":"10s"},{"pod":"default/a","at":"40s"}])")
        << "c goes at once, and is seen to go";
    EXPECT_EQ(steps.at(2).at("taint_evictions").dump(), R"([{"pod":"default/a","at":"40s"}])");
    EXPECT_EQ(steps.at(2).at("ranking").size(), 2U) << "c tolerated nothing and is gone";
    EXPECT_EQ(steps.at(3).at("ranking").size(), 2U) << "due, and gone only from the next step";
    EXPECT_EQ(steps.at(3).at("taint_evictions").dump(), R"([{"pod":"default/a","at":"40s"}])") << "carried out";
    EXPECT_EQ(steps.at(4).at("taint_evictions").size(), 0U);
    EXPECT_TRUE(steps.at(4).at("evict").is_null()) << "b was evicted, a deleted";
    EXPECT_TRUE(steps.at(5).contains("taint_evictions")) << "the key stays from the first step with taints";
}

TEST(Player, ScaleDownOrderCountsActivePodsOfTheSameControllerAndNode) {
    const auto owned = [](const std::string& name, const std::string& owner, const std::string& phase) {
        return "- {metadata: {name: " + name + ", ownerReferences: [{kind: ReplicaSet, name: r, uid: " + owner +
               ", controller: true}]}, spec: {nodeName: node-1, containers: [{name: c}]}, status: {phase: " + phase +
               "}}\n";
    };
    const auto steps =
        play("pods:\n" + owned("a", "one", "Running") + owned("b", "two", "Running") + owned("c", "two", "Running") +
             owned("d", "one", "Failed") + "steps: [{at: 0s, scaleDown: [default/a, default/b]}]");
    EXPECT_EQ(steps.at(0).at("scale_down").dump(), R"(["default/b","default/a"])");
}

TEST(Player, QosIsTheClassAndEachContainersAdjustment) {
    const auto steps = play(R"(
node: {capacity: {memory: 4Gi}}
pods:
- {metadata: {name: a}, spec: {containers: [{name: app, resources: {requests: {memory: 64Mi}}}]}}
- {metadata: {name: b}, spec: {containers: [{name: app}]}}
steps: [{at: 0s, qos: [default/a, default/b]}]
)");
    EXPECT_EQ(steps.at(0).at("qos").dump(), R"({"default/a":{"class":"Burstable","oom_score_adj":{"app":985}},)"
                                            R"("default/b":{"class":"BestEffort","oom_score_adj":{"app":1000}}})");
}

TEST(Player, APodPastItsActiveDeadlineFailsAndIsGoneFromTheNextStep) {
    const auto steps = play(R"(
config: {evictionHard: {memory.available: 1Gi}}
pods:
- {metadata: {name: a}, spec: {activeDeadlineSeconds: 60, containers: [{name: c}]}, status: {phase: Running, startTime: "2026-01-01T00:00:00Z"}}
steps: [{at: 59s}, {at: 60s, available: {memory.available: 1Mi}}, {at: 61s}]
)");
    EXPECT_FALSE(steps.at(0).contains("deadline_exceeded"));
    EXPECT_EQ(steps.at(1).at("deadline_exceeded").dump(),
              R"([{"pod":"default/a","message":"Pod was active on the node longer than the specified deadline"}])");
    EXPECT_EQ(evicted(steps.at(1)), "") << "no eviction is wasted on it";
    EXPECT_FALSE(steps.at(2).contains("deadline_exceeded"));
}

}  // namespace
}  // namespace evictd::replay
