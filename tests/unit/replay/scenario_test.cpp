// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What is accepted as a scenario, and how what is not is told: one fault, with its line and its key.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/replay/play.hpp"

namespace evictd::replay {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Case {
    const char* rule;
    const char* text;
    const char* place;  // FILE:LINE: KEY: what
};

std::string rule_of(const testing::TestParamInfo<Case>& info) { return info.param.rule; }

class Refused : public testing::TestWithParam<Case> {};

TEST_P(Refused, WithLineAndKey) {
    const std::string fault = fault_of(GetParam().text);
    EXPECT_THAT(fault, StartsWith(std::string("s.yaml") + GetParam().place)) << fault;
    EXPECT_EQ(fault.find('\n'), std::string::npos) << "one line";
    EXPECT_EQ(fault.back(), ')') << "and what to do";
}

const std::string pod_named(const std::string& name, const std::string& uid) {
    return "- {metadata: {name: " + name + ", uid: " + uid + "}, spec: {containers: [{name: c}]}}\n";
}
const std::string twice_named = "pods:\n" + pod_named("a", "u1") + pod_named("a", "u2");
const std::string twice_uid = "pods:\n" + pod_named("a", "u1") + pod_named("b", "u1");
const std::string deep = "steps: " + std::string(200, '[') + std::string(200, ']');

INSTANTIATE_TEST_SUITE_P(
    Scenario, Refused,
    testing::Values(
        Case{"Empty", "", ": there is nothing in it"}, Case{"NoMap", "- 1\n", ":1: found a list (expected a map)"},
        Case{"TextOnly", "hello", ":1: invalid value \"hello\" (expected a map)"},
        Case{"Version2", "version: 2\n", ":1: version: invalid value \"2\" (expected 1, the version of the format)"},
        Case{"VersionAsText", "version: \"1\"\n", ":1: version: invalid value \"1\" (expected a whole number)"},
        Case{"Configuration", "evictionHard: {memory.available: 1Gi}\n",
             ":1: this is a configuration, not a scenario (see evictd replay --help)"},
        Case{"OwnConfiguration", "evictd: {bpf: off}\n", ":1: this is a configuration, not a scenario"},
        Case{"KubeletConfiguration", "kind: KubeletConfiguration\n", ":1: this is a configuration, not a scenario"},
        Case{"UnknownKey", "version: 1\nstep: []\n", ":2: step: unknown key (did you mean steps?)"},
        Case{"UnknownStepKey", "steps:\n- at: 0s\n  availble: {}\n",
             ":3: steps[0].availble: unknown key (did you mean available?"},
        Case{"UnknownSignal", "steps:\n- at: 0s\n  available: {memory.availble: 1Gi}\n",
             ":3: steps[0].available.memory.availble: unknown signal (did you mean memory.available?)"},
        Case{"UnknownFreedSignal", "steps:\n- at: 0s\n  gcFrees: {images: {imagefs: 1Gi}}\n",
             ":3: steps[0].gcFrees.images.imagefs: unknown signal"},
        Case{"UnknownCapacity", "node: {capacity: {mem: 1Gi}}\n",
             ":1: node.capacity.mem: unknown key (expected memory, allocatableMemory, "},
        Case{"UnknownConfigKey", "version: 1\nconfig:\n  evictionHrd: {}\n",
             ":3: config.evictionHrd: unknown key (did you mean evictionHard?"},
        Case{"ConfigFault", "config:\n  evictionHard:\n    memory.available: 1Gi\n    nodefs.available: -1\n",
             ":4: config.evictionHard.nodefs.available: eviction threshold nodefs.available must be positive: -1"},
        Case{"NoTime", "steps:\n- {}\n", ":2: steps[0].at: is missing"},
        Case{"NegativeTime", "steps: [{at: -1s}]", ":1: steps[0].at: is before the start"},
        Case{"NumberAsTime", "steps: [{at: 5}]",
             ":1: steps[0].at: time: missing unit in duration \"5\" (a duration is numbers with units"},
        Case{"NoDuration", "steps: [{at: soon}]", ":1: steps[0].at: time: invalid duration \"soon\""},
        Case{"ManyYears", "steps: [{at: 2000000h}]", ":1: steps[0].at: is more than a century"},
        Case{"TimeGoesBack", "steps:\n- {at: 10s}\n- {at: 10s}\n- {at: 9s}\n", ":4: steps[2].at: goes back in time"},
        Case{"PodTwice", twice_named.c_str(), ":3: pods[1].metadata.name: the pod default/a is listed twice"},
        Case{"UidTwice", twice_uid.c_str(), ":3: pods[1].metadata.uid: two pods have the uid u1"},
        Case{"NoSuchPod", "steps: [{at: 0s, stuck: [default/a]}]",
             ":1: steps[0].stuck[0]: there is no pod \"default/a\""},
        Case{"UsageOfNoPod", "steps:\n- at: 0s\n  usage:\n    default/a: {memory: 1}\n",
             ":4: steps[0].usage.default/a: there is no pod"},
        Case{"NegativeSize", "steps: [{at: 0s, available: {memory.available: -1Gi}}]",
             ":1: steps[0].available.memory.available: must not be negative: -1Gi"},
        Case{"NegativeNumber", "node: {capacity: {memory: -5}}", ":1: node.capacity.memory: must not be negative: -5"},
        Case{"AbsurdSize", "node: {capacity: {memory: 2Ei}}", ":1: node.capacity.memory: is more than any node has"},
        Case{"AbsurdNumber", "node: {capacity: {memory: 1e30}}", ":1: node.capacity.memory: is more than any node has"},
        Case{"NaN", "node: {capacity: {memory: .nan}}", ":1: node.capacity.memory: invalid quantity \".nan\" ("},
        Case{"Infinity", "node: {capacity: {memory: .inf}}", ":1: node.capacity.memory: "},
        Case{"TruthAsSize", "node: {capacity: {memory: true}}",
             ":1: node.capacity.memory: invalid value \"true\" (expected a quantity "},
        Case{"ListAsMap", "node: []", ":1: node: found a list (expected a map)"},
        Case{"MapAsList", "steps: {}", ":1: steps: found a map (expected a list)"},
        Case{"DuplicateKey", "node: {capacity: {memory: 1, memory: 2}}", ":1: "},
        Case{"DuplicateKeyInJson", "{\"version\": 1,\n\"version\": 1}", ":2: "},
        Case{"BadPod",
             "pods:\n- metadata: {name: a}\n  spec:\n    containers:\n    - resources: {limits: {memory: lots}}\n",
             ":5: pods[0].spec.containers[0]"},
        Case{"BadEffect", "steps: [{at: 0s, taints: [{key: k, effect: Never}]}]",
             ":1: steps[0].taints[0].effect: invalid effect \"Never\" ("},
        Case{"BadState", "runtime: {containers: [{id: c, pod: p, state: dead}]}",
             ":1: runtime.containers[0].state: invalid value \"dead\" (expected created, running, exited or unknown)"},
        Case{"ImageTwice", "runtime: {images: [{id: a}, {id: a}]}", ":1: runtime.images[1].id: is listed twice"},
        Case{"BadStart", "start: yesterday",
             ":1: start: invalid time \"yesterday\" (expected RFC 3339 from 1970 to 2150"},
        Case{"TwoDocuments", "version: 1\n---\nversion: 1\n", ":2: more than one document"},
        Case{"AManifest", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n",
             ":2: kind: this is no scenario, but a Pod"},
        Case{"Truncated", "{\"version\": 1, \"steps\": [{\"at\":", ":1: "}, Case{"Deep", deep.c_str(), ":1: "},
        Case{"Binary",
             "\x7f"
             "ELF\x01\x02\x03\x00",
             ":1: "}),
    rule_of);

TEST(Scenario, EveryFaultIsReportedOnceInTheOrderOfTheText) {
    const auto scenario = parse_scenario(
        "node: []\n"
        "config: {evictionHard: {memory.available: 1Gx, pid.available: -1}}\n"
        "pods:\n- {metadata: {name: a}}\n- {metadata: {name: a}}\n- {metadata: {name: b/c}, spec: {containers: {}}}\n"
        "steps:\n- {at: 1s, stuck: [default/b]}\n- {at: soon, gc: {images: {capacity: -1}}}\n- 5\n",
        "s.yaml");
    ASSERT_FALSE(scenario);
    std::vector<std::string> faults;
    for (const auto& fault : scenario.error()) faults.push_back(fault.text());
    EXPECT_THAT(faults,
                testing::ElementsAre(
                    StartsWith("s.yaml:1: node: found a list"),
                    StartsWith("s.yaml:2: config.evictionHard.memory.available: invalid quantity \"1Gx\" ("),
                    StartsWith("s.yaml:2: config.evictionHard.pid.available: eviction threshold"),
                    StartsWith("s.yaml:5: pods[1].metadata.name: the pod default/a is listed twice"),
                    StartsWith("s.yaml:6: pods[2].metadata.name: invalid name \"b/c\""),
                    StartsWith("s.yaml:6: pods[2].spec.containers: found a map"),
                    StartsWith("s.yaml:8: steps[0].stuck[0]: there is no pod \"default/b\" (did you mean default/a?"),
                    StartsWith("s.yaml:9: steps[1].at: time: invalid duration"),
                    StartsWith("s.yaml:9: steps[1].gc.images: available is missing"),
                    StartsWith("s.yaml:9: steps[1].gc.images.capacity: must not be negative"),
                    StartsWith("s.yaml:10: steps[2]: invalid value \"5\" (expected a map)")));
}

std::vector<std::string> faults_of(std::string_view text) {
    std::vector<std::string> faults;
    const auto scenario = parse_scenario(text, "s.yaml");
    if (scenario) return faults;
    for (const auto& fault : scenario.error()) faults.push_back(fault.text());
    return faults;
}

TEST(Scenario, APodAtFaultIsKnownByItsName) {
    const std::string bad = "pods: [{metadata: {name: a}, spec: {priority: high}}]\n";
    EXPECT_THAT(faults_of(bad + "steps: [{at: 0s, stuck: [default/a], usage: {default/a: {memory: 1}}}]"),
                testing::ElementsAre(StartsWith("s.yaml:1: pods[0].spec.priority: ")));
    EXPECT_THAT(
        faults_of(bad + "steps: [{at: 0s, stuck: [default/b]}]"),
        testing::ElementsAre(StartsWith("s.yaml:1: "), StartsWith("s.yaml:2: steps[0].stuck[0]: there is no pod")));
    EXPECT_THAT(faults_of("pods: [{metadata: {}}]\nsteps: [{at: 0s, stuck: [default/b]}]"),
                testing::ElementsAre(StartsWith("s.yaml:1: pods[0].metadata.name: missing")));
    EXPECT_THAT(faults_of("pods: 5\nsteps: [{at: 0s, stuck: [default/b]}]"),
                testing::ElementsAre(StartsWith("s.yaml:1: pods: invalid value")));
}

TEST(Scenario, AKeyOfAnotherLevelNamesItsLevel) {
    EXPECT_THAT(faults_of("node: {pods: []}\navailable: {}\ncapacity: {}\nevictionHard: {}\nsteps:\n- {at: 0s, "
                          "node: {}, pods: [], evictd: {}}\n"),
                testing::ElementsAre("s.yaml:1: node.pods: unknown key (pods is a top-level key)",
                                     "s.yaml:2: available: unknown key (available belongs under steps:)",
                                     "s.yaml:3: capacity: unknown key (capacity belongs under node:)",
                                     "s.yaml:4: evictionHard: unknown key (evictionHard belongs under config:)",
                                     "s.yaml:6: steps[0].node: unknown key (node is a top-level key)",
                                     "s.yaml:6: steps[0].pods: unknown key (pods is a top-level key)",
                                     "s.yaml:6: steps[0].evictd: unknown key (evictd belongs under config:)"));
}

TEST(Scenario, WhatIsLeftOutHasItsDefault) {
    const auto scenario = parse_scenario("steps: [{at: 0s}]", "s.yaml");
    ASSERT_TRUE(scenario);
    EXPECT_EQ(scenario->start, std::chrono::sys_days(std::chrono::year(2026) / 1 / 1));
    EXPECT_EQ(scenario->layout, FsLayout::single);
    EXPECT_EQ(scenario->config.eviction.thresholds.front().signal, Signal::memory_available)
        << "the kubelet's defaults";
}

TEST(Scenario, WithoutStepsThereIsNothingToSay) {
    EXPECT_TRUE(play_lines("version: 1\n").empty());
    EXPECT_TRUE(play_lines("{}").empty());
}

TEST(Scenario, JsonAndYamlMeanTheSame) {
    const auto yaml = play_lines(
        "{config: {evictionHard: {memory.available: 1Gi}}, steps: [{at: 0s, available: {memory.available: 5}}]}");
    const auto json = play_lines(R"( {"config": {"evictionHard": {"memory.available": "1Gi"}},
        "steps": [{"at": "0s", "available": {"memory.available": 5}}]})");
    EXPECT_EQ(yaml, json);
}

