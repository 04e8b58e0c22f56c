// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// That only what is left of pods goes that every source, without a gap and for the whole quarantine, did not know.
#include "orphans.hpp"

#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reclaim_node.hpp"

namespace evictd::policy::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

const std::string gone = "0a1b2c3d-0000-4000-8000-00000000000a";
const std::string logs_of_gone = "default_" + gone + "_" + gone;  // the inventory's sandboxes are named by the uid

struct OrphanNode : ReclaimNode {
    OrphanNode() {
        config.thresholds.clear();
        config.garbage.orphans = Orphans::remove;
        config.garbage.orphan_quarantine = 5min;
        pods_complete = true;
        inventory.runtime.images.clear();
        inventory.runtime.containers.clear();
        inventory.sandbox("s", gone, 1h);
        inventory.container("c", gone, "s", 1h);
        inventory.runtime.log_directories.push_back({logs_of_gone});
    }
    // With an inventory of that moment.
    Decision at_minute(int minute) {
        listed = minute * 1min;
        return disk(minute * 1min, 50_GiB);
    }
    // What goes once the quarantine is over.
    std::string goes_in_the_end() {
        std::string said;
        for (int minute = 0; minute <= 6; ++minute) said = named(at_minute(minute));
        return said;
    }
};

TEST(Orphans, GoAfterTheQuarantineInTheOrderOfWhatDependsOnThem) {
    OrphanNode node;
    for (int minute = 0; minute < 5; ++minute) EXPECT_EQ(named(node.at_minute(minute)), "") << minute;
    const Decision decision = node.at_minute(5);
    EXPECT_EQ(named(decision), "c, s, " + gone + ", " + logs_of_gone);
    EXPECT_FALSE(decision.garbage.forced);
    EXPECT_FALSE(decision.garbage.report_only);
    for (const Garbage& one : decision.garbage.removals) {
        EXPECT_EQ(one.orphan_of, "default/" + gone);
        EXPECT_EQ(one.pod.value, gone);
        EXPECT_THAT(one.why, HasSubstr("known to no source for 5m"));
    }
}

TEST(Orphans, AreOffByDefault) {
    OrphanNode node;
    node.config.garbage.orphans = GarbageConfig{}.orphans;
    EXPECT_EQ(node.goes_in_the_end(), "");
    EXPECT_TRUE(node.state.collecting.unknown.empty());
}

TEST(Orphans, AGapOfASourceBeginsTheQuarantineAnew) {
    OrphanNode node;
    for (int minute = 0; minute < 5; ++minute) (void)node.at_minute(minute);
    node.pods_complete = false;
    (void)node.disk(4min + 30s, 50_GiB);
    node.pods_complete = true;
    for (int minute = 5; minute < 10; ++minute) EXPECT_EQ(named(node.at_minute(minute)), "") << minute;
    EXPECT_NE(named(node.at_minute(10)), "");
}

TEST(Orphans, AGapWhileTheyGoEndsThePass) {
    OrphanNode node;
    ASSERT_NE(node.goes_in_the_end(), "");
    node.pods_complete = false;
    EXPECT_EQ(named(node.disk(6min + 1s, 50_GiB)), "");
}

TEST(Orphans, APodThatIsKnownAgainEndsThePass) {
    OrphanNode node;
    ASSERT_NE(node.goes_in_the_end(), "");
    node.pods.push_back(pod({.name = "late"}));
    Pod late = *node.pods.back().pod;
    late.uid = PodUid{gone};
    node.pods.back().pod = std::make_shared<const Pod>(late);
    EXPECT_EQ(named(node.disk(6min + 1s, 50_GiB)), "");
    EXPECT_TRUE(node.state.collecting.unknown.empty());
}

