// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which evictions become kube events.
#include "kube_event.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evictd::codec {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

Record evicted(OutcomeStatus status) {
    Tick tick;
    tick.observation.pods.push_back({});
    tick.observation.pods[0].pod = std::make_shared<const Pod>(Pod{.uid = PodUid{"u1"}});
    tick.decision.evict = Eviction{.pod = PodUid{"u1"}};
    tick.outcomes.push_back({.action = {.pod = PodUid{"u1"}}, .status = status});
    return tick;
}

TEST(KubeEvent, AnEvictionIsToldButNotOfThePodThatEvictdRunsIn) {
    const auto told = kube_events_of(evicted(OutcomeStatus::delivered), {}, "n1");
    ASSERT_THAT(told, SizeIs(1));
    EXPECT_EQ(told[0].reason, "Evicted");
    EXPECT_THAT(kube_events_of(evicted(OutcomeStatus::refused), {}, "n1"), IsEmpty());
}

}  // namespace
}  // namespace evictd::codec
