// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// One pod cannot flood the events; what is held back is counted; an eviction is always reported.
#include "publish/event_limiter.hpp"

#include <gmock/gmock.h>

#include "codec/event_json.hpp"
#include "fakes/fake_clock.hpp"
#include "publish/event_log.hpp"
#include "publish/event_stream.hpp"
#include "unit/codec/sample_records.hpp"
#include "unit/publish/publish_fixture.hpp"

namespace evictd::publish {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::SizeIs;

const EventKey key{"uid-a", "OOMKilling"};

int admitted(EventLimiter& limiter, const EventKey& of, MonotonicTime now, int events) {
    int passed = 0;
    for (int i = 0; i < events; i++) passed += limiter.admit(of, now) > 0 ? 1 : 0;
    return passed;
}

TEST(EventLimiter, ABurstThenOneInFiveMinutesThatReportsTheOthers) {
    EventLimiter limiter;
    MonotonicTime now{1h};
    EXPECT_EQ(admitted(limiter, key, now, 1000), 25);
    now += 299s;
    EXPECT_EQ(limiter.admit(key, now), 0U);
    now += 1s;
    EXPECT_EQ(limiter.admit(key, now), 977U) << "itself, and all that were held back";
    EXPECT_EQ(limiter.admit(key, now), 0U);
    now += 300s;
    EXPECT_EQ(limiter.admit(key, now), 2U);
    now += 25 * 300s;
    EXPECT_EQ(limiter.admit(key, now), 1U);
    EXPECT_EQ(admitted(limiter, key, now, 100), 24) << "the burst is there again, and not more";
}

TEST(EventLimiter, WhatHeldBackEventsCountIsReportedByTheNext) {
    EventLimiter limiter({.burst = 1});
    MonotonicTime now{1h};
    EXPECT_EQ(limiter.admit(key, now, 40), 40U);
    EXPECT_EQ(limiter.admit(key, now, 7), 0U);
    EXPECT_EQ(limiter.admit(key, now, 5), 0U);
    now += 300s;
    EXPECT_EQ(limiter.admit(key, now, 2), 14U);
    EXPECT_EQ(limiter.admit(key, now, 7), 0U);
    EXPECT_EQ(limiter.forget([](const std::string&) { return true; }, now + 300s), 1U) << "events, not what they count";
}

TEST(EventLimiter, APodsAndAReasonsBucketsAreTheirOwn) {
    EventLimiter limiter;
    const MonotonicTime now{1h};
    EXPECT_EQ(admitted(limiter, key, now, 100), 25);
    EXPECT_EQ(admitted(limiter, {"uid-b", "OOMKilling"}, now, 100), 25);
    EXPECT_EQ(admitted(limiter, {"uid-a", "MemoryStall"}, now, 100), 25);
}

TEST(EventLimiter, ItsMemoryIsBoundedAndWhatHasNoRoomSharesABucket) {
    EventLimiter limiter({.most_buckets = 8});
    MonotonicTime now{1h};
    int passed = 0;
    for (int pod = 0; pod < 1000; pod++) passed += admitted(limiter, {std::to_string(pod), "R"}, now, 1);
    EXPECT_EQ(limiter.buckets(), 8U);
    EXPECT_EQ(passed, 8 + 25);
    now += 301s;  // those eight have all their tokens
    EXPECT_EQ(limiter.admit({"new", "R"}, now), 1U);
    EXPECT_EQ(limiter.buckets(), 1U);
}

TEST(EventLimiter, PodsThatAreGoneAreForgottenButGetNoSecondBurstAtOnce) {
    EventLimiter limiter;
    MonotonicTime now{1h};
    (void)admitted(limiter, key, now, 30);
    (void)limiter.admit({"", "KernelEventsLost"}, now);
    const auto all_gone = [](const std::string&) { return true; };
    EXPECT_EQ(limiter.forget(all_gone, now + 299s), 0U);
    EXPECT_EQ(limiter.buckets(), 2U);
    EXPECT_EQ(limiter.forget([](const std::string&) { return false; }, now + 300s), 0U);
    EXPECT_EQ(limiter.forget(all_gone, now + 300s), 5U) << "held back, and reported by no later event";
    EXPECT_EQ(limiter.buckets(), 1U) << "the one of no pod stays";
}

Tick oom_kill(const std::string& pod) {
    Tick tick = sample::calm();
    OomKill kill;
    kill.pid = 77;
    kill.comm = "hog";
    kill.memcg = true;
    kill.pod = PodUid{"uid-" + pod};
    tick.kernel_events = {{sample::monotonic(sample::look_at), kill}};
    return tick;
}

class Stream : public testing::Test {
protected:
    std::size_t reported(const Tick& tick, int times) {
        std::size_t count = 0;
        for (int i = 0; i < times; i++) count += stream.of(shared(tick)).size();
        return count;
    }
    fakes::FakeClock clock;
    EventStream stream{clock};
};

TEST_F(Stream, OnePodsKillsCannotRotateTheEventLogAway) {
    const fakes::TempDir directory;
    EventLog log({directory / "events.jsonl", 1_MiB, 2}, "n",
                 std::shared_ptr<EventStream>(std::shared_ptr<void>(), &stream));
    for (int i = 0; i < 5000; i++) log.publish(shared(oom_kill("hog")));
    EXPECT_THAT(lines_of(directory / "events.jsonl"), SizeIs(25));
    EXPECT_EQ(stream.held_back(), 4975U);
    log.publish(shared(oom_kill("web")));
    clock.advance(300s);
    log.publish(shared(oom_kill("hog")));
    const auto lines = lines_of(directory / "events.jsonl");
    ASSERT_THAT(lines, SizeIs(27)) << "another pod's is reported, and the next of this one";
    EXPECT_THAT(lines.back(), HasSubstr("\"count\":4976"));
    EXPECT_THAT(lines.back(), HasSubstr("(and 4975 more since the last such event was reported)"));
    EXPECT_EQ(codec::event_from_json(lines.back())->count, 4976U);
    EXPECT_THAT(lines.front(), testing::Not(HasSubstr("\"count\"")));
}

TEST_F(Stream, APodThatLivesAtItsLimitIsLimitedAndNoHitIsForgotten) {
    Tick tick = sample::calm();
    tick.kernel_events = {
        {tick.observation.at,
         MemcgBreach{.limit = 1_MiB, .pod = PodUid{"uid-web"}, .pod_cgroup = CgroupId{12}, .hits = 60}}};
    std::uint64_t events = 0, hits = 0;
    for (int minute = 0; minute < 60; minute++) {
        for (const auto& event : stream.of(shared(tick))) {
            events++;
            hits += event.count;
        }
        clock.advance(60s);
    }
    EXPECT_GE(events, 30U);
    EXPECT_LE(events, 25U + 12U);
    EXPECT_GE(hits, 55U * 60U);
    EXPECT_LE(hits, 60U * 60U);
}

TEST_F(Stream, AllPublishersHaveTheSameEventsOfARecord) {
    const auto record = shared(oom_kill("hog"));
    for (int i = 0; i < 100; i++) EXPECT_THAT(stream.of(record), SizeIs(1));
    EXPECT_EQ(reported(oom_kill("hog"), 100), 24U);
}

TEST_F(Stream, EvictionsAreAlwaysReportedTriesThatFailAreNot) {
    Tick evicting = sample::evicting();
    evicting.decision.threshold_edges.clear();
    evicting.decision.condition_edges.clear();
    EXPECT_EQ(reported(evicting, 200), 200U);
    EXPECT_EQ(reported(sample::evicted(), 200), 200U);
    Tick failing = evicting;
    failing.outcomes[0].status = OutcomeStatus::failed;
    failing.outcomes[0].error = "EMFILE";
    EXPECT_EQ(reported(failing, 200), 25U);
    EXPECT_EQ(reported(evicting, 1), 1U);
}

TEST_F(Stream, WhatTheAgentReportsOfItselfIsNotLimitedWhatAPodCausesIs) {
    for (int i = 0; i < 200; i++) EXPECT_THAT(stream.of(notice("reloaded")), SizeIs(1));
    const auto pod = sample::calm().observation.pods[0].pod;
    std::size_t scores = 0;
    for (int i = 0; i < 200; i++) {
        scores += stream.of(shared(AgentNotice{Notice::oom_score_adjusted, sample::start(), "Set", "", pod})).size();
    }
    EXPECT_EQ(scores, 25U);
    Tick flapping = sample::evicting();
    flapping.decision.evict.reset();
    flapping.decision.condition_edges.clear();
    EXPECT_EQ(reported(flapping, 200), 25U) << "a pod that crosses a threshold again and again";
}

TEST_F(Stream, ItForgetsPodsThatAreGone) {
    EXPECT_EQ(reported(oom_kill("hog"), 30), 25U);
    Tick without = sample::calm();
    without.observation.pods.erase(without.observation.pods.begin());
    clock.advance(400s);
    (void)stream.of(shared(without));
    EXPECT_EQ(stream.never_reported(), 5U);
    EXPECT_EQ(stream.held_back(), 5U);
}

}  // namespace
}  // namespace evictd::publish