TEST(Orphans, WhatIsInDoubtStays) {
    struct Case {
        const char* what;
        std::function<void(OrphanNode&)> change;
    };
    const auto of = [](OrphanNode& node) -> Runtime& { return node.inventory.runtime; };
    const std::vector<Case> cases{
        {"a sandbox is ready", [&](auto& node) { of(node).sandboxes[0].ready = true; }},
        {"a container runs", [&](auto& node) { of(node).containers[0].state = ContainerState::running; }},
        {"a container may be started", [&](auto& node) { of(node).containers[0].state = ContainerState::created; }},
        {"a container of another pod is in its sandbox", [&](auto& node) { of(node).containers[0].pod = "other"; }},
        {"a static pod: the API server has none of that UID",
         [&](auto& node) { of(node).sandboxes[0].annotations["kubernetes.io/config.source"] = "file"; }},
        {"its UID is not the API server's",
         [&](auto& node) {
             of(node).sandboxes[0].pod = of(node).containers[0].pod = "0123456789abcdef0123456789abcdef";
             of(node).log_directories[0].name = "default_" + gone + "_0123456789abcdef0123456789abcdef";
         }},
        {"two names", [&](auto& node) { of(node).log_directories[0].name = "default_other_" + gone; }},
        {"a directory that is not named as the kubelet does",
         [&](auto& node) { of(node).log_directories[0].name = "a_b_c_" + gone; }},
        {"the list of sandboxes is not whole", [&](auto& node) { of(node).whole.sandboxes = false; }},
        {"the list of containers is not whole", [&](auto& node) { of(node).whole.containers = false; }},
        {"the list of logs is not whole", [&](auto& node) { of(node).whole.logs = false; }},
        {"it has processes",
         [&](auto& node) {
             node.unknown_pods.push_back({PodUid{gone}, CgroupId{7}, at(0s), 1_MiB, true});
         }},
    };
    for (const auto& one : cases) {
        OrphanNode node;
        one.change(node);
        EXPECT_EQ(node.goes_in_the_end(), "") << one.what;
    }
}

TEST(Orphans, ALogDirectoryAloneIsEnough) {
    OrphanNode node;
    node.inventory.runtime.sandboxes.clear();
    node.inventory.runtime.containers.clear();
    node.inventory.runtime.log_directories[0].name = "shop_web_" + gone;
    ASSERT_EQ(node.goes_in_the_end(), gone + ", shop_web_" + gone);
    EXPECT_EQ(node.state.collecting.routine.removals.begin()->orphan_of, "shop/web");
}

TEST(Orphans, VolumesOfEachPodGoAfterAllSandboxesAndBeforeAllLogs) {
    const std::string second = "0a1b2c3d-0000-4000-8000-00000000000b";
    OrphanNode node;
    node.inventory.sandbox("s2", second, 1h);
    EXPECT_EQ(node.goes_in_the_end(), "c, s, s2, " + gone + ", " + second + ", " + logs_of_gone);
    for (const Garbage& one : node.state.collecting.routine.removals) {
        if (one.kind != GarbageKind::volume_directory) continue;
        EXPECT_EQ(one.pod.value, one.id);
        EXPECT_EQ(one.name, one.orphan_of);
    }
}

TEST(Orphans, TheEmptyCgroupOfOneGoesAfterItsVolumesAndThatOfNoOther) {
    const std::string path = "/kubepods/burstable/pod" + gone;
    OrphanNode node;
    node.left_cgroups = {{PodUid{gone}, path}, {PodUid{"0a1b2c3d-0000-4000-8000-00000000000b"}, "/kubepods/podb"}};
    ASSERT_EQ(node.goes_in_the_end(), "c, s, " + gone + ", " + path + ", " + logs_of_gone)
        << "without a name nobody can be asked about the other";
    const Garbage& one = node.state.collecting.routine.removals.begin()[3];
    EXPECT_EQ(one.kind, GarbageKind::cgroup);
    EXPECT_EQ(one.pod.value, gone);
    EXPECT_EQ(one.name, "default/" + gone);
    EXPECT_EQ(one.orphan_of, "default/" + gone);
}

TEST(Orphans, ThatAreOnlyReportedAreNamedOnce) {
    OrphanNode node;
    node.config.garbage.orphans = Orphans::report;
    const Decision first = [&] {
        for (int minute = 0; minute < 5; ++minute) (void)node.at_minute(minute);
        return node.at_minute(5);
    }();
    EXPECT_TRUE(first.garbage.report_only);
    EXPECT_NE(named(first), "");
    ReclaimOutcome outcome = ReclaimNode::done(first);
    outcome.orphans.assign(first.garbage.removals.begin(), first.garbage.removals.end());
    (void)node.disk(5min + 1s, 50_GiB, outcome);
    for (int minute = 6; minute < 9; ++minute) EXPECT_EQ(named(node.at_minute(minute)), "") << minute;
}

