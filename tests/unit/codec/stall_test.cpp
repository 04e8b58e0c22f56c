// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What is told of stalls: events, the status stall_document and its page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "event.hpp"
#include "sample_records.hpp"
#include "status_json.hpp"
#include "status_text.hpp"

namespace evictd::codec {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

MetStall met_stall(Duration grace = 0s) {
    return {{.window = StallWindow::second, .share = 1'000, .grace_period = grace},
            450ms,
            sample::monotonic(sample::look_at),
            {}};
}

Tick stalling() {
    Tick tick = sample::calm();
    tick.observation.pods = {sample::pod("web", 100_MiB, 7)};
    tick.observation.pods[0].stall = PodStall{{50ms, 450ms, 900ms}, 64_MiB};
    tick.observation.stalls = {{StallResource::memory, StallTimes{60ms, 450ms, 1s}, std::nullopt}};
    tick.decision.ranking = {sample::ranked(0, 100_MiB, 0_MiB)};
    return tick;
}

TEST(StallEvents, BeginAndEndAreMemoryStallsWithTheirShareAndThreshold) {
    Tick tick = stalling();
    tick.decision.stall_edges = {{true, met_stall(5s)}};
    auto events = events_of(tick);
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].reason, Reason::memory_stall);
    EXPECT_EQ(events[0].severity, Severity::warning);
    EXPECT_EQ(events[0].message,
              "Tasks of the node stalled on memory for 45% of the last 1s (some; threshold 10%, soft); its grace "
              "period of 5s runs");
    tick.decision.stall_edges = {{false, met_stall()}};
    events = events_of(tick);
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].severity, Severity::normal);
    EXPECT_THAT(events[0].message, HasSubstr("no longer stall on"));
}

TEST(StallEvents, APodsNamesIt) {
    Tick tick = stalling();
    MetStall stall = met_stall();
    stall.threshold.scope = StallScope::pod;
    stall.pod = tick.observation.pods[0].pod->uid;
    tick.decision.stall_edges = {{true, stall}};
    const auto events = events_of(tick);
    ASSERT_EQ(events.size(), 1U);
    ASSERT_TRUE(events[0].pod);
    EXPECT_EQ(events[0].pod->name, "web");
    EXPECT_THAT(events[0].message, HasSubstr("Tasks of pod default/web stalled on"));
}

TEST(StallEvents, AnEvictionForAStallHasNoThresholdInBytes) {
    Tick tick = stalling();
    Eviction eviction;
    eviction.pod = tick.observation.pods[0].pod->uid;
    eviction.stall = met_stall();
    eviction.message = "The node was low on resource: memory. Tasks stalled on memory: ... ";
    tick.decision.evict = eviction;
    const auto events = events_of(tick);
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].reason, Reason::evicting);
    EXPECT_FALSE(events[0].threshold);
    EXPECT_FALSE(events[0].signal);
}

std::string stall_document(const Tick& tick) {
    const AgentStatus agent{.node = "n", .version = "1", .thresholds = {}, .stalls = {met_stall().threshold}};
    const VictimOrder order{Signal::memory_available, tick.decision.ranking, {}};
    return status_json({agent, &tick, order, {}, {}});
}

TEST(StallStatus, HoldsWhatIsLostInMicrosecondsAndTheThreshold) {
    Tick tick = stalling();
    tick.decision.stalls_met = {met_stall()};
    const auto json = nlohmann::json::parse(stall_document(tick));
    const auto& memory = json["stalls"][0];
    EXPECT_EQ(memory["resource"], "memory");
    EXPECT_EQ(memory["some_us"]["1s"], 450'000);
    EXPECT_FALSE(memory.contains("full_us"));
    EXPECT_EQ(memory["thresholds"][0]["share"], "10%");
    EXPECT_EQ(memory["thresholds"][0]["state"], "met");
    EXPECT_EQ(json["ranking"]["pods"][0]["stall"]["some_us"]["10s"], 900'000);
    EXPECT_EQ(json["ranking"]["pods"][0]["stall"]["reclaimed_bytes"], 64 << 20);
    EXPECT_EQ(json["conditions"][0]["type"], "MemoryPressure");
}

TEST(StallStatus, IsAPageOfBarsTheNodeFirstThenThePods) {
    Tick tick = stalling();
    tick.decision.stalls_met = {met_stall()};
    const auto page = status_text(stall_document(tick), Detail::normal, TextStyle{});
    ASSERT_TRUE(page);
    EXPECT_THAT(*page, HasSubstr("STALLS"));
    EXPECT_THAT(*page, HasSubstr("memory some"));
    EXPECT_THAT(*page, HasSubstr("60%  45%  10%"));
    EXPECT_THAT(*page, HasSubstr("hard 10% of 1s"));
    EXPECT_THAT(*page, HasSubstr("MET"));
    EXPECT_THAT(*page, HasSubstr("reclaimed 64Mi in 10s"));
}

TEST(StallStatus, APodsFullStandsBesideItsSomeWhereItIsKnown) {
    Tick tick = stalling();
    tick.observation.pods[0].stall->full = StallTimes{10ms, 70ms, 90ms};
    const auto json = nlohmann::json::parse(stall_document(tick));
    EXPECT_EQ(json["ranking"]["pods"][0]["stall"]["full_us"]["1s"], 70'000);
    const auto page = status_text(stall_document(tick), Detail::normal, TextStyle{});
    ASSERT_TRUE(page);
    EXPECT_THAT(*page, HasSubstr("full 7% of 1s, reclaimed 64Mi in 10s"));
}

TEST(StallStatus, AThresholdThatNeverCanBeMetIsUnknown) {
    Tick tick = stalling();
    const StallThreshold threshold{.kind = StallKind::full, .scope = StallScope::pod, .share = 1'000};
    AgentStatus agent{.node = "n", .version = "1", .thresholds = {}, .stalls = {threshold}};
    const auto page = [&] {
        return *status_text(status_json({agent, &tick, {Signal::memory_available, {}, {}}, {}, {}}), Detail::normal,
                            TextStyle{});
    };
    EXPECT_THAT(page(), HasSubstr("hard 10% of 1s, each pod"));
    EXPECT_THAT(page(), Not(HasSubstr("UNKNOWN"))) << "that the node's full is not read says nothing of pods";
    agent.uncounted_stalls = {threshold};
    EXPECT_THAT(page(), HasSubstr("UNKNOWN"));
}

TEST(StallStatus, WhereNothingIsMeasuredNothingIsShown) {
    Tick tick = stalling();
    tick.observation.stalls.clear();
    const AgentStatus agent{.node = "n", .version = "1", .thresholds = {}, .stalls = {}};
    const auto page = status_text(status_json({agent, &tick, {Signal::memory_available, {}, {}}, {}, {}}),
                                  Detail::normal, TextStyle{});
    ASSERT_TRUE(page);
    EXPECT_THAT(*page, Not(HasSubstr("STALLS")));
}

}  // namespace
}  // namespace evictd::codec
