// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The event stream's lines to the letter: scripts and dashboards are written against them.
#include "event_json.hpp"

#include <gmock/gmock.h>

#include "event_text.hpp"
#include "unit/codec/sample_records.hpp"

namespace evictd::codec {
namespace {

using namespace std::chrono_literals;

TEST(EventJson, TheEvictedLineIsGolden) {
    EXPECT_EQ(
        to_json_line(events_of(sample::evicted())[0], "node-1"),
        R"({"v":1,"time":"2026-01-01T00:00:00.012000000Z","node":"node-1","severity":"Warning","reason":"Evicted",)"
        R"("message":"Pod default/hog is gone: its last process ended 11.8 ms after SIGKILL","signal":"memory.available",)"
        R"("threshold":{"kind":"hard","value":"100Mi","available":"95Mi","capacity":"3Gi","grace_period":"0s"},)"
        R"("pod":{"namespace":"default","name":"hog","uid":"uid-hog","qos":"BestEffort","priority":0},)"
        R"("cause":"memory.available fell below 100Mi, to 95Mi","reclaimed_bytes":943718400,)"
        R"("latency_us":{"detect":50,"decide":290,"act":200,"total":540,"empty":11760},"id":"fcd46fa749"})");
}

TEST(EventJson, WhatDoesNotApplyIsLeftOut) {
    const Event event = events_of(AgentNotice{Notice::agent_started, sample::start(), "evictd 0.1.0 started", ""})[0];
    EXPECT_EQ(
        to_json_line(event, "n"),
        R"({"v":1,"time":"2026-01-01T00:00:00.000000000Z","node":"n","severity":"Normal","reason":"AgentStarted",)"
        R"("message":"evictd 0.1.0 started"})");
}

TEST(EventJson, APodAtItsMemoryLimitIsGoldenAndReadsBack) {
    auto tick = sample::calm();
    MemcgBreach breach{.usage = 99_MiB, .limit = 100_MiB, .pod = PodUid{"uid-web"}, .pod_cgroup = CgroupId{12}};
    breach.hits = 77;
    breach.container_cgroup = "0123";
    breach.container = "app";
    tick.kernel_events = {{tick.observation.at, breach}};
    const auto line = to_json_line(events_of(tick)[0], "n");
    EXPECT_EQ(
        line,
        R"({"v":1,"time":"2026-01-01T00:00:00.000000000Z","node":"n","severity":"Warning","reason":"PodAtMemoryLimit",)"
        R"("message":"Container app of pod default/web reached its memory limit of 100Mi; limits of the pod were hit 77 )"
        R"(times since the last such event","pod":{"namespace":"default","name":"web","uid":"uid-web","qos":"Burstable","priority":0},)"
        R"("container":"app","cause":"memory.max reached in a pod: 99Mi of 100Mi","limit_bytes":104857600,)"
        R"("count":77})");
    EXPECT_EQ(to_json_line(*event_from_json(line), "n"), line);
}

TEST(EventJson, ConditionsSpeakAsKubernetesDoes) {
    auto tick = sample::calm();
    tick.decision.condition_edges = {{Condition::memory_pressure, false}};
    EXPECT_THAT(
        to_json_line(events_of(tick)[0], "n"),
        testing::HasSubstr(R"("reason":"NodeHasNoMemoryPressure","message":"node has sufficient memory available",)"
                           R"("condition":{"type":"MemoryPressure","status":"False"})"));
}

TEST(EventJson, EveryLineReadsBackToItself) {
    auto tick = sample::evicting();
    tick.dry_run = true;
    tick.outcomes[0].error = "quoted \"text\"\nand a new line";
    for (const auto& event : events_of(tick)) {
        const auto line = to_json_line(event, "node-1");
        const auto read = event_from_json(line);
        ASSERT_TRUE(read) << read.error().text();
        EXPECT_EQ(to_json_line(*read, read->node), line);
    }
}

TEST(EventJson, BytesThatAreNoTextNeverBreakTheLine) {
    Event event;
    event.message = "victim process: \xff\xfe\n\x1b[2J";
    const auto line = to_json_line(event, "n");
    EXPECT_EQ(line.find('\n'), std::string::npos);
    EXPECT_TRUE(event_from_json(line));
}

TEST(EventJson, GarbageIsAnErrorAndNeverAnException) {
    for (const char* line : {"", "null", "[]", "{", "{}", R"({"v":2,"time":"2026-01-01T00:00:00Z"})", R"({"v":1})",
                             R"({"v":"1","time":5})", R"({"v":1,"time":"2026-13-01T00:00:00Z"})"}) {
        EXPECT_FALSE(event_from_json(line)) << line;
    }
    const auto odd = event_from_json(
        R"({"v":1,"time":"2026-01-01T00:00:00Z","message":7,"threshold":[],"pod":{"qos":1,"priority":"x"},"latency_us":{"act":null}})");
    EXPECT_TRUE(odd);
}

TEST(EventText, IsOneReadableLine) {
    EXPECT_EQ(to_text_line(events_of(sample::evicted())[0], {}),
              "00:00:00.012000 Warning Evicted default/hog: Pod default/hog is gone: its last process ended 11.8 ms "
              "after SIGKILL (540 us = detect 50 us + decide 290 us + act 200 us, empty after 11.8 ms) id=fcd46fa749");
}

TEST(EventText, CannotDriveATerminal) {
    Event event;
    event.reason = Reason::oom_killing;
    event.message =
        "\x1b]0;title\x07 \xc2\x9b"
        "2J";
    const auto line = to_text_line(event, {});
    EXPECT_EQ(line.find('\x1b'), std::string::npos);
    EXPECT_EQ(line.find('\x07'), std::string::npos);
    EXPECT_EQ(line.find("\xc2\x9b"), std::string::npos);
}

}  // namespace
}  // namespace evictd::codec
