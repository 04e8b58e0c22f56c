// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Kube events on their way to the API server: counted and combined as client-go does, delivered once, kept until then.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "unit/publish/kube_events_fixture.hpp"

namespace evictd::publish {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

TEST_F(KubeEventsTest, AnEventHasTheFieldsThatKubectlShows) {
    add(eviction_event());
    EXPECT_THAT(asked(), ElementsAre(post_event));
    EXPECT_EQ(body(),
              R"({"apiVersion":"v1","kind":"Event","metadata":{"name":"web.18867251edfa0000","namespace":"shop",)"
              R"("annotations":{"starved_resource":"memory"}},"involvedObject":{"kind":"Pod","namespace":"shop",)"
              R"("name":"web","uid":"u1","apiVersion":"v1","fieldPath":"spec.containers{main}"},"reason":"Evicted",)"
              R"("message":"The node was low on resource: memory. ","source":{"component":"evictd","host":"n1"},)"
              R"("firstTimestamp":"2026-01-01T00:00:00Z","lastTimestamp":"2026-01-01T00:00:00Z","count":1,)"
              R"("type":"Warning","eventTime":null,"reportingComponent":"evictd","reportingInstance":"n1"})");
    answer(201);
    EXPECT_EQ(sender->waiting(), 0U);
    EXPECT_EQ(spooled(), "");
}

TEST_F(KubeEventsTest, ALongNameIsCutWhereALabelMayEnd) {
    add(oom_event("killed", std::string(235, 'a') + "-web"));
    EXPECT_THAT(body(), HasSubstr(R"("name":")" + std::string(235, 'a') + R"(.18867251edfa0000")"));
}

TEST_F(KubeEventsTest, TheSameAgainIsCountedInTheOneThatIsThere) {
    add(oom_event());
    answer(201);
    add(oom_event());
    const auto all = asked();
    EXPECT_THAT(all, ElementsAre(post_event, StartsWith("PATCH /api/v1/namespaces/shop/events/web.")));
    EXPECT_EQ(body(), R"({"count":2,"lastTimestamp":"2026-01-01T00:00:00Z","message":"killed"})");
    answer(404);  // expired
    EXPECT_THAT(asked(), ElementsAre(post_event));
    EXPECT_THAT(body(), HasSubstr(R"("count":2)"));
}

TEST_F(KubeEventsTest, WhatWaitsIsCountedWithoutARequestOfItsOwn) {
    add(eviction_event());  // its answer is late
    add(oom_event());
    add(oom_event());
    add(oom_event());
    EXPECT_EQ(sender->waiting(), 2U);
    answer(201);
    EXPECT_THAT(body(), HasSubstr(R"("count":3)"));
}

TEST_F(KubeEventsTest, TheTenthSimilarOneIsCombined) {
    for (int i = 0; i < 12; ++i) {
        add(oom_event("killed " + std::to_string(i)));
        answer(201);
    }
    EXPECT_THAT(api->requests[9].body, HasSubstr("(combined from similar events): killed 9"));
    EXPECT_EQ(api->requests[11].method, "PATCH");
    EXPECT_THAT(body(), HasSubstr(R"("count":3,)"));
    EXPECT_THAT(body(), HasSubstr("similar events): killed 11"));
    clock.advance(10min + 1s);
    add(oom_event("killed later"));
    EXPECT_THAT(body(), HasSubstr(R"("message":"killed later")"));
}

TEST_F(KubeEventsTest, AnObjectHasTwentyFiveAndThenOneInFiveMinutesButEvictionsAlways) {
    for (int i = 0; i < 40; ++i) {
        add(oom_event());
        if (api->unanswered() > 0) answer(200);
    }
    EXPECT_THAT(asked(), SizeIs(25));
    auto one = eviction_event();
    one.name = "web.0123456789";
    add(one);
    EXPECT_THAT(asked(), ElementsAre(post_event));
    answer(201);
    clock.advance(5min);
    add(oom_event());
    add(oom_event());
    EXPECT_THAT(asked(), SizeIs(1));
}

TEST_F(KubeEventsTest, WhileTheServerIsAwayTheyWaitAndTheOldestComesFirst) {
    add(eviction_event());
    api->hang_up();
    sender->work();
    add(oom_event("one", "a"));
    add(oom_event("two", "b"));
    EXPECT_THAT(asked(), SizeIs(1)) << "a new event is no reason to come sooner";
    after(1s);
    answer(503);
    after(1s);
    EXPECT_THAT(asked(), SizeIs(1));
    after(1s);
    answer(201);
    EXPECT_THAT(body(), HasSubstr("one"));
    answer(201);
    EXPECT_THAT(body(), HasSubstr("two"));
    answer(201);
    EXPECT_EQ(sender->waiting(), 0U);
    EXPECT_EQ(sender->lost(), 0U);
}

// Killed at any point: before it was sent, or after the server had it and before it was struck off.
TEST_F(KubeEventsTest, TheNextAgentDeliversThemUnderTheSameName) {
    add(eviction_event());
    const auto before = body();
    restart();
    EXPECT_EQ(body(), before);
    api->answer(201);  // of the agent that is gone
    answer(409);
    EXPECT_EQ(sender->waiting(), 0U);
    EXPECT_EQ(sender->lost(), 0U);
    restart();
    (void)asked();
    sender->work();
    EXPECT_THAT(asked(), IsEmpty());
}

TEST_F(KubeEventsTest, WhatIsLeftOfATornFileIsDelivered) {
    add(eviction_event());
    const auto text = spooled();
    ASSERT_TRUE(sys::write_atomically(path, text + "=" + text.substr(1, 40)));
    testing::internal::CaptureStderr();
    restart();
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("1 lines are no kube events"));
    EXPECT_EQ(sender->waiting(), 1U);
    ASSERT_TRUE(sys::write_atomically(path, std::string("\0\xff\n\n[]\n+{}\n", 11)));
    restart();
    EXPECT_EQ(sender->waiting(), 0U);
}