TEST(Scenario, ThresholdsAreHandledInTheOrderOfTheFile) {
    const auto order = [](const std::string& hard) {
        const auto scenario =
            parse_scenario("config: {enforceNodeAllocatable: [none], evictionHard: {" + hard + "}}", "s.yaml");
        std::vector<Signal> signals;
        for (const auto& threshold : scenario->config.eviction.thresholds) signals.push_back(threshold.signal);
        return signals;
    };
    EXPECT_THAT(order("pid.available: 10, imagefs.available: 10"),
                testing::ElementsAre(Signal::pid_available, Signal::imagefs_available));
    EXPECT_THAT(order("imagefs.available: 10, pid.available: 10"),
                testing::ElementsAre(Signal::imagefs_available, Signal::pid_available));
}

TEST(Scenario, AnAliasAndAMergeMayHoldTheConfiguration) {
    const auto scenario = parse_scenario(
        "version: 1\n"
        "config: &c {evictionHard: &h {memory.available: 7Gi}}\n",
        "s.yaml");
    ASSERT_TRUE(scenario) << fault_of("config: &c {evictionHard: &h {memory.available: 7Gi}}\n");
    const auto merged = parse_scenario("<<: {config: {evictionHard: {pid.available: 7}}}\nversion: 1\n", "s.yaml");
    ASSERT_TRUE(merged);
    EXPECT_EQ(merged->config.eviction.thresholds.front().signal, Signal::pid_available);
}

