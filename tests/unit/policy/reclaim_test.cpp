// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a node gives back before it evicts, layout by layout, and what the second look makes of it.
#include "reclaim.hpp"

#include <gmock/gmock.h>

#include "unit/policy/node.hpp"

namespace evictd::policy::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string words(Signal signal, FsLayout layout) {
    std::string said;
    for (const NodeReclaim one : reclaim_for(signal, layout)) said += std::string(name(one)) + " ";
    return said;
}

struct ReclaimRow {
    std::vector<Signal> signals;
    const char* single;
    const char* dedicated;
    const char* split;
};

TEST(BuildSignalToNodeReclaimFuncs, FollowsTheLayout) {
    constexpr auto both = "containers images ";
    const std::vector<ReclaimRow> rows{
        {{Signal::nodefs_available, Signal::nodefs_inodes_free, Signal::allocatable_nodefs_available},
         both,
         "",
         "containers "},
        {{Signal::imagefs_available, Signal::imagefs_inodes_free}, both, both, "images "},
        {{Signal::containerfs_available, Signal::containerfs_inodes_free}, both, both, "containers "},
        {{Signal::memory_available, Signal::allocatable_memory_available, Signal::pid_available}, "", "", ""},
    };
    for (const auto& row : rows) {
        for (const Signal signal : row.signals) {
            EXPECT_EQ(words(signal, FsLayout::single), row.single) << name(signal);
            EXPECT_EQ(words(signal, FsLayout::unknown), row.single) << name(signal);
            EXPECT_EQ(words(signal, FsLayout::dedicated_image_fs), row.dedicated) << name(signal);
            EXPECT_EQ(words(signal, FsLayout::split), row.split) << name(signal);
        }
    }
}

Threshold disk(Bytes value, std::optional<Bytes> min_reclaim = std::nullopt) {
    return hard(value, min_reclaim, Signal::nodefs_available);
}

struct DiskNode : Node {
    explicit DiskNode(std::vector<Threshold> thresholds) : Node{.config = {std::move(thresholds)}} {
        pods = {pod({.name = "web"})};
        pods[0].usage->disk.rootfs = 5_GiB;
    }
    RuntimePtr runtime{};
    Decision disk_look(Duration since, Bytes available, bool reclaimed = false) {
        set(available, Signal::nodefs_available, 100_GiB);
        Observation observation = observe(since);
        observation.fs_layout = FsLayout::single;
        observation.runtime = runtime;
        if (reclaimed) observation.reclaimed.emplace();
        Verdict verdict = decide(config, observation, state);
        state = std::move(verdict.state);
        outcomes.clear();
        return std::move(verdict.decision);
    }
};

TEST(ReclaimNodeLevelResources, ComesBeforeAnyEviction) {
    DiskNode node({disk(10_GiB)});
    const Decision first = node.disk_look(0s, 9_GiB);
    EXPECT_THAT(first.reclaim, ElementsAre(NodeReclaim::containers, NodeReclaim::images));
    EXPECT_EQ(evicted(first), "");
    EXPECT_THAT(first.why, HasSubstr("unused containers and images are removed before any pod is evicted"));
    const Decision second = node.disk_look(0s, 9_GiB, true);
    EXPECT_THAT(second.reclaim, IsEmpty());
    EXPECT_EQ(evicted(second), "uid-web");
    EXPECT_EQ(second.thresholds_met.size(), 1U);
    EXPECT_THAT(second.conditions, ElementsAre(Condition::disk_pressure));
}

TEST(ReclaimNodeLevelResources, SparesThePodsWhenItWasEnough) {
    DiskNode node({disk(10_GiB)});
    (void)node.disk_look(0s, 9_GiB);
    const Decision second = node.disk_look(0s, 10_GiB, true);
    EXPECT_EQ(evicted(second), "");
    EXPECT_THAT(second.why, HasSubstr("was enough"));
    EXPECT_THAT(second.conditions, ElementsAre(Condition::disk_pressure));  // until the transition period is over
}

TEST(ReclaimNodeLevelResources, HasToReachTheMinimumReclaimOfEveryThresholdWhateverItsGracePeriod) {
    DiskNode node({disk(10_GiB, 5_GiB)});
    (void)node.disk_look(0s, 9_GiB);
    EXPECT_EQ(evicted(node.disk_look(0s, 14_GiB, true)), "uid-web");
    DiskNode other({disk(10_GiB), soft(1_GiB, 1h)});
    other.set(1_MiB);
    EXPECT_THAT(other.disk_look(0s, 9_GiB).reclaim.size(), 2U);
    EXPECT_EQ(evicted(other.disk_look(0s, 99_GiB, true)), "uid-web");
}

TEST(ReclaimNodeLevelResources, TheMessageHasTheThresholdThatWasMetBefore) {
    DiskNode node({disk(10_GiB, 50_GiB)});
    (void)node.disk_look(0s, 9_GiB);
    const Decision second = node.disk_look(0s, 30_GiB, true);
    ASSERT_TRUE(second.evict);
    EXPECT_THAT(second.evict->message, HasSubstr("Threshold quantity: 10Gi, available: 9Gi. "));
}

TEST(ReclaimNodeLevelResources, IsAskedForOnceWhileItRuns) {
    DiskNode node({disk(10_GiB)});
    Runtime runtime;
    runtime.images.emplace_back().id = "unused";
    runtime.images.back().first_detected = WallTime(-24h);
    runtime.whole = {.images = true, .sandboxes = true, .containers = true, .logs = true};
    runtime.at = boot;
    node.runtime = std::make_shared<const Runtime>(runtime);
    EXPECT_THAT(node.disk_look(0s, 9_GiB).reclaim.size(), 2U);
    const Decision meanwhile = node.disk_look(1s, 9_GiB);
    EXPECT_THAT(meanwhile.reclaim, IsEmpty());
    EXPECT_EQ(evicted(meanwhile), "");
}

TEST(ReclaimNodeLevelResources, HoldsUpNoMemoryEviction) {
    DiskNode node({disk(10_GiB), hard(1_GiB)});
    node.set(2_GiB);
    EXPECT_THAT(node.disk_look(0s, 9_GiB).reclaim.size(), 2U);
    node.set(1_MiB);
    EXPECT_EQ(evicted(node.disk_look(1s, 9_GiB)), "uid-web");
}

}  // namespace
}  // namespace evictd::policy::testing
