// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What is remembered between two questions, and that it is bounded.
#include "publish/snapshot.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "unit/codec/sample_records.hpp"
#include "unit/publish/publish_fixture.hpp"

namespace evictd::publish {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

TEST(Snapshot, KeepsTheLastTwentyEvictions) {
    Snapshot snapshot({}, {}, {});
    for (int i = 0; i < 25; ++i) {
        auto tick = sample::evicted();
        tick.decision.finished[0].pod_name = "default/" + std::to_string(i);
        snapshot.publish(shared(tick));
    }
    const auto status = json::parse(snapshot.status());
    ASSERT_EQ(status["last_evictions"].size(), 20U);
    EXPECT_EQ(status["last_evictions"][0]["pod"], "default/5");
    EXPECT_EQ(status["last_evictions"][19]["pod"], "default/24");
    EXPECT_EQ(status["last_evictions"][19]["latency_us"]["total"], 540);
    EXPECT_EQ(status["last_evictions"][19]["time"], "2026-01-01T00:00:00.012000000Z");
}

TEST(Snapshot, AddsUpWhatWasLostByCause) {
    Snapshot snapshot({}, {}, [] { return std::map<std::string, std::uint64_t>{{"event log lines", 5}}; });
    auto tick = sample::calm();
    tick.kernel_events = {{tick.observation.at, EventsLost{"ring buffer full", 2}}};
    snapshot.publish(shared(tick));
    snapshot.publish(shared(tick));
    const auto lost = json::parse(snapshot.status())["lost"];
    EXPECT_EQ(lost["kernel events: ring buffer full"], 4);
    EXPECT_EQ(lost["event log lines"], 5);
}

TEST(Snapshot, ANoticeDoesNotReplaceTheLastLook) {
    Snapshot snapshot({}, {}, {});
    snapshot.publish(shared(sample::calm()));
    snapshot.publish(notice("reloaded"));
    EXPECT_TRUE(json::parse(snapshot.status()).contains("signals"));
}

TEST(Snapshot, PoliciesOrderAndItsSentencesAreShown) {
    Snapshot snapshot({},
                      [](const Tick& tick, Signal signal) -> Result<codec::VictimOrder> {
                          if (signal != Signal::memory_available)
                              return fail(ErrorKind::invalid, "rank", "no order for it");
                          return codec::VictimOrder{signal, {tick.decision.ranking[1]}, {"because"}};
                      },
                      {});
    snapshot.publish(shared(sample::calm()));
    EXPECT_EQ(json::parse(snapshot.status())["ranking"]["pods"][0]["place"], "because");
    EXPECT_EQ(json::parse(*snapshot.rank(Signal::memory_available))["ranking"]["pods"][0]["name"], "web");
    EXPECT_FALSE(snapshot.rank(Signal::pid_available));
}

TEST(Snapshot, NewFactsOfTheAgentShowAtOnce) {
    Snapshot snapshot({}, {}, {});
    codec::AgentStatus agent;
    agent.config_file = "/etc/evictd/new.yaml";
    snapshot.set_agent(agent);
    EXPECT_EQ(json::parse(snapshot.status())["config_file"], "/etc/evictd/new.yaml");
}

}  // namespace
}  // namespace evictd::publish
