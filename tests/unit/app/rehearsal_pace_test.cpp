// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How often an eviction is rehearsed, and what that may cost.
#include "app/rehearsal_pace.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

namespace evictd::app {
namespace {

using namespace std::chrono_literals;

struct Rehearsal {
    RehearsalPace pace;
    MonotonicTime now{1h};

    Duration after(Duration later, std::optional<Bytes> distance, Duration cpu = 200us) {
        return after_waiting(0us, later, distance, cpu);
    }
    Duration after_waiting(Duration waited, Duration later, std::optional<Bytes> distance, Duration cpu = 200us) {
        now += later;
        pace.charge(cpu, cpu + waited, now);
        pace.note(distance, now);
        return pace.pause(now);
    }
};

double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

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

// A look that was made because a line came near: the crossing may follow in a few milliseconds.
TEST(RehearsalPace, IsShortAfterALookWhereTheLineIsReachedSoonHoweverLongARehearsalTakes) {
    Rehearsal rehearsal;
    (void)rehearsal.after(10s, std::nullopt, 3ms);
    (void)rehearsal.after(1s, 60_MiB, 3ms);
    EXPECT_EQ(rehearsal.pace.pause_after_look(rehearsal.now), 2ms);
    EXPECT_EQ(rehearsal.pace.pause_after_look(rehearsal.now + 20ms), 130ms) << "150 from the rehearsal";
    EXPECT_EQ(rehearsal.pace.pause_after_look(rehearsal.now + 149ms), 2ms) << "a look was one";
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
    for (int i = 0; i < 1'000; ++i) {
        (void)rehearsal.after(1ms, i % 2 == 0 ? std::optional<Bytes>() : 60_MiB, 1ms);
    }
    EXPECT_LE(rehearsal.pace.awake_until(rehearsal.now), rehearsal.now) << "no budget is left for short pauses";
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
    const double all = seconds(rehearsal.now - begin);
    EXPECT_LE(seconds(awake), 0.2 + 0.05 * all);
    EXPECT_GE(seconds(awake), 0.2 + 0.04 * all);
}

// Very many pods.
TEST(RehearsalPace, LongRehearsalsAreFollowedByLongPauses) {
    Rehearsal rehearsal;
    (void)rehearsal.after(10s, std::nullopt, 3ms);
    EXPECT_EQ(rehearsal.after(1s, 60_MiB, 3ms), 24ms);
    EXPECT_EQ(rehearsal.after(30ms, 60_MiB, 3ms), 150ms);
}

// The host took the CPU away, and did not say so.
TEST(RehearsalPace, OneLongRehearsalIsNotFollowedByALongPause) {
    for (const Duration stood_still : {Duration(5ms), Duration(1s)}) {
        Rehearsal rehearsal;
        (void)rehearsal.after(10s, std::nullopt);
        rehearsal.now += 1s;
        rehearsal.pace.charge(stood_still, 200us, rehearsal.now);
        rehearsal.pace.note(60_MiB, rehearsal.now);
        EXPECT_EQ(rehearsal.pace.pause(rehearsal.now), 2ms);
        EXPECT_EQ(rehearsal.after(30ms, 60_MiB), 10ms);
        EXPECT_EQ(rehearsal.after(10ms, 40_MiB), 2ms) << "early ones are not fewer";
        EXPECT_EQ(rehearsal.after(11s, 60_MiB, 20ms), 20ms) << "nor is it held against the next one for long";
    }
}

// For a lock, or for the CPU.
TEST(RehearsalPace, OneThatWaitedIsFollowedByAPauseAsLong) {
    Rehearsal rehearsal;
    EXPECT_EQ(rehearsal.after_waiting(15ms, 1s, 60_MiB), 15'200us);
    EXPECT_EQ(rehearsal.after_waiting(1s, 30ms, 60_MiB), 1'000'200us);
    EXPECT_EQ(rehearsal.after(1s, 60_MiB), 10ms);
}

TEST(RehearsalPace, NoPauseIsLongerThanTwoSeconds) {
    Rehearsal rehearsal;
    (void)rehearsal.after(10s, std::nullopt, 1s);
    EXPECT_EQ(rehearsal.after(30s, 60_MiB, 1s), 2s);
    EXPECT_EQ(rehearsal.after(30s, 60_MiB, 1s), 2s);
}

// Every second one takes long: while memory stays where it is, while it falls, and while it comes near the line anew.
TEST(RehearsalPace, LongRehearsalsAfterShortPausesCostFourPercentOfACpuMore) {
    for (const auto& [before, then] :
         {std::pair<std::optional<Bytes>, Bytes>{20_MiB, 20_MiB}, {60_MiB, 20_MiB}, {std::nullopt, 60_MiB}}) {
        Rehearsal rehearsal;
        Duration spent{0};
        const auto begin = rehearsal.now;
        for (int i = 0; i < 4'000; ++i) {
            const Duration cpu = i % 2 == 0 ? 200us : 5ms;
            spent += cpu;
            rehearsal.pace.note(before, rehearsal.now);
            rehearsal.now += rehearsal.after(cpu, then, cpu);
        }
        const double all = seconds(rehearsal.now - begin);
        EXPECT_LE(seconds(spent), 2 * 0.2 + 0.06 * all) << (before ? before->value : 0);
        EXPECT_GE(seconds(spent), 0.015 * all) << (before ? before->value : 0);
    }
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
    const double all = seconds(rehearsal.now - begin);
    EXPECT_LE(seconds(spent), 0.2 + 0.02 * all + 0.001);
    EXPECT_GE(seconds(spent), 0.2 + 0.01 * all);
}

// Approaches that the kernel reports every few milliseconds: what rehearsals cost of a CPU.
double share_of_approaches(Duration apart, Duration odd, Duration even) {
    Rehearsal rehearsal;
    Duration spent{0};
    const auto begin = rehearsal.now;
    auto due = MonotonicTime::max();
    auto next = begin;
    for (int i = 0; seconds(rehearsal.now - begin) < 300;) {
        rehearsal.now = std::max(rehearsal.now, std::min(due, next));
        if (rehearsal.now >= next) {
            next = rehearsal.now + apart;
            due = std::min(due, rehearsal.pace.at_approach(rehearsal.now));
        }
        if (due > rehearsal.now) continue;
        const Duration cpu = i++ % 2 == 0 ? even : odd;
        spent += cpu;
        (void)rehearsal.after(cpu, std::nullopt, cpu);
        due = MonotonicTime::max();
    }
    return seconds(spent) / seconds(rehearsal.now - begin);
}

// With few pods and with 10,000; and while two pods of one size take turns, one of which has thousands of processes.
TEST(RehearsalPace, ApproachesCostFivePercentOfACpuMore) {
    for (const auto& [odd, even] :
         {std::pair<Duration, Duration>{240us, 240us}, {18ms, 18ms}, {200us, 4200us}, {200us, 20ms}}) {
        for (const Duration apart : {Duration(1ms), Duration(3ms), Duration(7ms), Duration(15ms)}) {
            const double share = share_of_approaches(apart, odd, even);
            EXPECT_LE(share, 0.071) << apart / 1ms << " ms, " << odd / 1us << " and " << even / 1us << " us";
            EXPECT_GE(share, 0.012) << apart / 1ms << " ms, " << odd / 1us << " and " << even / 1us << " us";
        }
    }
}

TEST(RehearsalPace, AnApproachBeyondTheBudgetIsRehearsedAtTheEndOfTheUsualPause) {
    Rehearsal rehearsal;
    EXPECT_EQ(rehearsal.pace.at_approach(rehearsal.now), rehearsal.now);
    (void)rehearsal.after(0ms, std::nullopt, 300ms);
    (void)rehearsal.after(10s, std::nullopt, 300ms);
    EXPECT_EQ(rehearsal.pace.at_approach(rehearsal.now), rehearsal.now) << "the budget is whole";
    (void)rehearsal.after(0ms, std::nullopt, 300ms);
    EXPECT_EQ(rehearsal.pace.at_approach(rehearsal.now), rehearsal.now + 2s);
    EXPECT_EQ(rehearsal.pace.at_approach(rehearsal.now + 3s), rehearsal.now + 3s);
}

// Two lines, one of which is near.
TEST(RehearsalPace, AnApproachBeyondTheBudgetDoesNotMakeAShortPauseFree) {
    Rehearsal rehearsal;
    Duration spent{0};
    const auto begin = rehearsal.now;
    for (int i = 0; i < 10'000; i++) {
        rehearsal.pace.note(std::nullopt, rehearsal.now);
        rehearsal.pace.note(60_MiB, rehearsal.now);
        const auto due = rehearsal.now + rehearsal.pace.pause(rehearsal.now);
        rehearsal.now += 1ms;
        if (rehearsal.pace.at_approach(rehearsal.now) > rehearsal.now) rehearsal.now = std::max(rehearsal.now, due);
        rehearsal.now += 240us;
        spent += 240us;
        rehearsal.pace.charge(240us, 240us, rehearsal.now);
    }
    EXPECT_LE(seconds(spent), 2 * 0.2 + 0.09 * seconds(rehearsal.now - begin));
}

// Only early ones take from the budgets.
TEST(RehearsalPace, UsualRehearsalsLeaveTheBudgetsAsTheyAre) {
    Rehearsal rehearsal;
    const auto rehearse = [&] { rehearsal.pace.charge(200ms, 200ms, rehearsal.now += 3s); };
    rehearse();
    (void)rehearsal.pace.at_approach(rehearsal.now);
    for (int i = 0; i < 100; i++) rehearse();
    EXPECT_EQ(rehearsal.pace.at_approach(rehearsal.now), rehearsal.now) << "one of them was for an approach";
    for (int i = 0; i < 100; i++) {
        rehearsal.pace.note(std::nullopt, rehearsal.now);
        rehearsal.pace.note(60_MiB, rehearsal.now);
        ASSERT_EQ(rehearsal.pace.pause_after_look(rehearsal.now), 2ms);
        rehearsal.now += 3s;
        (void)rehearsal.pace.at_approach(rehearsal.now);  // the line came near only now
        rehearse();
    }
}

}  // namespace
}  // namespace evictd::app
