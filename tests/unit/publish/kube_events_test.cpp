// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Kube events on their way to the API server: counted and combined as client-go does, delivered once, kept until then.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "fakes/fake_clock.hpp"
#include "fakes/scripted_api_server.hpp"
#include "fakes/temp_dir.hpp"
#include "publish/event_sender.hpp"
#include "sys/file.hpp"

namespace evictd::publish {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

codec::KubeEvent oom(const std::string& message = "killed", const std::string& pod = "web") {
    return {.name = {},
            .object = {.name_space = "shop", .name = pod, .uid = "u1", .field_path = "spec.containers{main}"},
            .reason = "OOMKilling",
            .message = message,
            .annotations = {},
            .first = WallTime(1767225600s),
            .last = WallTime(1767225600s)};
}
codec::KubeEvent eviction() {
    auto event = oom("The node was low on resource: memory. ");
    event.reason = "Evicted";
    event.annotations = {{"starved_resource", "memory"}};
    return event;
}

struct KubeEventsTest : ::testing::Test {
    KubeEventsTest() { restart(); }
    void restart() {
        sender.emplace(api, clock, EventSenderOptions{.node = "n1", .spool_path = path, .dry_run = dry_run},
                       std::make_shared<EventAnswers>());
        sender->load();
        sender->work();
    }
    void add(codec::KubeEvent event) {
        sender->add(std::move(event));
        sender->work();
    }
    void answer(long status, const std::string& body = {}) {
        api->answer(status, body);
        sender->work();
    }
    void after(Duration time) {
        clock.advance(time);
        sender->work();
    }
    std::vector<std::string> asked() {
        std::vector<std::string> all;
        for (; seen < api->requests.size(); ++seen)
            all.push_back(api->requests[seen].method + " " + api->requests[seen].path);
        return all;
    }
    [[nodiscard]] const std::string& body() const { return api->requests.back().body; }
    [[nodiscard]] std::string spooled() const { return sys::read_file(path, 1 << 20).value_or("none"); }

    std::shared_ptr<fakes::ScriptedApiServer> api = std::make_shared<fakes::ScriptedApiServer>();
    fakes::FakeClock clock;
    fakes::TempDir dir;
    std::string path = dir / "kube_events";
    bool dry_run = false;
    std::size_t seen = 0;
    std::optional<EventSender> sender;
};

constexpr const char* post = "POST /api/v1/namespaces/shop/events";

TEST_F(KubeEventsTest, AnEventHasTheFieldsThatKubectlShows) {
    add(eviction());
    EXPECT_THAT(asked(), ElementsAre(post));
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

TEST_F(KubeEventsTest, TheSameAgainIsCountedInTheOneThatIsThere) {
    add(oom());
    answer(201);
    add(oom());
    const auto all = asked();
    EXPECT_THAT(all, ElementsAre(post, StartsWith("PATCH /api/v1/namespaces/shop/events/web.")));
    EXPECT_EQ(body(), R"({"count":2,"lastTimestamp":"2026-01-01T00:00:00Z","message":"killed"})");
    answer(404);  // expired
    EXPECT_THAT(asked(), ElementsAre(post));
    EXPECT_THAT(body(), HasSubstr(R"("count":2)"));
}

TEST_F(KubeEventsTest, WhatWaitsIsCountedWithoutARequestOfItsOwn) {
    add(eviction());  // its answer is late
    add(oom());
    add(oom());
    add(oom());
    EXPECT_EQ(sender->waiting(), 2U);
    answer(201);
    EXPECT_THAT(body(), HasSubstr(R"("count":3)"));
}

TEST_F(KubeEventsTest, TheTenthSimilarOneIsCombined) {
    for (int i = 0; i < 12; ++i) {
        add(oom("killed " + std::to_string(i)));
        answer(201);
    }
    EXPECT_THAT(api->requests[9].body, HasSubstr("(combined from similar events): killed 9"));
    EXPECT_EQ(api->requests[11].method, "PATCH");
    EXPECT_THAT(body(), HasSubstr(R"("count":3,)"));
    EXPECT_THAT(body(), HasSubstr("similar events): killed 11"));
    clock.advance(10min + 1s);
    add(oom("killed later"));
    EXPECT_THAT(body(), HasSubstr(R"("message":"killed later")"));
}

TEST_F(KubeEventsTest, AnObjectHasTwentyFiveAndThenOneInFiveMinutesButEvictionsAlways) {
    for (int i = 0; i < 40; ++i) {
        add(oom());
        if (api->unanswered() > 0) answer(200);
    }
    EXPECT_THAT(asked(), SizeIs(25));
    add(eviction());
    EXPECT_THAT(asked(), ElementsAre(post));
    answer(201);
    clock.advance(5min);
    add(oom());
    add(oom());
    EXPECT_THAT(asked(), SizeIs(1));
}

TEST_F(KubeEventsTest, WhileTheServerIsAwayTheyWaitAndTheOldestComesFirst) {
    add(eviction());
    api->hang_up();
    sender->work();
    add(oom("one", "a"));
    add(oom("two", "b"));
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
    add(eviction());
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
    add(eviction());
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
        add(oom("killed " + std::to_string(i)));
        answer(403, R"({"message":"events is forbidden"})");
    }
    add(oom("of a namespace that goes"));
    answer(403, R"({"message":"namespace shop because it is being terminated"})");
    add(oom("of one that is gone"));
    answer(404);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "evictd: warning: the API server refuses kube events, which are dropped: 403: events is forbidden\n");
    EXPECT_EQ(sender->lost(), 5U);
    EXPECT_EQ(sender->waiting(), 0U);
}

