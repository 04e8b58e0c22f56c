// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which readings of the node's memory decide nothing.
#include <limits>

#include <gtest/gtest.h>

#include "watermarks.hpp"

namespace evictd::policy::testing {
namespace {

constexpr Bytes any{std::numeric_limits<std::int64_t>::max()};
constexpr Amount capacity{(8_GiB).value};

Threshold on(Signal signal, Bytes value) {
    return {.signal = signal, .value = {Quantity::of(value.value)}, .min_reclaim = {}};
}

TEST(NodeMemoryDecides, BelowTwiceTheHighestThresholdWithItsMinimumReclaim) {
    EvictionConfig config{.thresholds = {on(Signal::memory_available, 100_MiB), on(Signal::memory_available, 300_MiB),
                                         on(Signal::allocatable_memory_available, 4_GiB)}};
    EXPECT_EQ(node_memory_decides_below(config, capacity), 600_MiB);
    config.thresholds.front().min_reclaim = ThresholdValue{Quantity::of((250_MiB).value)};
    EXPECT_EQ(node_memory_decides_below(config, capacity), 700_MiB);
    config.thresholds.front().value = ThresholdValue{0.25F};
    EXPECT_EQ(node_memory_decides_below(config, capacity), 4_GiB + 500_MiB);
}

TEST(NodeMemoryDecides, NothingWithoutAThresholdOnIt) {
    const EvictionConfig config{.thresholds = {on(Signal::allocatable_memory_available, 4_GiB)}};
    EXPECT_EQ(node_memory_decides_below(config, capacity), Bytes{});
}

TEST(NodeMemoryDecides, AnyMayWhereRatesOrStallsCountOrTheCapacityIsNotKnown) {
    const EvictionConfig config{.thresholds = {on(Signal::memory_available, 100_MiB)}};
    EXPECT_EQ(node_memory_decides_below(config, std::nullopt), any);
    auto with_stalls = config;
    with_stalls.stalls.emplace_back();
    EXPECT_EQ(node_memory_decides_below(with_stalls, capacity), any);
    auto with_rate = config;
    with_rate.time_to_exhaustion = std::chrono::seconds(30);
    EXPECT_EQ(node_memory_decides_below(with_rate, capacity), any);
    const EvictionConfig huge{.thresholds = {on(Signal::memory_available, any)}};
    EXPECT_EQ(node_memory_decides_below(huge, capacity), any);
}

}  // namespace
}  // namespace evictd::policy::testing
