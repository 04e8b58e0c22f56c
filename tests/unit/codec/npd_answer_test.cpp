// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What node-problem-detector gets to hear: OK only of what was looked at, and in one line that it does not cut.
#include "npd_answer.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "evictd/model/text.hpp"

namespace evictd::codec {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;

const WallTime now{1'800'000'000s};

json threshold(const std::string& quantity, const std::string& state) {
    return {{"kind", "hard"}, {"value", quantity}, {"quantity", quantity}, {"state", state}};
}

// A calm node, as status_json writes it.
json calm() {
    return {{"next_look", {{"at", rfc3339(now + 5s)}, {"why", "period"}}},
            {"signals",
             {{{"signal", "memory.available"}, {"available", "2Gi"}, {"thresholds", {threshold("100Mi", "clear")}}}}},
            {"conditions", {{{"type", "MemoryPressure"}, {"status", "False"}}}},
            {"sources", {{{"hook", "oom"}, {"chosen", "tracepoint"}}}},
            {"lost", json::object()}};
}

NpdAnswer asked(const json& document, NpdCondition condition, const NpdEvents& events = {.window = 5min}) {
    return npd_answer(condition, document.dump(), events, now);
}

TEST(NpdAnswer, OkSaysWhatWasMeasured) {
    const auto answer = asked(calm(), NpdCondition::memory_pressure);
    EXPECT_EQ(answer.status, NpdStatus::ok);
    EXPECT_EQ(answer.line, "memory.available 2Gi, threshold 100Mi");
}

TEST(NpdAnswer, AConditionIsAProblemAndNamesTheThreshold) {
    auto document = calm();
    document["conditions"][0]["status"] = "True";
    document["signals"][0]["available"] = "80Mi";
    document["signals"][0]["thresholds"][0] = threshold("100Mi", "met");
    const auto answer = asked(document, NpdCondition::memory_pressure);
    EXPECT_EQ(answer.status, NpdStatus::problem);
    EXPECT_EQ(answer.line, "memory.available 80Mi below 100Mi (hard)");
}

TEST(NpdAnswer, AConditionThatOnlyTheTransitionPeriodHoldsIsStillAProblem) {
    auto document = calm();
    document["conditions"][0]["status"] = "True";
    const auto answer = asked(document, NpdCondition::memory_pressure);
    EXPECT_EQ(answer.status, NpdStatus::problem);
    EXPECT_EQ(answer.line, "MemoryPressure held; memory.available 2Gi, threshold 100Mi");
}

// A status of another version, or of an agent that has not decided on it.
TEST(NpdAnswer, AConditionThatTheStatusDoesNotHaveIsNeverOk) {
    auto document = calm();
    document["conditions"] = json::array();
    EXPECT_EQ(asked(document, NpdCondition::memory_pressure).status, NpdStatus::unknown);
    document["signals"][0]["available"] = "80Mi";
    document["signals"][0]["thresholds"][0] = threshold("100Mi", "met");
    const auto answer = asked(document, NpdCondition::memory_pressure);
    EXPECT_EQ(answer.status, NpdStatus::problem);
    EXPECT_EQ(answer.line, "memory.available 80Mi below 100Mi (hard)");
}

TEST(NpdAnswer, WhatIsNotMeasuredIsUnknownAndNotOk) {
    auto document = calm();
    document["signals"].push_back(
        {{"signal", "nodefs.available"}, {"thresholds", {{{"kind", "hard"}, {"value", "10%"}, {"state", "clear"}}}}});
    document["conditions"].push_back({{"type", "DiskPressure"}, {"status", "False"}});
    const auto answer = asked(document, NpdCondition::disk_pressure);
    EXPECT_EQ(answer.status, NpdStatus::unknown);
    EXPECT_EQ(answer.line, "not measured: nodefs.available");
}

TEST(NpdAnswer, WithoutAThresholdTheConditionIsFalseAsInTheKubelet) {
    const auto answer = asked(calm(), NpdCondition::pid_pressure);
    EXPECT_EQ(answer.status, NpdStatus::ok);
    EXPECT_EQ(answer.line, "no threshold is configured for PIDPressure");
}

TEST(NpdAnswer, AnOldLookIsUnknown) {
    auto document = calm();
    document["next_look"]["at"] = rfc3339(now - 10s);
    EXPECT_EQ(asked(document, NpdCondition::memory_pressure).status, NpdStatus::ok);
    document["next_look"]["at"] = rfc3339(now - 42s);
    const auto answer = asked(document, NpdCondition::memory_pressure);
    EXPECT_EQ(answer.status, NpdStatus::unknown);
    EXPECT_EQ(answer.line, "the agent's next look is overdue by 42s");
    document.erase("next_look");
    EXPECT_EQ(asked(document, NpdCondition::memory_pressure).line, "the agent has not looked yet");
}

TEST(NpdAnswer, AThreadThatHangsMakesAllUnknown) {
    auto document = calm();
    document["sources"].push_back({{"hook", "threads"}, {"chosen", ""}, {"detail", "main: 12s"}});
    const auto answer = asked(document, NpdCondition::memory_pressure);
    EXPECT_EQ(answer.status, NpdStatus::unknown);
    EXPECT_EQ(answer.line, "agent threads hang: main: 12s");
}

TEST(NpdAnswer, GarbageIsUnknown) {
    for (const auto* text : {"", "[]", "{}", "{\"next_look\":[]}", "{\"next_look\":{\"at\":7}}"}) {
        EXPECT_EQ(npd_answer(NpdCondition::memory_pressure, text, {}, now).status, NpdStatus::unknown) << text;
    }
}

TEST(NpdAnswer, AStallIsAProblemWhileItLastsAndAWhileAfter) {
    auto document = calm();
    EXPECT_EQ(asked(document, NpdCondition::memory_stall).line, "no threshold is configured on memory stalls");
    document["stalls"] = {
        {{"resource", "memory"},
         {"thresholds", {{{"scope", "node"}, {"kind", "some"}, {"share", "200ms of 1s"}, {"state", "pending"}}}}}};
    EXPECT_EQ(asked(document, NpdCondition::memory_stall).line,
              "tasks stall for memory: more than 200ms of 1s (node some)");
    document["stalls"][0]["thresholds"][0]["state"] = "clear";
    EXPECT_EQ(asked(document, NpdCondition::memory_stall).line, "no memory stall in 5m");
    const auto after = asked(document, NpdCondition::memory_stall, {5min, 2, "default/web"});
    EXPECT_EQ(after.status, NpdStatus::problem);
    EXPECT_EQ(after.line, "2 memory stalls in 5m, last: default/web");
    document["stalls"][0]["thresholds"][0]["state"] = "unknown";
    EXPECT_EQ(asked(document, NpdCondition::memory_stall).status, NpdStatus::unknown);
    EXPECT_EQ(asked(document, NpdCondition::io_stall).status, NpdStatus::ok);
}

TEST(NpdAnswer, OomKillsAreAProblemForTheWindow) {
    auto document = calm();
    EXPECT_EQ(asked(document, NpdCondition::oom_killing).line, "no OOM kill in 5m");
    const auto killed = asked(document, NpdCondition::oom_killing, {5min, 1, "default/web"});
    EXPECT_EQ(killed.status, NpdStatus::problem);
    EXPECT_EQ(killed.line, "1 OOM kill in 5m, last: default/web");
    document["lost"]["event log lines"] = 3;
    EXPECT_EQ(asked(document, NpdCondition::oom_killing).line, "no OOM kill in 5m (3 event log lines lost)");
    document["sources"][0]["chosen"] = "";
    EXPECT_EQ(asked(document, NpdCondition::oom_killing).status, NpdStatus::unknown);
}

TEST(NpdAnswer, OnlyStallsAndOomKillsAskForEvents) {
    EXPECT_EQ(event_reason(NpdCondition::pid_pressure), "");
    EXPECT_EQ(event_reason(NpdCondition::memory_stall), "MemoryStall");
    EXPECT_EQ(event_reason(NpdCondition::oom_killing), "OOMKilling");
    Event event;
    event.message = "a process\nof the host";
    EXPECT_EQ(npd_subject(event), "a process\nof the host");
    event.pod = EventPod{"default", "web", "uid", {}, {}};
    EXPECT_EQ(npd_subject(event), "default/web");
}

TEST(NpdLine, IsOneLineOfAtMostThatLength) {
    EXPECT_EQ(npd_line({NpdStatus::ok, "short"}, 80), "short\n");
    EXPECT_EQ(npd_line({NpdStatus::ok, std::string(80, 'x')}, 80), std::string(80, 'x') + "\n");
    EXPECT_EQ(npd_line({NpdStatus::ok, std::string(81, 'x')}, 80), std::string(77, 'x') + "...\n");
    EXPECT_EQ(npd_line({NpdStatus::ok, "a\nb\x1b[2J"}, 80), "a\\x0ab\\x1b[2J\n");
}

}  // namespace
}  // namespace evictd::codec
