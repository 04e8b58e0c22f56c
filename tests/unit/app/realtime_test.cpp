// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A real-time loop that never waits.
#include "app/realtime.hpp"

#include <thread>

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>

#include "sys/clock.hpp"

namespace evictd::app {
namespace {

using namespace std::chrono_literals;

int policy_now() { return sched_getscheduler(0) & ~SCHED_RESET_ON_FORK; }

void expect_lost_and_given_back() {
    auto guard = RealtimeGuard::make(1, {.soft = 20ms, .hard = 10s});
    ASSERT_TRUE(guard) << guard.error().text();
    (*guard)->restore();
    if (policy_now() != SCHED_FIFO) GTEST_SKIP() << "may not become SCHED_FIFO here";
    const auto begin = sys::SystemClock().monotonic();
    while (policy_now() == SCHED_FIFO && sys::SystemClock().monotonic() - begin < 5s) {}
    EXPECT_TRUE((*guard)->lost());
    EXPECT_EQ(policy_now(), SCHED_OTHER);
    (*guard)->restore();
    EXPECT_EQ(policy_now(), SCHED_FIFO);
    EXPECT_FALSE((*guard)->lost());
    rlimit limit{};
    ASSERT_EQ(getrlimit(RLIMIT_RTTIME, &limit), 0);
    EXPECT_EQ(limit.rlim_cur, 20'000U);  // the kernel had moved it
    guard->reset();
}

TEST(Realtime, AThreadThatNeverWaitsLosesItsPriorityAndGetsItBack) {
    std::thread(expect_lost_and_given_back).join();  // the priority of this one alone
}

}  // namespace
}  // namespace evictd::app
