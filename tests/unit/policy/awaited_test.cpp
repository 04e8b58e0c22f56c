// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Whom memory takes is not known: pods whose manifest is late, and looks without usage.
#include "awaited.hpp"

#include <gmock/gmock.h>

#include "unit/policy/node.hpp"

namespace evictd::policy::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

UnknownPod unknown(Bytes working_set, Duration first_seen = 0s, bool populated = true,
                   const std::string& uid = "late") {
    return {
        .pod = {uid}, .cgroup = {7}, .first_seen = at(first_seen), .working_set = working_set, .populated = populated};
}

// Under its threshold, with one innocent pod that would go first.
struct Short : Node {
    explicit Short(std::vector<UnknownPod> late, Threshold threshold = hard(100_MiB)) {
        config.thresholds = {threshold};
        pods = {pod({.name = "small", .working_set = 8_MiB, .request = 64_MiB, .cgroup = 1}),
                pod({.name = "other", .working_set = 7_MiB, .request = 64_MiB, .cgroup = 2})};
        unknown_pods = std::move(late);
        set(90_MiB);
    }
};

TEST(Awaited, APodThatHoldsMoreAndIsNotKnownYetIsWaitedFor) {
    Short node({unknown(80_MiB)});
    const Decision decision = node.look(1s);
    EXPECT_EQ(evicted(decision), "");
    ASSERT_TRUE(decision.awaited);
    EXPECT_EQ(decision.awaited->first, PodUid{"uid-small"});
    EXPECT_EQ(decision.awaited->until, at(10s));
    EXPECT_EQ(decision.look_again_at, at(1050ms));
    EXPECT_THAT(decision.why, HasSubstr("a pod whose manifest is not known yet (UID late, 80Mi) may come before "
                                        "default/small in the victim order; no pod is evicted for memory before its "
                                        "manifest is known"));
    EXPECT_THAT(decision.why, HasSubstr("or in the next 9s; memory.available is 90Mi, under 100Mi"));
}

TEST(Awaited, OnceItIsKnownItIsThePodThatGoes) {
    Short node({unknown(80_MiB)});
    node.look(1s);
    node.unknown_pods.clear();
    node.pods.push_back(pod({.name = "late", .working_set = 80_MiB, .cgroup = 7}));
    EXPECT_EQ(evicted(node.look(1050ms)), "uid-late");
    EXPECT_FALSE(node.state.awaiting_since);
}

TEST(Awaited, ASmallerAnEmptyAndAnOldOneAreNot) {
    EXPECT_EQ(evicted(Short({unknown(8_MiB)}).look(1s)), "uid-small");
    EXPECT_EQ(evicted(Short({unknown(80_MiB, 0s, false)}).look(1s)), "uid-small");
    EXPECT_EQ(evicted(Short({unknown(80_MiB)}).look(10s)), "uid-small");
    EXPECT_EQ(evicted(Short({}).look(1s)), "uid-small");
}

// The kubelet would take a BestEffort pod before one that is within its request, however little that pod holds. If all
// of them do not end the pressure, the other goes anyway.
TEST(Awaited, SeveralSmallOnesThatCouldEndThePressureAreWaitedFor) {
    Short node({unknown(6_MiB, 0s, true, "first"), unknown(5_MiB, 1s, true, "second")});
    const Decision decision = node.look(2s);
    EXPECT_EQ(evicted(decision), "");
    ASSERT_TRUE(decision.awaited);
    EXPECT_EQ(decision.awaited->count, 2U);
    EXPECT_EQ(decision.awaited->together, 11_MiB);
    EXPECT_EQ(decision.awaited->largest.pod, PodUid{"first"});
    EXPECT_EQ(decision.awaited->until, at(11s)) << "until the younger one is old";
    EXPECT_THAT(decision.why, HasSubstr("2 pods whose manifests are not known yet (11Mi, the largest: UID first) may"));
    EXPECT_EQ(evicted(Short({unknown(5_MiB), unknown(4_MiB)}).look(1s)), "uid-small");
}

TEST(Awaited, APodBeyondItsRequestWaitsOnlyForThoseThatHoldMoreThanThat) {
    Short node({unknown(20_MiB), unknown(20_MiB)});
    node.pods.push_back(pod({.name = "big", .working_set = 40_MiB, .request = 10_MiB, .cgroup = 3}));
    EXPECT_EQ(evicted(node.look(1s)), "uid-big");
    node.unknown_pods = {unknown(31_MiB)};
    node.state = {};
    EXPECT_EQ(evicted(node.look(2s)), "");
}

TEST(Awaited, WhereQosCountsFirstABestEffortPodComesBeforeAnyOther) {
    Short node({unknown(20_MiB)});
    node.pods.push_back(pod({.name = "big", .working_set = 40_MiB, .request = 10_MiB, .cgroup = 3}));
    EXPECT_EQ(evicted(node.look(1s)), "uid-big");
    node.state = {};
    node.config.ranking = RankingOrder::qos;
    EXPECT_EQ(evicted(node.look(2s)), "");
}

TEST(Awaited, ThatEvictionsWaitIsFreshOnce) {
    Short node({unknown(80_MiB)});
    EXPECT_TRUE(node.look(1s).awaited->fresh);
    EXPECT_FALSE(node.look(1050ms).awaited->fresh);
}

TEST(Awaited, TheEndOfTheWaitIsALook) {
    Short node({unknown(80_MiB)});
    EXPECT_EQ(node.look(9990ms).look_again_at, at(10s));
    EXPECT_EQ(evicted(node.look(10s)), "uid-small");
}