TEST_F(KubeEventsTest, AFullDiskIsSaidOnceAndHoldsUpNothing) {
    path = dir / "missing/kube_events";
    restart();
    testing::internal::CaptureStderr();
    add(eviction());
    answer(201);
    add(oom());
    EXPECT_THAT(asked(), SizeIs(2));
    const auto said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(said.find("are lost if evictd ends"), said.rfind("are lost if evictd ends")) << said;
    EXPECT_THAT(said, HasSubstr("are lost if evictd ends"));
}

TEST_F(KubeEventsTest, RoomIsMadeByOtherEventsThanEvictions) {
    add(eviction());
    api->hang_up();
    sender->work();
    for (int i = 0; i < 400; ++i) sender->add(oom("killed", "p" + std::to_string(i)));
    sender->work();
    EXPECT_EQ(sender->waiting(), EventSpool::most_events);
    EXPECT_EQ(sender->lost(), 401 - EventSpool::most_events);
    after(1s);
    EXPECT_THAT(body(), HasSubstr("Evicted"));
}

TEST_F(KubeEventsTest, RetryAfterIsHeededForOneMinuteAtMost) {
    add(eviction());
    api->answer(port::ApiReply{.status = 503, .body = {}, .retry_after = 3600s});
    sender->work();
    after(59s);
    EXPECT_THAT(asked(), SizeIs(1));
    after(1s);
    EXPECT_THAT(asked(), SizeIs(1));
}

// An admission webhook fails the events of one namespace.
TEST_F(KubeEventsTest, AnEventThatTheServerAlwaysFailsLetsOthersGoFirstAndIsDroppedInTheEnd) {
    add(oom("bad", "a"));
    add(oom("good", "b"));
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
    add(oom("one", "a"));
    add(oom("two", "b"));
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
    add(eviction());
    answer(201);
    EXPECT_TRUE(std::filesystem::is_symlink(path));
}

TEST_F(KubeEventsTest, AnAnswerThatNeverComesIsGivenUp) {
    add(eviction());
    after(15s);
    after(1s);
    EXPECT_THAT(asked(), ElementsAre(post, post));
    answer(201);  // the first one's, late
    EXPECT_EQ(sender->waiting(), 1U);
    answer(409);
    EXPECT_EQ(sender->waiting(), 0U);
}

TEST_F(KubeEventsTest, ADryRunSendsAndWritesNothing) {
    dry_run = true;
    restart();
    testing::internal::CaptureStderr();
    add(eviction());
    EXPECT_THAT(asked(), IsEmpty());
    EXPECT_EQ(spooled(), "none");
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("dry run: event Evicted on Pod shop/web"));
}

}  // namespace
}  // namespace evictd::publish
