// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Quantiles, and the comparison of two programs that ran in turns. It measures nothing and prints nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace evictd::bench {

struct Spread {
    double min = 0;
    double median = 0;
    double p90 = 0;
    double p99 = 0;
    double max = 0;
};

// Nearest rank: a value that was measured, never one between two. Zeros for no samples.
[[nodiscard]] Spread spread_of(std::vector<double> samples);

// With fewer samples the nearest rank of p99 is the maximum.
inline constexpr std::size_t enough_for_p99 = 100;

// Of an even number of samples the mean of the two in the middle: what is compared must not depend on which of two
// programs is divided by the other. Not a number for no samples.
[[nodiscard]] double middle_of(std::vector<double> samples);

struct Interval {
    double low = 0;
    double high = 0;
};

// Fixed, so that the same samples give the same interval.
inline constexpr std::uint64_t resampling_seed = 1;
inline constexpr std::size_t resamples = 2000;

// Between which an estimate lies in 95 of 100 draws of `rounds` rounds with replacement. `estimate` takes the numbers
// of the rounds that were drawn.
using Drawn = std::vector<std::size_t>;
[[nodiscard]] Interval bootstrap(std::size_t rounds, const std::function<double(const Drawn&)>& estimate);
[[nodiscard]] Interval interval_of_middle(const std::vector<double>& samples);

// What both programs gave in one round.
struct Round {
    std::vector<double> base;
    std::vector<double> tree;
};

// Only the interval decides.
enum class Verdict { more, less, no_difference, too_few_rounds, incomparable };

struct Comparison {
    double base = 0;  // over the samples of all rounds
    double tree = 0;
    double ratio = 0;  // tree / base
    Interval interval;
    Verdict verdict = Verdict::incomparable;
};

// The interval of a median cannot reach 95 % with fewer: 2 x 0.5^5 is 6 %.
inline constexpr std::size_t fewest_rounds = 6;
// Of equal programs' p99 1 interval in 9 misses with 6 rounds, 1 in 14 with 10 (lognormal noise, 20 samples a round).
inline constexpr std::size_t fewest_rounds_for_p99 = 10;

// The middle of the rounds' ratios of medians. Incomparable: a median is zero, or a round has no samples.
[[nodiscard]] Comparison compare_medians(const std::vector<Round>& rounds);
// The ratio of p99 over all rounds; incomparable with fewer samples than it needs.
[[nodiscard]] Comparison compare_p99(const std::vector<Round>& rounds);

}  // namespace evictd::bench
