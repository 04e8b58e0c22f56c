// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How fast memory runs out, and who takes it, from one look to the next. Looks come every 10 s while nothing is wrong
// and every few milliseconds under pressure, so changes are measured over intervals of at least 100 ms.
//
// The estimate is the smaller of the median and the mean of the last six intervals, nothing where they disagree about
// the direction, and none before the third. A mean, or a line through the figures, takes one jump (a process that
// starts with a gigabyte, a file that is read) for a trend; the median does not, it believes in growth once half of the
// intervals have it. But the median alone can take a value that flaps around a level for a trend, and the mean does
// not.
#pragma once

#include <optional>

#include "evictd/model/observation.hpp"
#include "evictd/model/state.hpp"

namespace evictd::policy {

// `before`, with what this look adds. `anew`: memory comes back from a victim, and what was measured before says
// nothing about what follows.
[[nodiscard]] Trends follow(const Trends& before, const Observation& observation, bool anew);

// Beyond that an estimate from some intervals of the last minute says nothing.
inline constexpr Duration trend_horizon = std::chrono::hours(1);

// `trend`, with an interval that took `over` and ended with `now`.
[[nodiscard]] Trend extended(Trend trend, std::int64_t now, Duration over, std::int64_t unit = Trend::kib);

// Bytes a second, or whatever `unit` is one of; negative where it falls. None: too few intervals are known.
[[nodiscard]] std::optional<double> rate_of(const Trend& trend, std::int64_t unit = Trend::kib);

// Which of the two signals that have a trend.
[[nodiscard]] constexpr std::optional<std::size_t> trend_index(Signal signal) {
    if (signal == Signal::memory_available) return 0;
    if (signal == Signal::allocatable_memory_available) return 1;
    return std::nullopt;
}

}  // namespace evictd::policy
