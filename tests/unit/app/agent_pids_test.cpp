// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A threshold on PIDs, over fakes: what is counted, how often, and what a crossing does.
#include <utility>

#include <gmock/gmock.h>

#include "agent_fixture.hpp"

namespace evictd::app {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

struct AgentPids : Agents {
    void begin() {
        eviction.thresholds.push_back(
            {.signal = Signal::pid_available, .value = {Quantity::of(1'000)}, .min_reclaim = {}});
        declare(100_MiB);
        tree.line(hog_id).processes = 400;
        make();
    }
    void run(std::int64_t tasks) {
        pids.reading.running = tasks;
        clock.advance(1ms);
    }
    [[nodiscard]] const std::optional<Reading>& reading() const {
        return last().observation.readings[static_cast<std::size_t>(Signal::pid_available)];
    }
};

TEST_F(AgentPids, WithoutAThresholdTasksAreNotCounted) {
    declare(100_MiB);
    make();
    EXPECT_FALSE(reading());
    EXPECT_EQ(pids.reads, 0);
    EXPECT_EQ(last().decision.pid_pace, Duration::zero());
}

TEST_F(AgentPids, WhatIsAvailableIsTheLimitWithoutWhatRuns) {
    begin();
    ASSERT_TRUE(reading());
    EXPECT_EQ(reading()->available.value, 32'268);
    EXPECT_EQ(reading()->capacity.value, 32'768);
    EXPECT_EQ(last().decision.pid_pace, 50ms) << "31,268 tasks are 312 ms away";
}

TEST_F(AgentPids, ACrossingBetweenLooksEvictsThePodOfTheMostProcesses) {
    begin();
    run(31'769);
    agent->count_pids();
    ASSERT_TRUE(last().decision.evict);
    EXPECT_EQ(last().decision.evict->pod, PodUid{"hog"});
    EXPECT_THAT(last().decision.evict->message, HasSubstr("The node was low on resource: pids."));
    EXPECT_EQ(tree.handle(hog_id)->kills, 1);
}

TEST_F(AgentPids, WithoutACrossingNobodyLooks) {
    begin();
    const auto looks = records.size();
    run(31'768);
    agent->count_pids();
    EXPECT_EQ(records.size(), looks);
}

TEST_F(AgentPids, WhatCannotBeCountedIsNotShort) {
    begin();
    pids.broken = true;
    run(32'000);
    clock.advance(1s);
    agent->request_look();
    agent->count_pids();
    EXPECT_EQ(std::get<AgentNotice>(*records.back()).error, "/proc/loadavg: broken");
    EXPECT_EQ(tree.handle(hog_id)->kills, 0);
    pids.broken = false;
    agent->count_pids();
    EXPECT_TRUE(last().decision.evict);
}

struct AfterAVictim : AgentPids {
    void SetUp() override {
        begin();
        run(31'769);
        agent->count_pids();
        ASSERT_TRUE(last().decision.evict);
        declare(0_B);
        tree.line(hog_id).processes = 0;
    }
    void is_emptied_with(std::int64_t tasks) {
        tree.handle(hog_id)->counted_tasks = tasks;
        clock.advance(1ms);
        events.tell(CgroupLife{CgroupChange::emptied, {hog_id}, "/kubepods/podhog"}, clock.monotonic());
        turn();
    }
    // The threshold is cleared and met again, and the tasks that are left can no longer be counted.
    void is_met_again_uncounted(Error error) {
        is_emptied_with(400);
        run(31'700);
        tree.handle(hog_id)->counted_tasks = tl::unexpected(std::move(error));
        agent->count_pids();
        ASSERT_TRUE(last().decision.thresholds_met.empty());
        run(31'770);
        agent->count_pids();
    }
};

// Tasks that ended count until something has waited for them.
TEST_F(AfterAVictim, TheNextGoesWhenNothingOfTheVictimIsLeft) {
    is_emptied_with(400);
    EXPECT_FALSE(last().decision.evict);
    EXPECT_THAT(last().decision.why, HasSubstr("400 tasks of the last evicted pod have ended and still count"));
    clock.advance(2s);
    agent->request_look();
    EXPECT_FALSE(last().decision.evict) << "not after a second either";
    tree.handle(hog_id)->counted_tasks = 0;
    clock.advance(100ms);
    agent->request_look();
    ASSERT_TRUE(last().decision.evict) << last().decision.why;
    EXPECT_EQ(last().decision.evict->pod, PodUid{"quiet"});
}

// Some of its tasks are waited for, and somebody forks: the rest still explain the shortage.
TEST_F(AfterAVictim, NoOtherGoesWhereTheThresholdWasClearForAMoment) {
    is_emptied_with(400);
    run(31'700);
    agent->count_pids();
    ASSERT_TRUE(last().decision.thresholds_met.empty());
    tree.handle(hog_id)->counted_tasks = 331;
    run(31'770);
    agent->count_pids();
    EXPECT_FALSE(last().decision.thresholds_met.empty());
    EXPECT_FALSE(last().decision.evict) << last().decision.why;
}

TEST_F(AfterAVictim, ASecondBombGoesWhileTheFirstOnesTasksAreLeft) {
    is_emptied_with(2'000);
    const auto look_at = [&](std::int64_t tasks) {
        run(tasks);
        clock.advance(100ms);
        agent->request_look();
        EXPECT_EQ(reading()->available.value, 32'768 - tasks);
    };
    look_at(31'769 + 250);
    EXPECT_FALSE(last().decision.evict) << last().decision.why;
    look_at(31'769 + 251);
    ASSERT_TRUE(last().decision.evict) << last().decision.why;
    EXPECT_EQ(last().decision.evict->pod, PodUid{"quiet"});
}

TEST_F(AfterAVictim, NoOtherGoesWhereItIsEmptyWhileTheThresholdIsClear) {
    tree.line(hog_id).processes = 1;
    run(31'700);
    agent->count_pids();
    tree.line(hog_id).processes = 0;
    is_emptied_with(331);
    clock.advance(2s);
    run(31'770);
    agent->count_pids();
    EXPECT_FALSE(last().decision.evict) << last().decision.why;
}

// Without a free descriptor they cannot be counted for a moment: what was counted last still holds.
TEST_F(AfterAVictim, NoOtherGoesWhereItsTasksCouldNotBeCountedOnce) {
    ASSERT_NO_FATAL_FAILURE(
        is_met_again_uncounted(fail(ErrorKind::failed, "pids.current", "Too many open files").value()));
    EXPECT_FALSE(last().decision.thresholds_met.empty());
    EXPECT_FALSE(last().decision.evict) << last().decision.why;
}

TEST_F(AfterAVictim, WhereItsCgroupIsRemovedTheNextGoesAfterTheThresholdWasClear) {
    ASSERT_NO_FATAL_FAILURE(is_met_again_uncounted(fail(ErrorKind::vanished, "pids.current", "removed").value()));
    EXPECT_TRUE(last().decision.evict) << last().decision.why;
}

// Tasks that are waited for between the two counts are in the first of them.
TEST_F(AfterAVictim, ItsTasksAreCountedBeforeThoseOfTheNode) {
    is_emptied_with(400);
    const auto reap = [&] { pids.reading.running -= std::exchange(tree.handle(hog_id)->counted_tasks, 0).value(); };
    tree.handle(hog_id)->after_tasks = reap;
    pids.after_read = reap;
    clock.advance(100ms);
    agent->request_look();
    EXPECT_FALSE(last().decision.evict) << last().decision.why;
}

}  // namespace
}  // namespace evictd::app
