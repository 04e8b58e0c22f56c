// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// After a victim for PIDs its tasks count until something has waited for them.
#include "pid_evictions.hpp"

#include <gtest/gtest.h>

#include "node.hpp"

namespace evictd::policy {
namespace {

using namespace testing;
using namespace std::chrono_literals;

struct Bombed {
    explicit Bombed(std::optional<std::int64_t> tasks = 600) {
        InFlight flight;
        flight.victim.pod = {"bomb"};
        flight.cgroup = {7};
        flight.victim.emptied_at = at(100s);
        flight.victim.eviction.threshold.threshold.signal = Signal::pid_available;
        ObservedVictim seen{.pod = {"bomb"}, .cgroup = {7}, .populated = false, .held = {}};
        seen.tasks = tasks;
        begin_reaping(flight, seen, state);
    }
    [[nodiscard]] bool waits(Duration since, std::optional<std::int64_t> tasks, bool removed = false) {
        Observation observation;
        observation.at = at(since);
        ObservedVictim seen{.pod = {"bomb"}, .cgroup = {7}, .populated = false, .held = {}};
        seen.tasks = tasks;
        seen.removed = removed;
        observation.victims = {seen};
        Node node;
        node.set(Bytes{available}, Signal::pid_available, Bytes{32'768});
        observation.readings = node.readings;
        EvictionConfig config;
        config.thresholds.push_back(
            {.signal = Signal::pid_available, .value = {Quantity::of(1'000)}, .min_reclaim = {}});
        follow_reaping(config, observation, state);
        return !state.reaping.empty();
    }
    State state;
    std::int64_t available = 400;
};

TEST(Reaping, EndsWithTheLastTask) {
    Bombed node;
    EXPECT_TRUE(node.waits(100s, 600));
    EXPECT_TRUE(node.waits(109s, 1));
    EXPECT_FALSE(node.waits(109s, 0));
}

// A container that was started anew in the victim's cgroup forks: its tasks are not the victim's.
TEST(Reaping, WhatIsLeftNeverRises) {
    Bombed node;
    EXPECT_TRUE(node.waits(100s, 200));
    EXPECT_TRUE(node.waits(101s, 900));
    EXPECT_EQ(node.state.reaping.front().tasks, 200);
    EXPECT_TRUE(node.waits(102s, 100));
    EXPECT_EQ(node.state.reaping.front().tasks, 100);
    Bombed uncounted{std::nullopt};
    EXPECT_TRUE(uncounted.waits(100s, 300));
    EXPECT_EQ(uncounted.state.reaping.front().tasks, 300);
}

// The first that are waited for clear it, and the next fork meets it again.
TEST(Reaping, GoesOnWhereTheThresholdIsClearForAMoment) {
    Bombed node;
    node.available = 1'000;
    EXPECT_TRUE(node.waits(100s, 600));
    EXPECT_FALSE(node.waits(100s, 0));
}

TEST(Reaping, EndsOnceNoThresholdIsMetAndNobodyCanCount) {
    Bombed node;
    node.available = 999;
    EXPECT_TRUE(node.waits(100s, std::nullopt, true));
    node.available = 1'000;
    EXPECT_TRUE(node.waits(100s, std::nullopt)) << "a count that failed once";
    EXPECT_FALSE(node.waits(100s, std::nullopt, true));
}

TEST(Reaping, TasksAreFollowedOfVictimsForPidsOnly) {
    const ObservedVictim seen{.pod = {"bomb"}, .cgroup = {7}, .populated = false, .held = {}};
    const ObservedVictim started_anew{.pod = {"bomb"}, .cgroup = {8}, .populated = false, .held = {}};
    const Bombed node;
    EXPECT_TRUE(are_tasks_followed(seen, node.state));
    EXPECT_FALSE(are_tasks_followed(started_anew, node.state));
    State state;
    InFlight& flight = state.in_flight.emplace_back();
    flight.victim.pod = {"bomb"};
    flight.cgroup = {7};
    flight.victim.eviction.threshold.threshold.signal = Signal::memory_available;
    EXPECT_FALSE(are_tasks_followed(seen, state));
    flight.victim.eviction.threshold.threshold.signal = Signal::pid_available;
    EXPECT_TRUE(are_tasks_followed(seen, state));
    EXPECT_FALSE(are_tasks_followed(started_anew, state));
}

TEST(Reaping, IsLookedForAgainSoon) {
    EXPECT_EQ(next_reaping_clock(Bombed().state, at(100s)), at(100'100ms));
    EXPECT_EQ(next_reaping_clock(State{}, at(100s)), std::nullopt);
}

TEST(Reaping, EndsAfterTenSecondsWhateverIsLeft) {
    Bombed node;
    EXPECT_TRUE(node.waits(109'999ms, 1));
    EXPECT_FALSE(node.waits(110s, 1));
}

TEST(Reaping, AfterTheCgroupIsGoneWhatWasCountedLastHolds) {
    Bombed node;
    EXPECT_TRUE(node.waits(100s, 500));
    EXPECT_TRUE(node.waits(109'999ms, std::nullopt, true));
    EXPECT_EQ(node.state.reaping.front().tasks, 500);
    EXPECT_FALSE(node.waits(110s, std::nullopt, true));
}

TEST(Reaping, OfWhatWasNeverCountedASecondIsEnough) {
    Bombed node{std::nullopt};
    EXPECT_TRUE(node.waits(100'999ms, std::nullopt));
    EXPECT_FALSE(node.waits(101s, std::nullopt));
}

// A second bomb does not wait for the remains of the first.
TEST(Reaping, EvictionsWaitOnlyWhereTheRemainsExplainTheShortage) {
    Bombed node;
    MetThreshold met;
    met.quantity = {1'000};
    met.available = {400};
    EXPECT_TRUE(waits_for_reaping(met, node.state));
    met.available = {399};
    EXPECT_FALSE(waits_for_reaping(met, node.state));
    EXPECT_FALSE(waits_for_reaping(met, State{}));
    const Bombed uncounted{std::nullopt};
    EXPECT_TRUE(waits_for_reaping(met, uncounted.state));
}

// What a threshold of `quantity` finds, where the bomb left more than that.
struct SecondBomb : Bombed {
    explicit SecondBomb(std::int64_t tasks = 2'000) : Bombed(tasks) { EXPECT_TRUE(waits(100s, tasks)); }
    [[nodiscard]] bool is_waited(std::int64_t left, std::int64_t quantity = 1'000) const {
        MetThreshold met;
        met.quantity = {quantity};
        met.available = {left};
        return waits_for_reaping(met, state);
    }
};

TEST(Reaping, ASecondBombIsNotWaitedForWhereTheFirstLeftMoreThanTheQuantity) {
    SecondBomb node;
    EXPECT_TRUE(node.is_waited(150));
    EXPECT_FALSE(node.is_waited(149));
    node.available = 450;
    EXPECT_TRUE(node.waits(101s, 1'700));
    EXPECT_TRUE(node.is_waited(450)) << "it takes what the first gives back, all but 50";
    EXPECT_FALSE(node.is_waited(449));
}

TEST(Reaping, ASmallThresholdToleratesSomeTasksOfOthers) {
    const SecondBomb node;
    EXPECT_TRUE(node.is_waited(400 - 64, 100));
    EXPECT_FALSE(node.is_waited(400 - 65, 100));
}

TEST(Reaping, GrowthOfOthersIsMeasuredAcrossACountThatFailedAndVictimsThatAreReaped) {
    SecondBomb node;
    node.state.reaping.push_back({{"small"}, {8}, at(100s), 0});
    node.available = 300;
    EXPECT_TRUE(node.waits(101s, std::nullopt));
    EXPECT_EQ(node.state.reaping.size(), 1U);
    EXPECT_TRUE(node.is_waited(150));
    EXPECT_FALSE(node.is_waited(149));
}

TEST(Reaping, GrowthOfOthersIsMeasuredAnewWhereTheVictimsChange) {
    SecondBomb node;
    node.state.reaping.push_back({{"stuck"}, {8}, at(92s), 5'000});
    node.available = 100;
    EXPECT_TRUE(node.waits(102s, 2'000)) << "the stuck one is given up";
    EXPECT_EQ(node.state.available_once_reaped, Amount{2'100});
    InFlight second;
    second.victim.pod = {"second"};
    second.victim.emptied_at = at(102s);
    second.victim.eviction.threshold.threshold.signal = Signal::pid_available;
    ObservedVictim seen{.pod = {"second"}, .cgroup = {}, .populated = false, .held = {}};
    seen.tasks = 300;
    begin_reaping(second, seen, node.state);
    node.available = 50;
    EXPECT_TRUE(node.waits(102s, 2'000));
    EXPECT_EQ(node.state.available_once_reaped, Amount{2'350});
    node.state.reaping.clear();
    EXPECT_FALSE(node.waits(103s, 0));
    EXPECT_EQ(node.state.available_once_reaped, std::nullopt);
}

TEST(Reaping, GrowthOfOthersIsMeasuredFromTheFirstCount) {
    Bombed node{std::nullopt};
    EXPECT_TRUE(node.waits(100s, std::nullopt));
    EXPECT_EQ(node.state.available_once_reaped, std::nullopt);
    EXPECT_TRUE(node.waits(100s, 600));
    EXPECT_EQ(node.state.available_once_reaped, Amount{1'000});
}

}  // namespace
}  // namespace evictd::policy