TEST(Awaited, UnknownPodsThatFollowEachOtherDoNotHoldUpEvictionsForLonger) {
    Short node({unknown(80_MiB, 0s)});
    EXPECT_EQ(evicted(node.look(1s)), "");
    for (int i = 2; i < 11; ++i) {
        node.unknown_pods = {unknown(80_MiB, std::chrono::seconds(i))};
        const Decision decision = node.look(std::chrono::seconds(i));
        EXPECT_EQ(evicted(decision), "") << i;
        EXPECT_EQ(decision.awaited->until, at(11s)) << i;
    }
    EXPECT_EQ(evicted(node.look(11s)), "uid-small") << "as fast as the kubelet";
}

TEST(Awaited, TheNextPressureMayWaitAgain) {
    Short node({unknown(80_MiB)});
    node.look(1s);
    node.set(200_MiB).look(2s);
    node.unknown_pods = {unknown(80_MiB, 21s)};
    EXPECT_EQ(node.set(90_MiB).look(22s).awaited->until, at(31s));
}

// Else a hog that flaps around the threshold is never evicted while there are always new pods.
TEST(Awaited, PressureThatComesAndGoesBeginsNoNewWait) {
    Short node({unknown(80_MiB, 0s)});
    EXPECT_TRUE(node.look(1s).awaited->fresh);
    for (int i = 2; i < 11; ++i) {
        node.set(200_MiB).look(std::chrono::seconds(i) - 500ms);
        node.unknown_pods = {unknown(80_MiB, std::chrono::seconds(i))};
        const Decision decision = node.set(90_MiB).look(std::chrono::seconds(i));
        EXPECT_EQ(evicted(decision), "") << i;
        EXPECT_FALSE(decision.awaited->fresh) << i;
    }
    EXPECT_EQ(evicted(node.look(11s)), "uid-small");
}

// A pod that could not be opened for want of descriptors may be the one that takes the memory.
TEST(Awaited, UntilAllPodsAreListedNoneIsEvictedForMemory) {
    Short node({});
    node.pods_unlisted = true;
    const Decision decision = node.look(1s);
    EXPECT_EQ(evicted(decision), "");
    EXPECT_EQ(decision.look_again_at, at(1100ms));
    EXPECT_THAT(decision.why, HasSubstr("not all pods' cgroups could be opened"));
    EXPECT_EQ(evicted(node.look(10900ms)), "");
    EXPECT_EQ(evicted(node.look(11s)), "uid-small") << "as fast as the kubelet";

    Short listed({});
    listed.pods_unlisted = true;
    listed.look(1s);
    listed.pods_unlisted = false;
    EXPECT_EQ(evicted(listed.look(1200ms)), "uid-small");
}

TEST(Awaited, AStallOnMemoryWaitsTooAndADiskDoesNot) {
    Short node({unknown(80_MiB)});
    node.set(200_MiB);
    node.config.stalls = {{}};
    Observation observation = node.observe(1s);
    observation.stalls = {{.resource = StallResource::memory, .some = StallTimes{100ms, 1s, 10s}, .full = {}}};
    const Verdict verdict = decide(node.config, observation, node.state);
    EXPECT_EQ(evicted(verdict.decision), "");
    EXPECT_TRUE(verdict.decision.awaited);
    EXPECT_THAT(verdict.decision.why, HasSubstr("not known yet"));

    Short disk({unknown(80_MiB)}, hard(100_MiB, {}, Signal::nodefs_available));
    disk.set(200_MiB).set(90_MiB, Signal::nodefs_available);
    disk.look(1s);
    Observation reclaimed = disk.observe(2s);
    reclaimed.reclaimed.emplace();
    EXPECT_NE(evicted(decide(disk.config, reclaimed, disk.state).decision), "");
}

TEST(UsageUnknown, NoEvictionIsBegunForMemory) {
    for (const auto& threshold : {hard(100_MiB), soft(100_MiB, 0s), hard(100_MiB, {}, Signal::pid_available)}) {
        Short node({}, threshold);
        node.usage_unknown = true;
        for (auto& one : node.pods) one.usage.reset();
        node.set(90_MiB, threshold.signal);
        const Decision decision = node.look(1s);
        EXPECT_EQ(evicted(decision), "");
        EXPECT_THAT(decision.actions, IsEmpty());
        EXPECT_EQ(decision.look_again_at, at(1100ms));
        EXPECT_THAT(decision.why, HasSubstr("the pods' usage could not be read: no pod is chosen; "));
        node.usage_unknown = false;
        node.pods[1].usage = PodUsage{9_MiB, 9_MiB, 9_MiB, 0_B, 1};
        EXPECT_NE(evicted(node.look(1100ms)), "") << "one pod's alone is the kubelet's case";
    }
}

TEST(UsageUnknown, AVictimIsFollowedAsBefore) {
    Short node({});
    node.carry_out(node.look(1s), OutcomeStatus::failed, 1s, "Operation not permitted");
    node.usage_unknown = true;
    const auto look = [&](MonotonicTime now) {
        Observation observation = node.observe(now - boot);
        observation.victims = {{.pod = {"uid-small"}, .cgroup = {1}, .populated = true, .held = {}}};
        Verdict verdict = decide(node.config, observation, node.state);
        node.state = std::move(verdict.state);
        node.outcomes.clear();
        return std::move(verdict.decision);
    };
    look(at(1010ms));
    ASSERT_EQ(node.state.in_flight.size(), 1U);
    const Decision decision = look(node.state.in_flight[0].retry_at);
    ASSERT_EQ(decision.actions.size(), 1U);
    EXPECT_EQ(decision.actions[0].pod, PodUid{"uid-small"});
}

}  // namespace
}  // namespace evictd::policy::testing
