// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Kube events that the API server forbids (403): they wait, those of other namespaces do not, and in the end they go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/publish/kube_events_fixture.hpp"

namespace evictd::publish {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* denied = R"({"message":"admission webhook denied the request"})";

codec::KubeEvent event_in(const std::string& name_space, const std::string& pod = "web") {
    auto event = oom_event("killed", pod);
    event.object.name_space = name_space;
    return event;
}

// A server that has just started refuses everybody until it has read who may do what.
TEST_F(KubeEventsTest, WithoutTheRightAnEventIsKeptAndTriedAgain) {
    testing::internal::CaptureStderr();
    add(eviction_event());
    answer(403, R"({"message":"events is forbidden"})");
    after(1s);
    answer(403, R"({"message":"events is forbidden"})");
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "evictd: warning: the API server forbids kube events in namespace shop, which are kept and tried again: "
              "403: events is "
              "forbidden\n");
    EXPECT_EQ(sender->waiting(), 1U);
    after(2s);
    answer(201);
    EXPECT_EQ(sender->waiting(), 0U);
    EXPECT_EQ(sender->lost(), 0U);
}

// A webhook for one namespace, or missing rights there: it must not silence the node.
TEST_F(KubeEventsTest, ANamespaceThatTakesNoneDelaysNoOther) {
    for (int i = 0; i < 100; ++i) sender->add(event_in("closed", "p" + std::to_string(i)));
    sender->add(event_in("shop"));
    sender->work();
    EXPECT_THAT(asked(), ElementsAre("POST /api/v1/namespaces/closed/events"));
    answer(403, denied);
    EXPECT_THAT(asked(), ElementsAre(post_event)) << "at once";
    answer(201);
    EXPECT_THAT(asked(), IsEmpty());
    EXPECT_EQ(sender->due(), clock.monotonic() + 1s);
    after(1s);
    EXPECT_THAT(asked(), ElementsAre("POST /api/v1/namespaces/closed/events"));
    EXPECT_THAT(body(), HasSubstr(R"("name":"p1")")) << "another one: it may have been that event alone";
    answer(403, denied);
    for (int i = 0; i < 10; ++i) {
        add(event_in("shop", "q" + std::to_string(i)));
        EXPECT_THAT(asked(), ElementsAre(post_event));
        answer(201);
    }
    after(2s);
    EXPECT_THAT(asked(), SizeIs(1));
    answer(201);
    EXPECT_THAT(asked(), SizeIs(1)) << "it takes them again";
    EXPECT_EQ(sender->lost(), 0U);
}

TEST_F(KubeEventsTest, WhatANamespaceForbidsForAnHourIsDroppedAndCounted) {
    testing::internal::CaptureStderr();
    for (int i = 0; i < 100; ++i) sender->add(event_in("closed", "p" + std::to_string(i)));
    sender->work();
    const auto begin = clock.monotonic();
    while (sender->waiting() > 0 && asked().size() <= 1 && clock.monotonic() - begin < 3h) {
        answer(403, denied);
        if (const auto due = sender->due()) after(*due - clock.monotonic());
    }
    EXPECT_EQ(sender->waiting(), 0U);
    EXPECT_EQ(sender->lost(), 100U);
    EXPECT_GT(clock.monotonic() - begin, 50min);
    EXPECT_LT(clock.monotonic() - begin, 70min);
    EXPECT_EQ(
        testing::internal::GetCapturedStderr(),
        "evictd: warning: the API server forbids kube events in namespace closed, which are kept and tried again: "
        "403: admission webhook denied the request\n"
        "evictd: warning: the API server forbids kube events in namespace closed, which are dropped: 403: admission "
        "webhook denied the request\n");
    EXPECT_EQ(spooled(), "");
}

// One that was begun, too: the next to come is the first then, and must be replaced by its newer text as any other.
TEST(EventSpool, DropsANamespaceWhoseFirstEventWasBegun) {
    EventSpool spool("");
    EXPECT_TRUE(spool.add({.name_space = "closed", .name = "a", .reason = "Evicted", .json = "1"}));
    EXPECT_TRUE(spool.add({.name_space = "shop", .name = "b", .reason = "Evicted", .json = "2"}));
    (void)spool.begin_first();
    EXPECT_EQ(spool.drop_namespace("closed"), 1U);
    EXPECT_TRUE(spool.add({.name_space = "shop", .name = "b", .reason = "Evicted", .json = "3"}));
    EXPECT_EQ(spool.size(), 1U);
    EXPECT_EQ(spool.events().front().json, "3");
}

// An admission webhook that forbids some of a namespace's events.
TEST_F(KubeEventsTest, AnEventThatIsAlwaysForbiddenIsDroppedInTheEndAndOthersAreDelivered) {
    testing::internal::CaptureStderr();
    add(event_in("shop", "bad"));
    int delivered = 0;
    for (int i = 0; i < 100 && sender->waiting() > 0; ++i) {
        if (api->unanswered() == 0) after(5min);
        if (body().find(R"("name":"bad")") == std::string::npos) {
            answer(201);
            ++delivered;
        } else {
            sender->add(event_in("shop", "good" + std::to_string(i)));
            answer(403, R"({"message":"not this one"})");
        }
    }
    EXPECT_EQ(sender->waiting(), 0U);
    EXPECT_EQ(sender->lost(), 1U);
    EXPECT_EQ(delivered, 20);
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("which are dropped: 403: not this one"));
}

TEST_F(KubeEventsTest, ANamespaceThatTakesNoneCannotFillTheSpool) {
    auto bad = eviction_event();
    bad.object.name_space = "closed";
    for (std::size_t i = 0; i < EventSpool::most_events; ++i) {
        bad.name = "web." + std::to_string(i);
        sender->add(bad);
    }
    sender->work();
    for (int i = 0; i < 6; ++i) {
        answer(403, denied);
        after(5min);
    }
    answer(403, denied);
    sender->add(event_in("shop"));  // and not an eviction
    sender->work();
    EXPECT_EQ(sender->waiting(), EventSpool::most_events);
    EXPECT_EQ(sender->lost(), 1U);
    EXPECT_THAT(asked().back(), post_event);
}

}  // namespace
}  // namespace evictd::publish
