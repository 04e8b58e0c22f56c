// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "bench/figures/statistics.hpp"

#include <cmath>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

namespace evictd::bench {
namespace {

std::vector<double> one_to(int last) {
    std::vector<double> values(static_cast<std::size_t>(last));
    std::iota(values.begin(), values.end(), 1.0);
    return values;
}

// Each round's samples, the tree's being `ratio` times the base's. Rounds differ by what a machine drifts.
std::vector<Round> drifting(std::size_t count, double ratio, int samples = 1) {
    std::vector<Round> rounds;
    for (std::size_t i = 0; i < count; i++) {
        Round& round = rounds.emplace_back();
        for (int n = 0; n < samples; n++) {
            const double base = 100.0 * static_cast<double>(1 + i * i) + n;
            round.base.push_back(base);
            round.tree.push_back(ratio * base);
        }
    }
    return rounds;
}

std::vector<Round> swapped(std::vector<Round> rounds) {
    for (auto& round : rounds) {
        round.base.swap(round.tree);
    }
    return rounds;
}

TEST(Spread, IsOfTheNearestRank) {
    const auto spread = spread_of(one_to(200));
    EXPECT_EQ(spread.min, 1);
    EXPECT_EQ(spread.median, 100);
    EXPECT_EQ(spread.p90, 180);
    EXPECT_EQ(spread.p99, 198);
    EXPECT_EQ(spread.max, 200);
}

TEST(Spread, OfFewIsOneOfThem) {
    EXPECT_EQ(spread_of({3, 1}).median, 1);
    EXPECT_EQ(spread_of(one_to(99)).p99, 99);  // the maximum: hence enough_for_p99
    EXPECT_EQ(spread_of({}).max, 0);
}

TEST(Middle, LiesBetweenTheTwoOfAnEvenNumber) {
    EXPECT_EQ(middle_of({9, 1, 4}), 4);
    EXPECT_EQ(middle_of({9, 1, 4, 2}), 3);
    EXPECT_EQ(middle_of({7}), 7);
    EXPECT_TRUE(std::isnan(middle_of({})));
}

// A median of n values drawn of 1..n is at most k as often as Bin(n, k/n) reaches the middle. For 11: 0.7 % at 2 and
// 5.1 % at 3; for 15: 0.4 % at 3, 2.55 % at 4 and 8.8 % at 5. So the bounds of 95 % are 3 and 9, and 4 (or 5) and 12
// (or 11).
TEST(Interval, OfAMedianIsThatOfTheBinomialDistribution) {
    const auto of_11 = interval_of_middle(one_to(11));
    EXPECT_EQ(of_11.low, 3);
    EXPECT_EQ(of_11.high, 9);
    const auto of_15 = interval_of_middle(one_to(15));
    EXPECT_NEAR(of_15.low, 4.5, 0.5);
    EXPECT_NEAR(of_15.high, 11.5, 0.5);
}

TEST(Interval, IsTheSameEachTimeAndNeedsSamples) {
    const std::vector<double> samples{1, 5, 2, 8, 3, 9, 4};
    EXPECT_EQ(interval_of_middle(samples).low, interval_of_middle(samples).low);
    EXPECT_EQ(interval_of_middle({4, 4, 4}).high, 4);
    EXPECT_EQ(interval_of_middle({}).low, 0);
}

TEST(Medians, ARatioIsFoundThroughDrift) {
    const auto slower = compare_medians(drifting(10, 1.1));
    EXPECT_NEAR(slower.ratio, 1.1, 1e-9);
    EXPECT_NEAR(slower.interval.low, 1.1, 1e-9);
    EXPECT_NEAR(slower.interval.high, 1.1, 1e-9);
    EXPECT_EQ(slower.verdict, Verdict::more);
    EXPECT_EQ(compare_medians(drifting(10, 0.9)).verdict, Verdict::less);
    EXPECT_EQ(compare_medians(drifting(10, 1)).verdict, Verdict::no_difference);
}

TEST(Medians, DoNotDependOnWhichIsTheBase) {
    std::vector<Round> rounds;
    for (const double ratio : {0.7, 1.3, 0.9, 1.2, 1.25, 0.8, 1.15, 1.4}) {
        rounds.push_back({{100}, {100 * ratio}});
    }
    const auto one = compare_medians(rounds);
    const auto other = compare_medians(swapped(rounds));
    EXPECT_NEAR(one.ratio, std::sqrt(1.15 * 1.2), 1e-9);
    EXPECT_NEAR(one.ratio * other.ratio, 1, 1e-9);
    EXPECT_NEAR(one.interval.low * other.interval.high, 1, 1e-9);
    EXPECT_EQ(one.verdict, Verdict::no_difference);
}

TEST(Medians, OfFewRoundsGiveNoVerdict) {
    EXPECT_EQ(compare_medians(drifting(fewest_rounds - 1, 2)).verdict, Verdict::too_few_rounds);
    EXPECT_EQ(compare_medians(drifting(fewest_rounds, 2)).verdict, Verdict::more);
}

TEST(Medians, OfNothingAreNotCompared) {
    auto rounds = drifting(10, 1);
    rounds[3].tree = {0};
    EXPECT_EQ(compare_medians(rounds).verdict, Verdict::incomparable);
    rounds[3].tree.clear();
    EXPECT_EQ(compare_medians(rounds).verdict, Verdict::incomparable);
    EXPECT_EQ(compare_medians({}).verdict, Verdict::incomparable);
}

// 2 or 3 of 50 are expected; the simulation is the same each time.
TEST(Medians, OfEqualProgramsSeldomDiffer) {
    std::mt19937_64 random(7);  // NOLINT(*-msc51-cpp)
    const auto noise = [&] { return 1 + static_cast<double>(random() % 1000) / 1000; };
    int differ = 0;
    for (int i = 0; i < 50; i++) {
        std::vector<Round> rounds(10);
        for (auto& round : rounds) {
            round = {{noise()}, {noise()}};
        }
        differ += compare_medians(rounds).verdict == Verdict::no_difference ? 0 : 1;
    }
    EXPECT_GE(differ, 1);
    EXPECT_LE(differ, 7);
}

TEST(P99, IsOfAllRoundsTogether) {
    auto rounds = drifting(10, 1, 20);
    for (auto& round : rounds) {
        round.base.assign(20, 10);
        round.tree.assign(20, 10);
        round.tree.back() = 30;
    }
    const auto compared = compare_p99(rounds);
    EXPECT_EQ(compared.base, 10);
    EXPECT_EQ(compared.tree, 30);
    EXPECT_EQ(compared.ratio, 3);
    EXPECT_EQ(compared.verdict, Verdict::more);
    EXPECT_EQ(compare_medians(rounds).verdict, Verdict::no_difference);
}

// One bad round is chance: most draws of the rounds have it, but a third have not.
TEST(P99, OneRoundDecidesNothing) {
    auto rounds = drifting(10, 1, 20);
    for (auto& round : rounds) {
        round = {std::vector<double>(20, 10), std::vector<double>(20, 10)};
    }
    rounds[4].tree.assign(20, 50);
    const auto compared = compare_p99(rounds);
    EXPECT_EQ(compared.ratio, 5);
    EXPECT_EQ(compared.interval.low, 1);
    EXPECT_EQ(compared.verdict, Verdict::no_difference);
}

TEST(P99, NeedsSamplesAndRounds) {
    EXPECT_EQ(compare_p99(drifting(10, 2, 9)).verdict, Verdict::incomparable);
    EXPECT_EQ(compare_p99(drifting(fewest_rounds_for_p99 - 1, 2, 20)).verdict, Verdict::too_few_rounds);
    EXPECT_EQ(compare_p99({}).verdict, Verdict::incomparable);
}

}  // namespace
}  // namespace evictd::bench
