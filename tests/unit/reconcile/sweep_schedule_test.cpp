// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/sweep_schedule.hpp"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/fake_clock.hpp"

namespace evictd::reconcile {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

// Each step costs 5 ms of CPU time; a pod has as many as `left` says.
struct Sweeps : testing::Test {
    bool step(const PodUid& pod) {
        used += milliseconds(5);
        order.push_back(pod.value);
        return --left[pod.value] > 0;
    }
    const SweepSchedule::Step steps = [this](const PodUid& pod) { return step(pod); };
    fakes::FakeClock clock;
    Duration used{0};
    std::map<std::string, int> left;
    std::vector<std::string> order;
    SweepSchedule schedule{clock, [this] { return used; }};
};

TEST_F(Sweeps, PodsTakeTurnsAndOneThatWaitsAlreadyWaitsOnce) {
    left = {{"a", 3}, {"b", 1}};
    schedule.add({"a"});
    schedule.add({"b"});
    schedule.add({"b"});
    schedule.work(steps);
    EXPECT_THAT(order, ElementsAre("a", "b", "a", "a"));
    EXPECT_FALSE(schedule.due());
}

TEST_F(Sweeps, OneThatIsRemovedLosesItsTurn) {
    left = {{"a", 1}, {"b", 1}};
    schedule.add({"a"});
    schedule.add({"b"});
    schedule.remove({"a"});
    schedule.add({"a"});
    schedule.remove({"b"});
    schedule.work(steps);
    EXPECT_THAT(order, ElementsAre("a"));
}

TEST_F(Sweeps, ItPausesForWhatWasPostedAndStopsWhenTheBudgetIsSpent) {
    left = {{"a", 1'000'000}};
    schedule.add({"a"});
    schedule.work(steps);
    EXPECT_EQ(used, milliseconds(20));
    EXPECT_EQ(schedule.due(), clock.monotonic()) << "it goes on at once";
    for (int i = 0; i < 100; i++) schedule.work(steps);
    EXPECT_EQ(used, milliseconds(200));
    ASSERT_TRUE(schedule.due());
    EXPECT_GT(*schedule.due(), clock.monotonic() + milliseconds(1000)) << "one wakeup a second, not one a slice";
    clock.set(*schedule.due());
    schedule.work(steps);
    EXPECT_EQ(used, milliseconds(220));
}

TEST_F(Sweeps, WhatIsDoneAtOnceIsBoundedToo) {
    left = {{"a", 50}, {"b", 1'000'000}, {"c", 10}};
    EXPECT_TRUE(schedule.work_at_once({"a"}, steps)) << "more than the budget has";
    EXPECT_FALSE(schedule.work_at_once({"b"}, steps));
    EXPECT_EQ(used, milliseconds(505));
    EXPECT_FALSE(schedule.work_at_once({"c"}, steps));
    EXPECT_EQ(used, milliseconds(525)) << "four slices in any case";
    EXPECT_TRUE(schedule.due());
}

TEST_F(Sweeps, WhatWasDoneAtOnceInSpiteOfTheBudgetKeepsOthersWaitingForSoLong) {
    left = {{"a", 1'000'000}, {"b", 1}};
    for (int i = 0; i < 100; i++) (void)schedule.work_at_once({"a"}, steps);
    EXPECT_GT(used, milliseconds(2000));
    schedule.remove({"a"});
    schedule.add({"b"});
    EXPECT_GT(*schedule.due(), clock.monotonic() + milliseconds(25000));
    EXPECT_LT(*schedule.due(), clock.monotonic() + milliseconds(26100)) << "500 ms at 2 %, and the second of a rest";
}

TEST_F(Sweeps, FourSlicesOfOneAtOnceAndTheRestWaits) {
    left = {{"a", 1'000'000}, {"b", 6}, {"c", 2}};
    (void)schedule.work_at_once({"a"}, steps);
    schedule.remove({"a"});
    order.clear();
    schedule.begin_at_once({"b"}, steps);
    schedule.begin_at_once({"c"}, steps);
    EXPECT_THAT(order, ElementsAre("b", "b", "b", "b", "c", "c"));
    schedule.work(steps);
    EXPECT_EQ(order.size(), 6U) << "nothing more, because the budget is spent";
    EXPECT_GT(*schedule.due(), clock.monotonic() + milliseconds(17000)) << "and it paid for these";
    clock.set(*schedule.due());
    schedule.work(steps);
    EXPECT_THAT(order, ElementsAre("b", "b", "b", "b", "c", "c", "b", "b"));
}

}  // namespace
}  // namespace evictd::reconcile
