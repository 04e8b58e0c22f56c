// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the events say of evictions that the API server did not take, or took back.
#include "event_ended.hpp"

#include <string>

#include <gtest/gtest.h>

namespace evictd::codec {
namespace {

std::string sentence_of(EndStepKind kind, PodEnd end, bool given_up = false) {
    EndStep step{.kind = kind, .desired = {}, .error = {}};
    step.desired.name_space = "default";
    step.desired.name = "web";
    step.desired.end = end;
    step.desired.attempt = 2;
    step.desired.given_up = given_up;
    Event event;
    tell_end_step(step, event);
    return event.message;
}

TEST(EndStepEvent, ASoftEvictionThatIsNotGrantedMayStillBeWithdrawn) {
    for (const auto kind : {EndStepKind::unreachable, EndStepKind::rejected}) {
        EXPECT_EQ(sentence_of(kind, PodEnd::evicted),
                  "The Eviction API did not evict default/web; evictd terminates it itself if the threshold is still "
                  "met");
    }
}

// A refusal for want of rights is `unreachable` too: that the server did not answer would be false.
TEST(EndStepEvent, AStatusThatIsNotDeliveredSaysWhetherItIsRequestedAgain) {
    EXPECT_EQ(sentence_of(EndStepKind::unreachable, PodEnd::failed),
              "Pod default/web was killed, but the API server does not show it yet; the request is repeated");
    EXPECT_EQ(sentence_of(EndStepKind::rejected, PodEnd::failed),
              "Pod default/web was killed, but the API server does not show it: it rejected the request");
    EXPECT_EQ(sentence_of(EndStepKind::rejected, PodEnd::failed, true),
              "Pod default/web could not be stopped, but the API server does not show it: it rejected the request");
}

TEST(EndStepEvent, AWatchThatEndsWithoutTheApiServersWordIsAWarning) {
    EndStep step{.kind = EndStepKind::stayed_ended, .desired = {.name_space = "default", .name = "web"}};
    EXPECT_EQ(event_of(step).severity, Severity::normal);
    step.error = "the API server does not show it as ended";
    EXPECT_EQ(event_of(step).severity, Severity::warning);
    Event event;
    tell_end_step(step, event);
    EXPECT_EQ(event.message,
              "Pod default/web was evicted and does not run, but the API server does not show it as ended");
}

TEST(EndStepEvent, AnEvictedPodThatTheApiServerShowsAsRunningIsKilledAgain) {
    EXPECT_EQ(sentence_of(EndStepKind::went_back, PodEnd::failed),
              "The API server shows default/web as running again after its eviction; killed again, attempt 2");
}

}  // namespace
}  // namespace evictd::codec
