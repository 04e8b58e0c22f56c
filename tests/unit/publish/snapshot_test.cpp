// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a document has, that what is remembered is bounded, and that no document changes.
#include "publish/snapshot.hpp"

#include <thread>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "unit/codec/sample_records.hpp"
#include "unit/publish/publish_fixture.hpp"

namespace evictd::publish {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

TEST(Snapshot, KeepsTheLastTwentyEvictions) {
    StatusBoard board;
    Snapshot snapshot(board, {});
    for (int i = 0; i < 25; ++i) {
        auto tick = sample::evicted();
        tick.decision.finished[0].pod_name = "default/" + std::to_string(i);
        snapshot.publish(shared(tick));
    }
    const auto status = json::parse(board.document()->status());
    ASSERT_EQ(status["last_evictions"].size(), 20U);
    EXPECT_EQ(status["last_evictions"][0]["pod"], "default/5");
    EXPECT_EQ(status["last_evictions"][19]["pod"], "default/24");
    EXPECT_EQ(status["last_evictions"][19]["latency_us"]["total"], 540);
    EXPECT_EQ(status["last_evictions"][19]["time"], "2026-01-01T00:00:00.012000000Z");
}

TEST(Snapshot, AddsUpWhatWasLostByCause) {
    StatusBoard board;
    Snapshot snapshot(board, [] { return std::map<std::string, std::uint64_t>{{"event log lines", 5}}; });
    auto tick = sample::calm();
    tick.kernel_events = {{tick.observation.at, EventsLost{"ring buffer full", 2}}};
    snapshot.publish(shared(tick));
    snapshot.publish(shared(tick));
    const auto lost = json::parse(board.document()->status())["lost"];
    EXPECT_EQ(lost["kernel events: ring buffer full"], 4);
    EXPECT_EQ(lost["event log lines"], 5);
}

TEST(Snapshot, ANoticeDoesNotReplaceTheLastLook) {
    StatusBoard board;
    Snapshot snapshot(board, {});
    snapshot.publish(shared(sample::calm()));
    snapshot.publish(notice("reloaded"));
    EXPECT_TRUE(json::parse(board.document()->status()).contains("signals"));
}

constexpr PolicyView policy{
    .place = [](Signal, const RankedPod&, const Observation&) -> std::string { return "because"; },
    .rank = [](const EvictionConfig&, Signal, const Observation&,
               const Decision& decided) { return std::vector{decided.ranking[1]}; },
    .scale_down =
        [](const Observation&) {
            return std::vector<ScaleDownPlace>{{1, "not ready"}, {0, "last"}};
        }};

TEST(Snapshot, AnswersWithTheScaleDownOrder) {
    StatusBoard board({}, policy);
    EXPECT_FALSE(board.document()->scale_down());  // no look yet
    Snapshot snapshot(board, {});
    const auto tick = sample::calm();
    snapshot.publish(shared(tick));
    const auto ranking = json::parse(*board.document()->scale_down())["ranking"];
    EXPECT_EQ(ranking["order"], "scale-down");
    ASSERT_EQ(ranking["pods"].size(), 2U);
    EXPECT_EQ(ranking["pods"][0]["rank"], 1);
    EXPECT_EQ(ranking["pods"][0]["name"], tick.observation.pods[1].pod->name);
    EXPECT_EQ(ranking["pods"][0]["place"], "not ready");
    EXPECT_EQ(ranking["pods"][1]["place"], "last");
}

TEST(Snapshot, StatusHasTheDecisionsOrderAndOnlyRankAnswersForOtherSignals) {
    StatusBoard board({}, policy);
    Snapshot snapshot(board, {});
    auto tick = sample::calm();
    tick.decision.ranked_by = Signal::nodefs_available;
    snapshot.publish(shared(tick));
    const auto document = board.document();
    const auto ranking = json::parse(document->status())["ranking"];
    EXPECT_EQ(ranking["signal"], "nodefs.available");
    EXPECT_EQ(ranking["pods"].size(), 3U);
    EXPECT_EQ(ranking["pods"][0]["name"], "hog");
    EXPECT_EQ(ranking["pods"][0]["place"], "because");
    EXPECT_EQ(json::parse(*document->rank(Signal::nodefs_available))["ranking"]["pods"][0]["name"], "hog");
    EXPECT_EQ(json::parse(*document->rank(Signal::memory_available))["ranking"]["pods"][0]["name"], "web");
    EXPECT_EQ(json::parse(*document->rank(Signal::memory_available))["ranking"]["pods"][0]["place"], "because");
}

// The order is then by who causes the stall: no signal's, and no signal's words explain it.
TEST(Snapshot, WhileTasksStallTheOrderIsTheDecisionsWithoutWords) {
    StatusBoard board({}, policy);
    Snapshot snapshot(board, {});
    auto tick = sample::calm();
    tick.decision.stalls_met = {MetStall{}};
    snapshot.publish(shared(tick));
    const auto first = json::parse(board.document()->status())["ranking"]["pods"][0];
    EXPECT_EQ(first["name"], "hog");
    EXPECT_FALSE(first.contains("place"));
    EXPECT_EQ(json::parse(*board.document()->rank(Signal::memory_available))["ranking"]["pods"][0]["name"], "web");
}

TEST(Snapshot, WithoutAPolicyThereIsOnlyTheDecisionsOrder) {
    StatusBoard board;
    EXPECT_FALSE(board.document()->rank(Signal::memory_available)) << "the agent has not looked";
    Snapshot(board, {}).publish(shared(sample::calm()));
    EXPECT_TRUE(board.document()->rank(Signal::memory_available));
    EXPECT_FALSE(board.document()->rank(Signal::pid_available));
}

TEST(Snapshot, NewFactsOfTheAgentShowAtOnce) {
    StatusBoard board;
    board.set_agent({.status = {.config_file = "/etc/evictd/new.yaml"}, .eviction = {}});
    EXPECT_EQ(json::parse(board.document()->status())["config_file"], "/etc/evictd/new.yaml");
}

TEST(Snapshot, ADocumentThatIsHeldStaysAsItIs) {
    StatusBoard board;
    Snapshot snapshot(board, {});
    snapshot.publish(shared(sample::evicted()));
    const auto held = board.document();
    const auto text = held->status();
    snapshot.publish(shared(sample::evicted()));
    board.set_agent({.status = {.node = "another"}, .eviction = {}});
    EXPECT_EQ(held->status(), text);
    EXPECT_NE(board.document()->status(), text);
}

// The publishing lane and the main loop publish, the HTTP server reads: for TSan.
TEST(Snapshot, EveryThreadMayReadTheBoardWhileOthersPublishOnIt) {
    StatusBoard board;
    Snapshot snapshot(board, {});
    const auto record = shared(sample::evicted());
    std::thread looks([&] {
        for (int i = 0; i < 100; ++i) snapshot.publish(record);
    });
    std::thread reloads([&] {
        for (int i = 0; i < 100; ++i) board.set_agent({.status = {.node = "node"}, .eviction = {}});
    });
    while (board.document()->evictions->size() < 20) EXPECT_FALSE(board.document()->status().empty());
    looks.join();
    reloads.join();
    EXPECT_EQ(board.document()->agent->status.node, "node");
    EXPECT_EQ(board.document()->look, record);
}

}  // namespace
}  // namespace evictd::publish
