// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace evictd::bench {
namespace {

using Side = std::vector<double> Round::*;

std::vector<double> together(const std::vector<Round>& rounds, const Drawn& drawn, Side side) {
    std::vector<double> all;
    for (const std::size_t round : drawn) {
        const auto& samples = rounds[round].*side;
        all.insert(all.end(), samples.begin(), samples.end());
    }
    return all;
}

Drawn each_once(std::size_t rounds) {
    Drawn all(rounds);
    for (std::size_t i = 0; i < rounds; i++) {
        all[i] = i;
    }
    return all;
}

Verdict verdict_of(std::size_t rounds, std::size_t fewest, const Interval& interval) {
    if (rounds < fewest) {
        return Verdict::too_few_rounds;
    }
    if (interval.low > 1) {
        return Verdict::more;
    }
    return interval.high < 1 ? Verdict::less : Verdict::no_difference;
}

double p99_ratio(const std::vector<Round>& rounds, const Drawn& drawn) {
    return spread_of(together(rounds, drawn, &Round::tree)).p99 / spread_of(together(rounds, drawn, &Round::base)).p99;
}

}  // namespace

Spread spread_of(std::vector<double> samples) {
    if (samples.empty()) {
        return {};
    }
    std::sort(samples.begin(), samples.end());
    const auto at = [&](double share) {
        const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(samples.size())));
        return samples[std::max<std::size_t>(rank, 1) - 1];
    };
    return {samples.front(), at(0.5), at(0.9), at(0.99), samples.back()};
}

double middle_of(std::vector<double> samples) {
    if (samples.empty()) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    const auto half = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
    std::nth_element(samples.begin(), half, samples.end());
    if (samples.size() % 2 == 1) {
        return *half;
    }
    return (*std::max_element(samples.begin(), half) + *half) / 2;
}

Interval bootstrap(std::size_t rounds, const std::function<double(const Drawn&)>& estimate) {
    if (rounds == 0) {
        return {};
    }
    // Not std::uniform_int_distribution, whose numbers differ between standard libraries.
    std::mt19937_64 random(resampling_seed);  // NOLINT(*-msc51-cpp): the same samples are to give the same interval
    std::vector<double> estimates;
    estimates.reserve(resamples);
    Drawn drawn(rounds);
    for (std::size_t i = 0; i < resamples; i++) {
        std::generate(drawn.begin(), drawn.end(), [&] { return static_cast<std::size_t>(random() % rounds); });
        estimates.push_back(estimate(drawn));
    }
    std::sort(estimates.begin(), estimates.end());
    constexpr std::size_t outside = resamples / 40;  // at each end
    return {estimates[outside], estimates[resamples - 1 - outside]};
}

Interval interval_of_middle(const std::vector<double>& samples) {
    return bootstrap(samples.size(), [&](const Drawn& drawn) {
        std::vector<double> values;
        for (const std::size_t i : drawn) {
            values.push_back(samples[i]);
        }
        return middle_of(std::move(values));
    });
}

Comparison compare_medians(const std::vector<Round>& rounds) {
    const auto all = each_once(rounds.size());
    Comparison result{.base = spread_of(together(rounds, all, &Round::base)).median,
                      .tree = spread_of(together(rounds, all, &Round::tree)).median};
    std::vector<double> ratios;  // logarithms: twice as slow is as far from 1 as twice as fast
    for (const auto& round : rounds) {
        const double base = spread_of(round.base).median;
        const double tree = spread_of(round.tree).median;
        if (base <= 0 || tree <= 0) {
            return result;
        }
        ratios.push_back(std::log(tree / base));
    }
    if (ratios.empty()) {
        return result;
    }
    const auto interval = interval_of_middle(ratios);
    result.ratio = std::exp(middle_of(std::move(ratios)));
    result.interval = {std::exp(interval.low), std::exp(interval.high)};
    result.verdict = verdict_of(rounds.size(), fewest_rounds, result.interval);
    return result;
}

Comparison compare_p99(const std::vector<Round>& rounds) {
    const auto all = each_once(rounds.size());
    const auto base = together(rounds, all, &Round::base);
    const auto tree = together(rounds, all, &Round::tree);
    if (std::min(base.size(), tree.size()) < enough_for_p99 || spread_of(base).min <= 0 || spread_of(tree).min <= 0) {
        return {};
    }
    // Rounds are drawn, not samples: those of one round had the same neighbours.
    const auto estimate = [&](const Drawn& drawn) {
        for (const std::size_t round : drawn) {
            if (rounds[round].base.empty() || rounds[round].tree.empty()) {
                return 1.0;
            }
        }
        return p99_ratio(rounds, drawn);
    };
    Comparison result{.base = spread_of(base).p99, .tree = spread_of(tree).p99};
    result.ratio = result.tree / result.base;
    result.interval = bootstrap(rounds.size(), estimate);
    result.verdict = verdict_of(rounds.size(), fewest_rounds_for_p99, result.interval);
    return result;
}

}  // namespace evictd::bench
