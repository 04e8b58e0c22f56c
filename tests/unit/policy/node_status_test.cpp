// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Conditions and taints of evictd's own: which are shown, when they hold, and for how long.
#include "node_status.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/policy/stalling.hpp"

namespace evictd::policy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Taint memory_taint{"evictd.io/memory-pressure", "", "NoSchedule"};
const Taint stall_taint{"evictd.io/stall-pressure", "", "NoSchedule"};

std::vector<std::string> said(const Decision& decision) {
    std::vector<std::string> all;
    for (const auto& condition : decision.node_status->conditions) {
        all.push_back(condition.type + (condition.status ? "=True " : "=False ") + condition.reason);
    }
    return all;
}

struct NodeStatus : Stalling {
    NodeStatus() { node.pods.clear(); }
};

TEST_F(NodeStatus, IsFalseInTheKubeletsWordsAndWithoutATaint) {
    const auto decision = look(1s);
    ASSERT_TRUE(decision.node_status);
    EXPECT_THAT(said(decision), ElementsAre("evictd.io/MemoryPressure=False EvictdHasSufficientMemory"));
    EXPECT_EQ(decision.node_status->conditions.front().message, "evictd has sufficient memory available");
    EXPECT_THAT(decision.node_status->taints, IsEmpty());
}

TEST_F(NodeStatus, HoldsFromTheFirstLookBelowASoftThresholdUntilTheTransitionPeriodIsOver) {
    node.config.thresholds = {soft(100_MiB, 90s)};
    node.set(99_MiB);
    auto decision = look(1s);
    EXPECT_THAT(said(decision), ElementsAre("evictd.io/MemoryPressure=True EvictdHasInsufficientMemory"));
    EXPECT_EQ(decision.node_status->conditions.front().message, "evictd has insufficient memory available");
    EXPECT_THAT(decision.node_status->taints, ElementsAre(memory_taint));
    node.set(4_GiB);
    EXPECT_THAT(look(2s).node_status->taints, ElementsAre(memory_taint));
    EXPECT_THAT(look(5min).node_status->taints, ElementsAre(memory_taint));
    EXPECT_THAT(look(5min + 1s).node_status->taints, IsEmpty());
}

TEST_F(NodeStatus, WithoutTaintsHasTheSameConditions) {
    node.config.node_status = NodeStatusUse::conditions;
    node.set(1_MiB);
    const auto decision = look(1s);
    EXPECT_THAT(said(decision), ElementsAre("evictd.io/MemoryPressure=True EvictdHasInsufficientMemory"));
    EXPECT_THAT(decision.node_status->taints, IsEmpty());
}

TEST_F(NodeStatus, IsAbsentWhereItIsOff) {
    node.config.node_status = NodeStatusUse::off;
    node.set(1_MiB);
    EXPECT_EQ(look(1s).node_status, std::nullopt);
}

// A condition that says False although nothing was measured would be a lie.
TEST_F(NodeStatus, HasNoConditionOfWhatIsNotMeasured) {
    node.config.thresholds = {hard(100_MiB), hard(1_GiB, std::nullopt, Signal::nodefs_available),
                              hard(1000_B, std::nullopt, Signal::pid_available)};
    EXPECT_THAT(said(look(1s)), ElementsAre("evictd.io/MemoryPressure=False EvictdHasSufficientMemory"));
    node.set(10_GiB, Signal::nodefs_available, 100_GiB).set(20'000_B, Signal::pid_available, 32'768_B);
    EXPECT_THAT(said(look(2s)), ElementsAre("evictd.io/MemoryPressure=False EvictdHasSufficientMemory",
                                            "evictd.io/DiskPressure=False EvictdHasNoDiskPressure",
                                            "evictd.io/PIDPressure=False EvictdHasSufficientPID"));
    node.set(1_MiB, Signal::nodefs_available, 100_GiB).set(1_B, Signal::pid_available, 32'768_B);
    EXPECT_THAT(said(look(3s)), ElementsAre("evictd.io/MemoryPressure=False EvictdHasSufficientMemory",
                                            "evictd.io/DiskPressure=True EvictdHasDiskPressure",
                                            "evictd.io/PIDPressure=True EvictdHasInsufficientPID"));
}

TEST_F(NodeStatus, StaysTrueWhileItsSignalCannotBeRead) {
    node.set(1_MiB);
    (void)look(1s);
    node.forget(Signal::memory_available);
    EXPECT_THAT(look(2s).node_status->taints, ElementsAre(memory_taint));
    EXPECT_THAT(look(6min).node_status->conditions, IsEmpty()) << "unknown, and neither True nor False";
}

TEST_F(NodeStatus, HasAConditionOfStallsOfTheNode) {
    node.config.stalls = {{.resource = StallResource::io, .share = ten_percent}};
    EXPECT_THAT(said(look(1s)), ElementsAre("evictd.io/MemoryPressure=False EvictdHasSufficientMemory"));
    lose(5, StallResource::io);
    EXPECT_THAT(said(look(2s)), ElementsAre("evictd.io/MemoryPressure=False EvictdHasSufficientMemory",
                                            "evictd.io/StallPressure=False EvictdHasNoStallPressure"));
    lose(50, StallResource::io);
    auto decision = look(3s);
    EXPECT_THAT(said(decision), ElementsAre("evictd.io/MemoryPressure=False EvictdHasSufficientMemory",
                                            "evictd.io/StallPressure=True EvictdHasStallPressure"));
    EXPECT_THAT(decision.node_status->taints, ElementsAre(stall_taint));
    lose(0, StallResource::io);
    decision = look(4s);
    EXPECT_THAT(decision.node_status->taints, ElementsAre(stall_taint));
    EXPECT_EQ(decision.look_again_at, testing::at(3s + 5min)) << "its end is looked at without another cause";
    EXPECT_THAT(look(5min + 3s).node_status->taints, IsEmpty());
}

// A pod that thrashes at a limit of its own is no reason to keep other pods away from the node.
TEST_F(NodeStatus, IsNotAboutStallsOfASinglePod) {
    node.pods = {pod({.name = "thrasher", .cgroup = 2})};
    node.config.stalls = {{.scope = StallScope::pod, .share = ten_percent}};
    node.find("thrasher").stall = PodStall{.some = {50ms, 500ms, 5s}, .reclaimed = 1_MiB};
    const auto decision = look(1s);
    EXPECT_FALSE(decision.stalls_met.empty());
    EXPECT_THAT(said(decision), ElementsAre("evictd.io/MemoryPressure=False EvictdHasSufficientMemory"));
}

}  // namespace
}  // namespace evictd::policy
