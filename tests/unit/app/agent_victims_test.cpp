// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The agent asks the kernel about the cgroups of its victims until nothing is owed any more.
#include "codec/event.hpp"
#include "unit/app/agent_fixture.hpp"

namespace evictd::app {
namespace {

struct Victims : Agents {
    // The hog's processes are gone, and `left` is still charged to it.
    void empty_hog(Bytes left) {
        declare(left);
        tree.line(hog_id).processes = 0;
        tree.handle(hog_id)->is_populated = false;
        tree.handle(hog_id)->held = {
            .total = left, .anon = {}, .file = {}, .shmem = left, .slab = {}, .page_tables = {}, .kernel = {}};
        clock.advance(std::chrono::milliseconds(2));
        events.tell(CgroupLife{CgroupChange::emptied, {hog_id}, "/kubepods/podhog"}, clock.monotonic());
        turn();
    }
    void look_after(std::chrono::milliseconds time) {
        clock.advance(time);
        agent->request_look();
    }
};

TEST_F(Victims, MemoryThatDoesNotComeBackIsReportedWithItsKindAndNoOtherPodDiesForIt) {
    declare(100_MiB);
    make();
    declare(800_MiB);
    cross(124_MiB);
    empty_hog(790_MiB);
    EXPECT_EQ(last().decision.finished.size(), 1U);
    look_after(std::chrono::milliseconds(250));
    ASSERT_EQ(last().decision.owed.size(), 1U);
    EXPECT_TRUE(last().decision.owed[0].fresh);
    EXPECT_EQ(last().decision.owed[0].left, 790_MiB);
    const auto told = codec::events_of(*records.back());
    const auto event = std::find_if(told.begin(), told.end(),
                                    [](const auto& one) { return one.reason == codec::Reason::memory_not_returned; });
    ASSERT_NE(event, told.end());
    EXPECT_EQ(event->not_returned->kind, "shmem");
    EXPECT_EQ(event->not_returned->bytes, 790_MiB);
    EXPECT_EQ(event->pod->name, "hog");
    look_after(std::chrono::seconds(9));
    EXPECT_EQ(tree.handle(quiet_id)->kills, 0);
    look_after(std::chrono::seconds(1));
    EXPECT_EQ(tree.handle(quiet_id)->kills, 1);
}

TEST_F(Victims, AreFollowedWhenTheirPodIsNoLongerListed) {
    declare(100_MiB);
    make();
    declare(800_MiB);
    cross(124_MiB);
    set_pods({.pods = {}, .rejected = {}});
    EXPECT_TRUE(last().decision.finished.empty());
    EXPECT_EQ(last().decision.in_flight.size(), 1U);
    EXPECT_EQ(tree.handle(quiet_id)->kills, 0);
}

// /proc/meminfo is not asked where the pass has the node's memory, and per-CPU lists only where they could decide.
TEST_F(Agents, AfterAKillAnUrgentLookAsksTheNodesFilesOnlyNearItsThreshold) {
    declare(100_MiB);
    tree.node = node.reading;  // 3 GiB
    make();
    declare(800_MiB);
    cross(100_MiB);  // the hog is killed
    ASSERT_EQ(tree.handle(hog_id)->kills, 1);
    const auto asks_the_files = [&] {
        node.asked_for_cpu_lists = false;
        cross(100_MiB);
        return node.asked_for_cpu_lists;
    };
    EXPECT_FALSE(asks_the_files());
    eviction.thresholds.push_back(
        {.signal = Signal::memory_available, .value = {Quantity::of((1_GiB).value)}, .min_reclaim = {}});
    agent->set_config(eviction);
    EXPECT_FALSE(asks_the_files());
    eviction.thresholds.back().value = {Quantity::of((1_GiB + 513_MiB).value)};
    agent->set_config(eviction);
    EXPECT_TRUE(asks_the_files());
}

}  // namespace
}  // namespace evictd::app
