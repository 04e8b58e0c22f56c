// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Totals of the pressure files, and the windows that are made of them.
#include "kernel/pressure_files.hpp"

#include <gtest/gtest.h>

namespace evictd::kernel {
namespace {

using namespace std::chrono_literals;

MonotonicTime at(Duration since) { return MonotonicTime{since}; }

TEST(PressureFile, BothTotalsAreReadAndWhatIsMissingIsNone) {
    const auto both = parse_pressure(
        "some avg10=0.00 avg60=0.02 avg300=0.00 total=123456\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=789\n");
    EXPECT_EQ(both.some, 123456us);
    EXPECT_EQ(both.full, 789us);
    const auto some = parse_pressure("some avg10=0.00 avg60=0.02 avg300=0.00 total=5\n");
    EXPECT_EQ(some.some, 5us);
    EXPECT_FALSE(some.full) << "cpu had no full line before 5.13";
    EXPECT_FALSE(parse_pressure("").some);
    EXPECT_FALSE(parse_pressure("some total=").some);
    EXPECT_FALSE(parse_pressure("some total=-1").some);
    EXPECT_FALSE(parse_pressure("some total=99999999999999999999").some);
}

TEST(StallHistory, OneTotalIsNoWindow) {
    StallHistory history;
    EXPECT_FALSE(history.lost());
    history.add(at(1s), 5s);
    EXPECT_FALSE(history.lost());
}

TEST(StallHistory, EachWindowHasWhatWasLostWithinIt) {
    StallHistory history;
    for (int i = 0; i <= 200; ++i) {
        // Nothing for 15 s, then half of every tenth of a second, then all of the last one.
        const Duration lost = i <= 150 ? 0ms : i < 200 ? (i - 150) * 50ms : 49 * 50ms + 100ms;
        history.add(at(i * 100ms), lost);
    }
    const auto times = history.lost();
    ASSERT_TRUE(times);
    EXPECT_EQ((*times)[0], 100ms);
    EXPECT_EQ((*times)[1], 9 * 50ms + 100ms);
    EXPECT_EQ((*times)[2], 49 * 50ms + 100ms);
}

TEST(StallHistory, BetweenTwoLooksTheLossIsTakenToBeEven) {
    StallHistory history;
    history.add(at(0s), 0s);
    history.add(at(10s), 5s);
    const auto times = history.lost();
    ASSERT_TRUE(times);
    EXPECT_EQ((*times)[0], 50ms);
    EXPECT_EQ((*times)[1], 500ms);
    EXPECT_EQ((*times)[2], 5s);
}

TEST(StallHistory, NoWindowIsLongerThanItselfWhateverTheFileHolds) {
    StallHistory history;
    history.add(at(0s), 5s);
    history.add(at(1s), 60s);
    EXPECT_EQ((*history.lost())[2], 10s);
    history.add(at(2s), 1s);  // it went back
    EXPECT_EQ((*history.lost())[0], 0s);
}

TEST(StallHistory, LooksInQuickSuccessionReplaceEachOther) {
    StallHistory history;
    history.add(at(0s), 0s);
    for (int i = 1; i <= 100; ++i) history.add(at(1s + i * 1ms), i * 1ms);
    EXPECT_GE((*history.lost())[0], 99ms) << "the line begins at the first look, 1 s earlier";
    EXPECT_LE((*history.lost())[0], 100ms);
}

}  // namespace
}  // namespace evictd::kernel