TEST(Scenario, AliasesThatExplodeAreRefused) {
    std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 10; ++i) {
        const std::string before = "*a" + std::to_string(i - 1);
        bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
        for (int j = 0; j < 9; ++j) bomb += ", " + before;
        bomb += "]\n";
    }
    EXPECT_THAT(fault_of(bomb), HasSubstr("more than 3145728 values"));
}

TEST(Scenario, WhatIsTooLargeIsRefusedUnread) {
    EXPECT_THAT(fault_of(std::string(document::scenario_limits.bytes + 1, ' ')), HasSubstr("larger than 32 MiB"));
}

TEST(Scenario, PodsNeedNoUid) {
    const auto scenario = parse_scenario("pods: [{metadata: {name: a}, spec: {containers: [{name: c}]}}]", "s.yaml");
    ASSERT_TRUE(scenario);
    EXPECT_EQ(scenario->pods.front()->uid.value, "default/a");
}

TEST(Scenario, ManyUnknownNamesAreRefusedInNoTime) {
    std::string text = "pods:\n";
    for (int i = 0; i < 300; ++i) text += pod_named("p" + std::to_string(i), "u" + std::to_string(i));
    text += "steps:\n- at: 0s\n  stuck: [";
    for (int i = 0; i < 20000; ++i) text += "x/y" + std::to_string(i) + ", ";
    EXPECT_THAT(fault_of(text + "]\n"), HasSubstr("steps[0].stuck[0]"));
}

}  // namespace
}  // namespace evictd::replay
