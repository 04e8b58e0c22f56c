// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How often an eviction is rehearsed, and what that may cost.
#include "app/practice_pace.hpp"

#include <gtest/gtest.h>

namespace evictd::app {
namespace {

using namespace std::chrono_literals;

struct Practice {
    PracticePace pace;
    MonotonicTime now{1h};

    Duration after(Duration later, std::optional<Bytes> distance, Duration took = 200us) {
        now += later;
        pace.charge(took, now);
        pace.note(distance, now);
        return pace.pause(took, now);
    }
};

TEST(PracticePace, IsShortForAWhileWhenALineComesNear) {
    Practice practice;
    EXPECT_EQ(practice.after(10s, std::nullopt), 10ms);
    EXPECT_EQ(practice.after(10s, 60_MiB), 2ms);
    EXPECT_EQ(practice.after(19ms, 60_MiB), 2ms);
    EXPECT_EQ(practice.after(1ms, 60_MiB), 10ms);
}

TEST(PracticePace, StaysShortWhereTheLineIsReachedSoon) {
    Practice practice;
    (void)practice.after(10s, 60_MiB);
    EXPECT_EQ(practice.after(30ms, 60_MiB), 10ms);
    EXPECT_EQ(practice.after(10ms, 59_MiB), 10ms) << "590 ms are left";
    EXPECT_EQ(practice.after(10ms, 61_MiB), 10ms);
    EXPECT_EQ(practice.after(10ms, 40_MiB), 2ms) << "19 ms are left";
    EXPECT_EQ(practice.after(30ms, 2_MiB), 2ms);
    EXPECT_EQ(practice.after(25ms, 2_MiB), 10ms);
    EXPECT_EQ(practice.after(10ms, 1_MiB), 2ms) << "slow, but near enough";
}

TEST(PracticePace, BeginsAnewOnceTheLineWasCrossedOrFarAgain) {
    Practice practice;
    (void)practice.after(10s, 60_MiB);
    EXPECT_EQ(practice.after(5ms, std::nullopt), 10ms);
    EXPECT_EQ(practice.after(5ms, 60_MiB), 2ms);
}

TEST(PracticePace, StaysAwakeInShortPausesOnly) {
    Practice practice;
    (void)practice.after(10s, 60_MiB);
    EXPECT_EQ(practice.pace.awake_until(practice.now), practice.now + 20ms);
    (void)practice.after(20ms, 60_MiB);
    EXPECT_LE(practice.pace.awake_until(practice.now), practice.now);
}

TEST(PracticePace, StaysAwakeForATwentiethOfACpu) {
    Practice practice;
    Duration awake{0};
    const auto begin = practice.now;
    for (int i = 0; i < 40'000; ++i) {
        (void)practice.after(1ms, std::nullopt, 0us);
        const bool is_short = practice.after(1ms, 10_MiB, 0us) < 10ms;
        ASSERT_TRUE(is_short);
        const Duration time = practice.pace.awake_until(practice.now) - practice.now;
        ASSERT_LE(time, 20ms) << "however long the pause";
        if (time <= 0ms) continue;
        practice.now += time;
        practice.pace.charge_awake(time, practice.now);
        awake += time;
    }
    const double seconds = std::chrono::duration<double>(practice.now - begin).count();
    EXPECT_LE(std::chrono::duration<double>(awake).count(), 0.2 + 0.05 * seconds);
    EXPECT_GE(std::chrono::duration<double>(awake).count(), 0.2 + 0.04 * seconds);
}

// Very many pods.
TEST(PracticePace, ALongRehearsalIsFollowedByALongPause) {
    Practice practice;
    EXPECT_EQ(practice.after(10s, 60_MiB, 3ms), 24ms);
    EXPECT_EQ(practice.after(30ms, 60_MiB, 3ms), 150ms);
}

// Memory that comes near the line again and again.
TEST(PracticePace, CostsTwoPercentOfACpuMore) {
    Practice practice;
    Duration spent{0};
    const auto begin = practice.now;
    for (int i = 0; i < 40'000; ++i) {
        const bool is_short = practice.after(1ms, 10_MiB, 0us) < 10ms;
        (void)practice.after(1ms, std::nullopt, 240us);
        if (is_short) spent += 240us;
    }
    const double seconds = std::chrono::duration<double>(practice.now - begin).count();
    EXPECT_LE(std::chrono::duration<double>(spent).count(), 0.2 + 0.02 * seconds + 0.001);
    EXPECT_GE(std::chrono::duration<double>(spent).count(), 0.2 + 0.01 * seconds);
}

}  // namespace
}  // namespace evictd::app
