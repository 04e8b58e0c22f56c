// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How often an eviction is rehearsed, and what that may cost.
#include "app/rehearsal_pace.hpp"

#include <gtest/gtest.h>

namespace evictd::app {
namespace {

using namespace std::chrono_literals;

struct Rehearsal {
    RehearsalPace pace;
    MonotonicTime now{1h};

    Duration after(Duration later, std::optional<Bytes> distance, Duration took = 200us) {
        now += later;
        pace.charge(took, now);
        pace.note(distance, now);
        return pace.pause(now);
    }
};

TEST(RehearsalPace, IsShortForAWhileWhenALineComesNear) {
    Rehearsal rehearsal;
    EXPECT_EQ(rehearsal.after(10s, std::nullopt), 10ms);
    EXPECT_EQ(rehearsal.after(10s, 60_MiB), 2ms);
    EXPECT_EQ(rehearsal.after(19ms, 60_MiB), 2ms);
    EXPECT_EQ(rehearsal.after(1ms, 60_MiB), 10ms);
}

TEST(RehearsalPace, StaysShortWhereTheLineIsReachedSoon) {
    Rehearsal rehearsal;
    (void)rehearsal.after(10s, 60_MiB);
    EXPECT_EQ(rehearsal.after(30ms, 60_MiB), 10ms);
    EXPECT_EQ(rehearsal.after(10ms, 59_MiB), 10ms) << "590 ms are left";
    EXPECT_EQ(rehearsal.after(10ms, 61_MiB), 10ms);
    EXPECT_EQ(rehearsal.after(10ms, 40_MiB), 2ms) << "19 ms are left";
    EXPECT_EQ(rehearsal.after(30ms, 2_MiB), 2ms);
    EXPECT_EQ(rehearsal.after(25ms, 2_MiB), 10ms);
    EXPECT_EQ(rehearsal.after(10ms, 1_MiB), 2ms) << "slow, but near enough";
}

TEST(RehearsalPace, BeginsAnewOnceTheLineWasCrossedOrFarAgain) {
    Rehearsal rehearsal;
    (void)rehearsal.after(10s, 60_MiB);
    EXPECT_EQ(rehearsal.after(5ms, std::nullopt), 10ms);
    EXPECT_EQ(rehearsal.after(5ms, 60_MiB), 2ms);
}

TEST(RehearsalPace, StaysAwakeInShortPausesOnly) {
    Rehearsal rehearsal;
    (void)rehearsal.after(10s, 60_MiB);
    EXPECT_EQ(rehearsal.pace.awake_until(rehearsal.now), rehearsal.now + 20ms);
    (void)rehearsal.after(20ms, 60_MiB);
    EXPECT_LE(rehearsal.pace.awake_until(rehearsal.now), rehearsal.now);
}

TEST(RehearsalPace, StaysAwakeForATwentiethOfACpu) {
    Rehearsal rehearsal;
    Duration awake{0};
    const auto begin = rehearsal.now;
    for (int i = 0; i < 40'000; ++i) {
        (void)rehearsal.after(1ms, std::nullopt, 0us);
        const bool is_short = rehearsal.after(1ms, 10_MiB, 0us) < 10ms;
        ASSERT_TRUE(is_short);
        const Duration time = rehearsal.pace.awake_until(rehearsal.now) - rehearsal.now;
        ASSERT_LE(time, 20ms) << "however long the pause";
        if (time <= 0ms) continue;
        rehearsal.now += time;
        rehearsal.pace.charge_awake(time, rehearsal.now);
        awake += time;
    }
    const double seconds = std::chrono::duration<double>(rehearsal.now - begin).count();
    EXPECT_LE(std::chrono::duration<double>(awake).count(), 0.2 + 0.05 * seconds);
    EXPECT_GE(std::chrono::duration<double>(awake).count(), 0.2 + 0.04 * seconds);
}

// Very many pods.
TEST(RehearsalPace, LongRehearsalsAreFollowedByLongPauses) {
    Rehearsal rehearsal;
    (void)rehearsal.after(10s, std::nullopt, 3ms);
    EXPECT_EQ(rehearsal.after(1s, 60_MiB, 3ms), 24ms);
    EXPECT_EQ(rehearsal.after(30ms, 60_MiB, 3ms), 150ms);
}

// The host took the CPU away, and the kernel did not notice.
TEST(RehearsalPace, OneLongRehearsalIsNotFollowedByALongPause) {
    Rehearsal rehearsal;
    (void)rehearsal.after(10s, std::nullopt);
    EXPECT_EQ(rehearsal.after(1s, 60_MiB, 30ms), 2ms);
    EXPECT_EQ(rehearsal.after(30ms, 60_MiB), 10ms);
    EXPECT_EQ(rehearsal.after(30ms, 60_MiB, 30ms), 10ms);
}

// A pod that makes every second one long.
TEST(RehearsalPace, LongRehearsalsWithoutLongPausesCostTwoPercentOfACpuMore) {
    Rehearsal rehearsal;
    Duration spent{0};
    const auto begin = rehearsal.now;
    for (int i = 0; i < 4'000; ++i) {
        const Duration took = i % 2 == 0 ? 200us : 5ms;
        spent += took;
        rehearsal.now += rehearsal.after(took, 60_MiB, took);
    }
    const double seconds = std::chrono::duration<double>(rehearsal.now - begin).count();
    EXPECT_LE(std::chrono::duration<double>(spent).count(), 0.2 + (0.02 + 0.02) * seconds + 0.01);
}

// Memory that comes near the line again and again.
TEST(RehearsalPace, CostsTwoPercentOfACpuMore) {
    Rehearsal rehearsal;
    Duration spent{0};
    const auto begin = rehearsal.now;
    for (int i = 0; i < 40'000; ++i) {
        const bool is_short = rehearsal.after(1ms, 10_MiB, 240us) < 10ms;
        (void)rehearsal.after(1ms, std::nullopt, 240us);
        if (is_short) spent += 240us;
    }
    const double seconds = std::chrono::duration<double>(rehearsal.now - begin).count();
    EXPECT_LE(std::chrono::duration<double>(spent).count(), 0.2 + 0.02 * seconds + 0.001);
    EXPECT_GE(std::chrono::duration<double>(spent).count(), 0.2 + 0.01 * seconds);
}

}  // namespace
}  // namespace evictd::app
