// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Requests and refusals of the status socket survive the way there and back.
#include "status_request.hpp"

#include <gtest/gtest.h>

namespace evictd::codec {
namespace {

using namespace std::chrono_literals;

TEST(StatusRequest, IsTheLineThatIsDocumented) {
    EXPECT_EQ(to_json_line({}), R"({"verb":"status"})");
    StatusRequest request;
    request.verb = RequestVerb::events;
    request.follow = true;
    request.since = 10min;
    request.reason = "Evicted";
    EXPECT_EQ(to_json_line(request), R"({"verb":"events","follow":true,"since_ms":600000,"reason":"Evicted"})");
}

TEST(StatusRequest, ReadsBack) {
    const auto request = request_from_json(R"({"verb":"rank","signal":"pid.available","new_key":[1]})");
    ASSERT_TRUE(request);
    EXPECT_EQ(request->verb, RequestVerb::rank);
    EXPECT_EQ(request->signal, Signal::pid_available);
    const auto events = request_from_json(R"({"verb":"events","since_ms":1500})");
    ASSERT_TRUE(events);
    EXPECT_EQ(events->since, 1500ms);
    EXPECT_FALSE(events->follow);
}

TEST(StatusRequest, AsksForTheScaleDownOrder) {
    StatusRequest request;
    request.verb = RequestVerb::rank;
    request.order = RankOrder::scale_down;
    EXPECT_EQ(to_json_line(request), R"({"verb":"rank","order":"scale-down"})");
    EXPECT_EQ(request_from_json(to_json_line(request))->order, RankOrder::scale_down);
    EXPECT_EQ(request_from_json(R"({"verb":"rank"})")->order, RankOrder::victims);
    EXPECT_FALSE(request_from_json(R"({"verb":"rank","order":"random"})"));
}

TEST(StatusRequest, AsksForOneIdOrForAllThatHaveOne) {
    StatusRequest request;
    request.verb = RequestVerb::events;
    request.id = "2f6c01e9ab";
    EXPECT_EQ(to_json_line(request), R"({"verb":"events","id":"2f6c01e9ab"})");
    EXPECT_EQ(request_from_json(to_json_line(request))->id, "2f6c01e9ab");
    EXPECT_EQ(request_from_json(R"({"verb":"events","id":5})")->id, "");
}

TEST(StatusRequest, RefusesTimesThatNoClockHolds) {
    for (const char* since :
         {"-1", "\"10m\"", "1e300", "-1e300", "9223372036854775807", "18446744073709551615", "null"}) {
        EXPECT_FALSE(request_from_json(R"({"verb":"events","since_ms":)" + std::string(since) + "}")) << since;
    }
}

TEST(StatusError, KeepsItsKindAndItsWords) {
    const Error error{ErrorKind::not_permitted, "status socket", "only root may ask", "use sudo"};
    const auto read = error_from_json(error_json_line(error));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->kind, error.kind);
    EXPECT_EQ(read->text(), error.text());
    EXPECT_FALSE(error_from_json(R"({"v":1,"error":"an event's"})"));
    EXPECT_FALSE(error_from_json("nonsense"));
}

TEST(Health, ThereAndBack) {
    EXPECT_EQ(health_json_line({.is_alive = true, .is_ready = true, .detail = {}}),
              R"({"v":1,"alive":true,"ready":true})");
    const auto read =
        health_from_json(health_json_line({.is_alive = true, .is_ready = false, .detail = "no \"look\""}));
    ASSERT_TRUE(read);
    EXPECT_TRUE(read->is_alive);
    EXPECT_FALSE(read->is_ready);
    EXPECT_EQ(read->detail, "no \"look\"");
}

TEST(Health, WhatIsNoSuchLineIsNone) {
    for (const auto* line : {"", "ok", "[]", "{}", R"({"alive":true})", R"({"alive":"true","ready":true})",
                             R"({"v":1,"alive":true,"ready")", R"({"error":{"kind":"failed"}})"}) {
        EXPECT_FALSE(health_from_json(line)) << line;
    }
}

}  // namespace
}  // namespace evictd::codec
