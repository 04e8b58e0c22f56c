// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The table of reasons is the set of those that are emitted: each is brought about here.
#include "reason.hpp"

#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "event.hpp"
#include "event_json.hpp"
#include "unit/codec/sample_records.hpp"

namespace evictd::codec {
namespace {

using namespace std::chrono_literals;

class EmittedReasons : public testing::Test {
protected:
    void emit(const Record& record) {
        for (const auto& event : events_of(record)) emitted.insert(event.reason.text());
    }
    void notices() {
        for (int i = 0; i <= static_cast<int>(Notice::oom_score_adjusted); i++) {
            emit(AgentNotice{.notice = static_cast<Notice>(i), .wall = {}, .message = "hello", .error = ""});
        }
    }
    void edges() {
        Tick tick = sample::calm();
        tick.decision.threshold_edges = {{true, sample::met()}, {false, sample::met()}};
        for (const auto resource : {StallResource::memory, StallResource::io, StallResource::cpu}) {
            StallEdge edge;
            edge.stall.threshold.resource = resource;
            tick.decision.stall_edges.push_back(edge);
        }
        for (const auto condition : {Condition::memory_pressure, Condition::disk_pressure, Condition::pid_pressure}) {
            tick.decision.condition_edges.push_back({condition, true});
            tick.decision.condition_edges.push_back({condition, false});
        }
        tick.shed = {{.pod = {}, .begun = true, .at = {}}, {.pod = {}, .begun = false, .at = {}}};
        emit(tick);
    }
    void kernel_events() {
        Tick tick = sample::calm();
        MemcgBreach breach;
        breach.limit_kind = MemcgLimit::max;
        breach.pod_cgroup = {7};
        tick.kernel_events = {{tick.observation.at, OomKill{}},
                              {tick.observation.at, breach},
                              {tick.observation.at, SocketMemoryShort{}},
                              {tick.observation.at, EventsLost{}}};
        emit(tick);
    }
    void reclaims() {
        Tick tick = sample::calm();
        tick.decision.announced = {NodeReclaim::images};
        emit(tick);
        tick = sample::calm();
        tick.observation.reclaimed.emplace().orphans.emplace_back();
        emit(tick);
        tick.decision.evict = sample::eviction();
        emit(tick);
    }
    void rungs() {
        Tick tick = sample::calm();
        for (const auto kind : {RungKind::reclaim, RungKind::squeeze, RungKind::freeze}) {
            for (const auto status : {RungStatus::begun, RungStatus::ended}) {
                RungOutcome outcome;
                outcome.rung.kind = kind;
                outcome.status = status;
                tick.observation.rungs.push_back(outcome);
            }
        }
        emit(tick);
    }
    void end_steps() {
        Tick tick = sample::calm();
        for (std::size_t kind = 0; kind < names_of<EndStepKind>().size(); ++kind) {
            tick.decision.end_steps.push_back({.kind = static_cast<EndStepKind>(kind), .desired = {}, .error = {}});
        }
        emit(tick);
    }
    void removals() {
        Tick tick = sample::calm();
        for (const auto kind : {RemovalKind::taint, RemovalKind::deadline, RemovalKind::garbage}) {
            tick.decision.removals.push_back(
                {.kind = kind, .desired = {}, .why = {}, .begun_at = tick.observation.at, .error = {}});
        }
        tick.decision.removals.push_back({.desired = {.attempt = 2}, .why = {}, .answered = 2, .error = "403"});
        emit(tick);
    }
    void evictions() {
        emit(sample::evicting());
        Tick tick = sample::evicted();
        tick.decision.rejections.emplace_back().rejected_for = {Condition::memory_pressure};
        tick.decision.failed = {sample::victim()};
        tick.decision.failed[0].failed = true;
        tick.decision.awaited.emplace().fresh = true;
        tick.decision.owed.emplace_back().fresh = true;
        emit(tick);
    }
    std::set<std::string> emitted;
};

TEST_F(EmittedReasons, AreThoseOfTheTable) {
    notices();
    edges();
    kernel_events();
    reclaims();
    rungs();
    evictions();
    end_steps();
    removals();
    const auto& names = names_of<Reason>();
    EXPECT_EQ(emitted, std::set<std::string>(names.begin(), names.end()));
}

TEST(EventReason, OfAnotherVersionIsKeptAsItIs) {
    const auto event = event_from_json(R"({"v":1,"time":"2026-01-01T00:00:00Z","reason":"NewsFromTheFuture"})");
    ASSERT_TRUE(event);
    EXPECT_EQ(event->reason.text(), "NewsFromTheFuture");
    EXPECT_FALSE(event->reason == Reason::evicted);
    EXPECT_TRUE(EventReason::read("Evicted") == Reason::evicted);
}

}  // namespace
}  // namespace evictd::codec