TEST_F(KubeEventsTest, ARefusalIsSaidOnceAndCounted) {
    testing::internal::CaptureStderr();
    for (int i = 0; i < 3; ++i) {
        add(oom_event("killed " + std::to_string(i)));
        answer(422, R"({"message":"invalid"})");
    }
    add(oom_event("of a namespace that goes"));
    answer(403, R"({"message":"namespace shop because it is being terminated"})");
    add(oom_event("of one that is gone"));
    answer(404);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "evictd: warning: the API server refuses kube events, which are dropped: 422: invalid\n");
    EXPECT_EQ(sender->lost(), 5U);
    EXPECT_EQ(sender->waiting(), 0U);
}

TEST_F(KubeEventsTest, AFullDiskIsSaidOnceAndHoldsUpNothing) {
    path = dir / "missing/kube_events";
    restart();
    testing::internal::CaptureStderr();
    add(eviction_event());
    answer(201);
    add(oom_event());
    EXPECT_THAT(asked(), SizeIs(2));
    const auto said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(said.find("are lost if evictd ends"), said.rfind("are lost if evictd ends")) << said;
    EXPECT_THAT(said, HasSubstr("are lost if evictd ends"));
}

TEST_F(KubeEventsTest, AnEventThatHasANameHappensOnce) {
    auto named = eviction_event();
    named.name = "web.0123456789";
    add(named);
    add(named);
    EXPECT_EQ(sender->waiting(), 1U);
    EXPECT_THAT(body(), HasSubstr(R"("name":"web.0123456789")"));
    answer(409);  // the agent before had sent it
    EXPECT_EQ(sender->waiting(), 0U);
    EXPECT_EQ(sender->lost(), 0U);
}

TEST_F(KubeEventsTest, RoomIsMadeByOtherEventsThanEvictions) {
    add(eviction_event());
    api->hang_up();
    sender->work();
    for (int i = 0; i < 400; ++i) sender->add(oom_event("killed", "p" + std::to_string(i)));
    sender->work();
    EXPECT_EQ(sender->waiting(), EventSpool::most_events);
    EXPECT_EQ(sender->lost(), 401 - EventSpool::most_events);
    after(1s);
    EXPECT_THAT(body(), HasSubstr("Evicted"));
}

TEST_F(KubeEventsTest, RetryAfterIsHeededForOneMinuteAtMost) {
    add(eviction_event());
    api->answer(port::ApiReply{.status = 503, .body = {}, .retry_after = 3600s});
    sender->work();
    after(59s);
    EXPECT_THAT(asked(), SizeIs(1));
    after(1s);
    EXPECT_THAT(asked(), SizeIs(1));
}

// An admission webhook fails the events of one namespace.
TEST_F(KubeEventsTest, AnEventThatTheServerAlwaysFailsLetsOthersGoFirstAndIsDroppedInTheEnd) {
    add(oom_event("bad", "a"));
    add(oom_event("good", "b"));
    for (int i = 0; i < 5; ++i) {
        EXPECT_THAT(body(), HasSubstr("bad"));
        answer(500);
        after(5min);
    }
    EXPECT_THAT(body(), HasSubstr("good"));
    answer(201);
    testing::internal::CaptureStderr();
    for (int i = 0; i < 15; ++i) {
        EXPECT_EQ(sender->waiting(), 1U);
        answer(500, R"({"message":"failed calling webhook"})");
        after(10min);
    }
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("500: failed calling webhook"));
    EXPECT_EQ(sender->waiting(), 0U);
    EXPECT_EQ(sender->lost(), 1U);
}

TEST_F(KubeEventsTest, AServerThatFailsEverythingCostsNoEvent) {
    add(oom_event("one", "a"));
    add(oom_event("two", "b"));
    for (int i = 0; i < 60; ++i) answer(503), after(10min);
    EXPECT_EQ(sender->waiting(), 2U);
    answer(201);
    answer(201);
    EXPECT_EQ(sender->waiting(), 0U);
    EXPECT_EQ(sender->lost(), 0U);
}

TEST_F(KubeEventsTest, ASpoolThatCannotBeReadStaysAsItIs) {
    path = dir / "loop";
    ASSERT_EQ(symlink(path.c_str(), path.c_str()), 0);  // ELOOP
    testing::internal::CaptureStderr();
    restart();
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("loop"));
    add(eviction_event());
    answer(201);
    EXPECT_TRUE(std::filesystem::is_symlink(path));
}

TEST_F(KubeEventsTest, AnAnswerThatNeverComesIsGivenUp) {
    add(eviction_event());
    after(15s);
    after(1s);
    EXPECT_THAT(asked(), ElementsAre(post_event, post_event));
    answer(201);  // the first one's, late
    EXPECT_EQ(sender->waiting(), 1U);
    answer(409);
    EXPECT_EQ(sender->waiting(), 0U);
}

TEST_F(KubeEventsTest, ADryRunSendsAndWritesNothing) {
    dry_run = true;
    restart();
    testing::internal::CaptureStderr();
    add(eviction_event());
    EXPECT_THAT(asked(), IsEmpty());
    EXPECT_EQ(spooled(), "none");
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("dry run: event Evicted on Pod shop/web"));
}

}  // namespace
}  // namespace evictd::publish
