// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Container GC: one rule of containerGC a test. Times count back from now.
#include "container_gc.hpp"

#include <map>

#include <gtest/gtest.h>

namespace evictd::policy {
namespace {

using namespace std::chrono_literals;
using Ids = std::vector<std::string>;

constexpr WallTime now{std::chrono::hours(1000)};

struct Node {
    Runtime runtime{};
    std::map<std::string, PodFate> fates{};

    Node& container(std::string id, std::string pod, std::string name, Duration ago,
                    ContainerState state = ContainerState::exited, std::string sandbox = "") {
        runtime.containers.push_back(
            {std::move(id), std::move(pod), std::move(name), std::move(sandbox), state, now - ago});
        return *this;
    }
    Node& sandbox(std::string id, std::string pod, Duration ago, bool ready = false) {
        runtime.sandboxes.push_back({std::move(id), std::move(pod), ready, now - ago});
        return *this;
    }
    Node& fate(const std::string& pod, PodFate fate) {
        fates[pod] = fate;
        return *this;
    }
    [[nodiscard]] ContainerGcResult collect(const ContainerGcPolicy& policy) const {
        return collect_containers(
            policy, runtime,
            [this](const std::string& uid) {
                const auto known = fates.find(uid);
                return known == fates.end() ? PodFate::known : known->second;
            },
            now);
    }
};

ContainerGcPolicy policy(int per_pod, int all = -1, Duration min_age = 0s, bool evict_non_deleted = false) {
    return {min_age, per_pod, all, evict_non_deleted};
}

TEST(ContainerGc, OnlyRunningContainersAreOutOfReach) {
    Node node;
    node.container("running", "p", "a", 4h, ContainerState::running)
        .container("created", "p", "a", 3h, ContainerState::created)
        .container("unknown", "p", "a", 2h, ContainerState::unknown)
        .container("exited", "p", "a", 1h);
    EXPECT_EQ(node.collect(policy(0)).containers, (Ids{"created", "unknown", "exited"}));
}

TEST(ContainerGc, WhatIsYoungerThanTheMinimumAgeDoesNotCount) {
    Node node;
    node.container("old", "p", "a", 61s).container("just", "p", "a", 60s).container("young", "p", "a", 60s - 1ns);
    EXPECT_EQ(node.collect(policy(0, -1, 60s)).containers, (Ids{"old", "just"}));
    EXPECT_EQ(node.collect(policy(1, -1, 60s)).containers, (Ids{"old"}));
}

TEST(ContainerGc, AContainerFromTheFutureIsTooYoung) {
    Node node;
    node.container("later", "p", "a", -1h);
    EXPECT_TRUE(node.collect(policy(0)).containers.empty());
}

TEST(ContainerGc, TheNewestOfEachNameInAPodStay) {
    Node node;
    node.container("a2", "p", "a", 2h)
        .container("b1", "p", "b", 9h)
        .container("a1", "p", "a", 3h)
        .container("a3", "p", "a", 1h)
        .container("q1", "q", "a", 8h)
        .container("b2", "p", "b", 4h);
    EXPECT_EQ(node.collect(policy(1)).containers, (Ids{"a1", "a2", "b1"}));
    EXPECT_EQ(node.collect(policy(2)).containers, (Ids{"a1"}));
    EXPECT_TRUE(node.collect(policy(-1)).containers.empty());
}

TEST(ContainerGc, OfEquallyOldOnesTheFirstOfTheListGoes) {
    Node node;
    node.container("x", "p", "a", 1h).container("y", "p", "a", 1h).container("z", "p", "a", 1h);
    EXPECT_EQ(node.collect(policy(1)).containers, (Ids{"x", "y"}));
    EXPECT_EQ(node.collect(policy(-1, 1)).containers, (Ids{"x", "y"}));
    Node units;
    units.container("p1", "p", "a", 1h).container("q", "q", "a", 1h).container("p2", "p", "a", 1h);
    EXPECT_EQ(units.collect(policy(-1, 1)).containers, (Ids{"p1", "q"}));
}

TEST(ContainerGc, OfADeletedPodAllGo) {
    Node node;
    node.container("new", "gone", "a", 1h).container("kept", "here", "a", 2h).container("old", "gone", "a", 3h);
    node.fate("gone", PodFate::deleted);
    EXPECT_EQ(node.collect(policy(-1)).containers, (Ids{"old", "new"}));
}

TEST(ContainerGc, OfATerminatedPodAllGoOnlyWhereNonDeletedPodsAreEvictedToo) {
    Node node;
    node.container("c", "ended", "a", 1h).fate("ended", PodFate::terminated);
    EXPECT_TRUE(node.collect(policy(1)).containers.empty());
    EXPECT_EQ(node.collect(policy(1, -1, 0s, true)).containers, (Ids{"c"}));
}

TEST(ContainerGc, WhatWasRemovedWithItsPodDoesNotCountForTheMaximum) {
    Node node;
    node.container("gone", "gone", "a", 1h).container("x", "p", "a", 3h).container("y", "q", "a", 2h);
    node.fate("gone", PodFate::deleted);
    EXPECT_EQ(node.collect(policy(-1, 2)).containers, (Ids{"gone"}));
}

TEST(ContainerGc, TheMaximumIsSharedEquallyAmongUnits) {
    Node node;
    for (int i = 0; i < 4; ++i) node.container("p" + std::to_string(i), "p", "a", 9h - i * 1min);
    for (int i = 0; i < 2; ++i) node.container("q" + std::to_string(i), "q", "a", 20h - i * 1min);
    // 4 / 2 units = 2 each: q keeps both although its are the oldest.
    EXPECT_EQ(node.collect(policy(-1, 4)).containers, (Ids{"p0", "p1"}));
    // 5 / 2 units = 2 each: more than was needed, as in the kubelet.
    EXPECT_EQ(node.collect(policy(-1, 5)).containers, (Ids{"p0", "p1"}));
    EXPECT_TRUE(node.collect(policy(-1, 6)).containers.empty());
}

TEST(ContainerGc, EachUnitKeepsOneUntilTheOldestOfAllHaveToGo) {
    Node node;
    node.container("p1", "p", "a", 5h)
        .container("p2", "p", "a", 1h)
        .container("q1", "q", "a", 9h)
        .container("r1", "r", "a", 3h);
    // First down to one each (p1), then the oldest over all units.
    EXPECT_EQ(node.collect(policy(-1, 1)).containers, (Ids{"p1", "q1", "r1"}));
    EXPECT_EQ(node.collect(policy(-1, 2)).containers, (Ids{"p1", "q1"}));
    EXPECT_EQ(node.collect(policy(-1, 0)).containers, (Ids{"p1", "q1", "r1", "p2"}));
}

TEST(ContainerGc, ASandboxGoesUnlessItIsReadyOrHasAContainerLeft) {
    Node node;
    node.sandbox("ready", "gone", 9h, true).sandbox("used", "gone", 8h).sandbox("empty", "gone", 7h);
    node.container("c", "gone", "a", 1h, ContainerState::running, "used").fate("gone", PodFate::deleted);
    EXPECT_EQ(node.collect(policy(1)).sandboxes, (Ids{"empty"}));
}

TEST(ContainerGc, ASandboxIsSeenAfterItsContainersWereRemoved) {
    Node node;
    node.sandbox("s", "gone", 1h).container("c", "gone", "a", 1h, ContainerState::exited, "s");
    node.fate("gone", PodFate::deleted);
    const auto result = node.collect(policy(1));
    EXPECT_EQ(result.containers, (Ids{"c"}));
    EXPECT_EQ(result.sandboxes, (Ids{"s"}));
    EXPECT_TRUE(node.collect(policy(1, -1, 2h)).sandboxes.empty());  // too young to be removed, so still there
}

TEST(ContainerGc, OfAKnownPodTheNewestSandboxStays) {
    Node node;
    node.sandbox("s2", "p", 2h).sandbox("s1", "p", 3h).sandbox("t", "q", 5h).sandbox("s3", "p", 1h);
    EXPECT_EQ(node.collect(policy(1)).sandboxes, (Ids{"s1", "s2"}));
}

TEST(ContainerGc, TheNewestSandboxCountsEvenWhenItIsAtWork) {
    Node node;
    node.sandbox("old", "p", 2h).sandbox("new", "p", 1h, true);
    EXPECT_EQ(node.collect(policy(1)).sandboxes, (Ids{"old"}));
    Node other;
    other.sandbox("old", "p", 2h, true).sandbox("new", "p", 1h);
    EXPECT_TRUE(other.collect(policy(1)).sandboxes.empty());
}

TEST(ContainerGc, OfATerminatedPodEverySandboxGoesOnlyWhereNonDeletedPodsAreEvictedToo) {
    Node node;
    node.sandbox("new", "ended", 1h).sandbox("old", "ended", 2h).fate("ended", PodFate::terminated);
    EXPECT_EQ(node.collect(policy(1)).sandboxes, (Ids{"old"}));
    EXPECT_EQ(node.collect(policy(1, -1, 0s, true)).sandboxes, (Ids{"old", "new"}));
}

TEST(ContainerGc, SandboxesGoPodByPodInOrderOfFirstAppearance) {
    Node node;
    node.sandbox("b1", "b", 1h).sandbox("a1", "a", 9h).sandbox("b0", "b", 5h).sandbox("a0", "a", 7h);
    node.fate("a", PodFate::deleted).fate("b", PodFate::deleted);
    EXPECT_EQ(node.collect(policy(1)).sandboxes, (Ids{"b0", "b1", "a1", "a0"}));
}

TEST(ContainerGc, NothingThereNothingRemoved) {
    const auto result = Node{}.collect(policy(0, 0, 0s, true));
    EXPECT_TRUE(result.containers.empty());
    EXPECT_TRUE(result.sandboxes.empty());
}

TEST(ContainerGc, TimesCenturiesApartDoNotOverflow) {
    Node node;
    node.runtime.containers.push_back({"first", "p", "a", "", ContainerState::exited, WallTime::min()});
    node.runtime.containers.push_back({"last", "p", "a", "", ContainerState::exited, WallTime::max()});
    EXPECT_EQ(node.collect(policy(0, -1, Duration::max())).containers, (Ids{"first"}));
}

}  // namespace
}  // namespace evictd::policy
