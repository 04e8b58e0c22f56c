// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which evictions become kube events, and that each has one name.
#include "kube_event.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "event_id.hpp"

namespace evictd::codec {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

const Eviction eviction{.pod = PodUid{"u1"}, .message = "The node was low on resource: memory. "};

// A look at which pod u1, "web", is being evicted.
Tick look() {
    Tick tick;
    tick.observation.pods.push_back({});
    tick.observation.pods[0].pod =
        std::make_shared<const Pod>(Pod{.uid = PodUid{"u1"}, .name_space = "default", .name = "web"});
    tick.observation.cause.detected_at = MonotonicTime(5s);
    tick.decision.in_flight.push_back(
        {.pod = PodUid{"u1"}, .eviction = eviction, .cause = {.detected_at = MonotonicTime(5s)}});
    return tick;
}
Tick evicted(OutcomeStatus status) {
    Tick tick = look();
    tick.decision.evict = eviction;
    tick.outcomes.push_back({.action = {.pod = PodUid{"u1"}}, .status = status});
    return tick;
}
EndedPod ended(EndStage stage) {
    EndedPod made{.desired = {.pod = PodUid{"u1"}, .name_space = "default", .name = "web"}, .stage = stage};
    made.desired.end = stage == EndStage::asking ? PodEnd::evicted : PodEnd::failed;
    return made;
}
std::vector<KubeEvent> told_of(const Record& record) { return kube_events_of(record, {}, "n1"); }

TEST(KubeEvent, AnEvictionIsToldButNotOfThePodThatEvictdRunsIn) {
    const auto told = told_of(evicted(OutcomeStatus::delivered));
    ASSERT_THAT(told, SizeIs(1));
    EXPECT_EQ(told[0].reason, "Evicted");
    EXPECT_EQ(told[0].name, "web." + eviction_id({"u1"}, MonotonicTime(5s)));
    EXPECT_THAT(told_of(evicted(OutcomeStatus::refused)), IsEmpty());
}

// Each label of a DNS subdomain begins and ends with a letter or digit.
TEST(KubeEvent, ALongNameIsCutAndNeverEndsInADotOrHyphen) {
    EXPECT_EQ(kube_event_name("web", "1f"), "web.1f");
    const std::string longest(236, 'a');
    EXPECT_EQ(kube_event_name(longest, "1f"), longest + ".1f");
    EXPECT_EQ(kube_event_name(longest + "b", "0123456789abcdef").size(), 253U);
    for (const std::string end : {".", "-", "--", "-.-"}) {
        const std::string cut(236 - end.size(), 'a');
        EXPECT_EQ(kube_event_name(cut + end + "web", "1f"), cut + ".1f") << end;
    }
    Tick tick = evicted(OutcomeStatus::delivered);
    tick.observation.pods[0].pod = std::make_shared<const Pod>(
        Pod{.uid = PodUid{"u1"}, .name_space = "default", .name = std::string(235, 'a') + ".web"});
    const auto told = told_of(tick);
    ASSERT_THAT(told, SizeIs(1));
    EXPECT_EQ(told[0].name, std::string(235, 'a') + "." + eviction_id({"u1"}, MonotonicTime(5s)));
}

TEST(KubeEvent, ASoftEvictionIsToldWhenItIsGrantedOrSignalled) {
    Tick asks = look();
    asks.decision.evict = eviction;
    asks.decision.ended = {ended(EndStage::asking)};
    EXPECT_THAT(told_of(asks), IsEmpty()) << "it may be refused until the pressure is over";
    EXPECT_THAT(told_of(look()), IsEmpty());
    Tick granted = look();
    granted.decision.end_steps.push_back({.kind = EndStepKind::accepted, .desired = ended(EndStage::asking).desired});
    EXPECT_THAT(told_of(granted), SizeIs(1));
    Tick terminated = look();
    terminated.outcomes.push_back({.action = {.kind = ActionKind::terminate, .pod = PodUid{"u1"}}});
    ASSERT_THAT(told_of(terminated), SizeIs(1));
    EXPECT_EQ(told_of(terminated)[0].name, told_of(evicted(OutcomeStatus::delivered))[0].name);
}

TEST(KubeEvent, TheNextAgentTellsOfAnEvictionItResumesUnderTheSameName) {
    Tick first;
    auto one = ended(EndStage::killed);
    one.desired.reason = "Evicted";
    one.desired.message = eviction.message;
    one.desired.detected_at = MonotonicTime(5s);
    first.observation.recalled = {one.desired};
    EXPECT_THAT(told_of(first), IsEmpty()) << "it is too old, and is not carried out";
    first.decision.ended = {one};
    const auto told = told_of(first);
    ASSERT_THAT(told, SizeIs(1));
    EXPECT_EQ(told[0].name, told_of(evicted(OutcomeStatus::delivered))[0].name);
    EXPECT_EQ(told[0].message, eviction.message);
    EXPECT_EQ(told[0].object.uid, "u1");
}

TEST(KubeEvent, OfAPodThatOnlyTheRuntimeKnowsIsTheNodes) {
    Tick tick;
    OomKill kill{.pid = 42, .comm = "java"};
    kill.pod = {"u2"};
    kill.container = "app";
    tick.kernel_events = {{MonotonicTime(5s), kill}};
    tick.runtime_names = std::make_shared<const RuntimeNames>(RuntimeNames{.pods = {{{"u2"}, "shop", "cart"}}});
    const auto events = events_of(tick);
    const auto told = kube_events_of(tick, events, "n1");
    ASSERT_THAT(told, SizeIs(1));
    EXPECT_EQ(told[0].object.kind, "Node");
    EXPECT_EQ(told[0].object.name, "n1");
    EXPECT_EQ(told[0].object.field_path, "");
    EXPECT_EQ(told[0].name_space(), "default");
    EXPECT_THAT(told[0].message, HasSubstr("of container app of pod shop/cart"));
}

}  // namespace
}  // namespace evictd::codec