TEST(Orphans, OneOfWhichTheApiServerCouldNotBeAskedIsReportedLater) {
    OrphanNode node;
    node.config.garbage.orphans = Orphans::report;
    for (int minute = 0; minute < 5; ++minute) (void)node.at_minute(minute);
    ReclaimOutcome outcome = ReclaimNode::done(node.at_minute(5));
    for (const auto kind : {GarbageKind::container, GarbageKind::volume_directory}) {
        outcome.removals.push_back({kind, gone, GarbageStatus::failed, "the API server answered 503"});
    }
    (void)node.disk(5min + 1s, 50_GiB, outcome);
    EXPECT_NE(named(node.at_minute(6)), "");
}

// Minutes at which something of the pod is tried, where each outcome has this status.
std::vector<int> tried_at(OrphanNode& node, GarbageStatus status, bool goes_on = false) {
    std::vector<int> tried;
    for (int minute = 0; minute < 60; ++minute) {
        const Decision decision = node.at_minute(minute);
        ReclaimOutcome outcome = ReclaimNode::done(decision);
        if (named(decision).find(gone) != std::string::npos) {
            tried.push_back(minute);
            outcome.removals = {{GarbageKind::volume_directory, gone, status, "no", goes_on}};
        }
        (void)node.disk(minute * 1min + 2s, 50_GiB, outcome);
    }
    return tried;
}

TEST(Orphans, OneWhoseVolumesCannotGoIsTriedAgainAfterGrowingIntervals) {
    for (const auto status : {GarbageStatus::failed, GarbageStatus::refused}) {
        OrphanNode node;
        EXPECT_THAT(tried_at(node, status), ::testing::ElementsAre(5, 6, 7, 8, 10, 13, 19, 30, 41, 52));
        EXPECT_LE(node.state.collecting.unknown.at(0).failures, 7);
    }
}

TEST(Orphans, OneWhoseVolumesAreLargeOrInUseIsTriedAtEachPass) {
    OrphanNode large;
    EXPECT_EQ(tried_at(large, GarbageStatus::failed, true).size(), 55U);
    OrphanNode used;
    EXPECT_EQ(tried_at(used, GarbageStatus::in_use).size(), 55U);
}

TEST(Orphans, AfterASuccessTheIntervalsBeginAnewAndSoTheyDoForAnotherPod) {
    OrphanNode node;
    const std::string second = "0a1b2c3d-0000-4000-8000-00000000000b";
    node.inventory.sandbox("s2", second, 1h);
    (void)tried_at(node, GarbageStatus::failed);
    EXPECT_EQ(node.state.collecting.unknown.at(1).failures, 0) << "it is not that one that fails";
    EXPECT_EQ(named(node.at_minute(60)).find(gone), std::string::npos);
    const Decision later = node.at_minute(63);
    ASSERT_NE(named(later).find(gone), std::string::npos);
    ReclaimOutcome outcome = ReclaimNode::done(later);
    outcome.removals = {{GarbageKind::volume_directory, gone, GarbageStatus::removed, {}}};
    (void)node.disk(63min + 2s, 50_GiB, outcome);
    EXPECT_EQ(node.state.collecting.unknown.at(0).failures, 0);
    EXPECT_NE(named(node.at_minute(64)).find(gone), std::string::npos);
}

TEST(Orphans, OneWhoseCgroupCannotGoWaitsToo) {
    OrphanNode node;
    node.left_cgroups = {{PodUid{gone}, "/kubepods/pod" + gone}};
    for (int minute = 0; minute < 5; ++minute) (void)node.at_minute(minute);
    ReclaimOutcome outcome = ReclaimNode::done(node.at_minute(5));
    outcome.removals = {{GarbageKind::cgroup, "/kubepods/pod" + gone, GarbageStatus::failed, "busy"}};
    (void)node.disk(5min + 2s, 50_GiB, outcome);
    EXPECT_EQ(node.state.collecting.unknown.at(0).failures, 1);
    EXPECT_EQ(node.state.collecting.unknown.at(0).again_at, at(5min + 12s));
}

TEST(Orphans, AReclaimTakesNone) {
    OrphanNode node;
    ASSERT_NE(node.goes_in_the_end(), "");
    node.config.thresholds = {hard(10_GiB, std::nullopt, Signal::nodefs_available)};
    node.listed = 7min;
    const Decision decision = node.disk(7min, 9_GiB);
    EXPECT_EQ(named(decision), "") << "their newest stay, as of any unknown pod";
}

}  // namespace
}  // namespace evictd::policy::testing
