// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "watermarks.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "thresholds.hpp"

namespace evictd::policy {
namespace {

// A threshold may be as large as there are numbers.
Bytes above(Bytes line, Bytes more) {
    Bytes sum;
    return __builtin_add_overflow(line.value, more.value, &sum.value) ? line : sum;
}

Bytes value_of(const Threshold& threshold, Amount capacity) { return {resolve(threshold.value, capacity).value()}; }

// The value itself where there is no minimum reclaim.
Bytes with_min_reclaim(const Threshold& threshold, Amount capacity) {
    const Bytes value = value_of(threshold, capacity);
    return threshold.min_reclaim ? above(value, {resolve(*threshold.min_reclaim, capacity).value()}) : value;
}

void add(std::vector<Watermark>& lines, Signal signal, Bytes value) {
    const auto same = [&](const Watermark& line) { return line.signal == signal && line.threshold == value; };
    if (value > Bytes{0} && std::none_of(lines.begin(), lines.end(), same)) {
        lines.push_back({signal, value});
    }
}

// Until the threshold, which is positive, is reached; 0: it is.
Bytes left_until(const Watermark& line, const Reading& reading) {
    const auto available = reading.available.value;
    return available > line.threshold.value ? Bytes{available - line.threshold.value} : Bytes{};
}

}  // namespace

std::vector<Watermark> watermarks_for(const std::vector<Threshold>& thresholds, const Readings& readings) {
    std::vector<Watermark> lines;
    for (const auto& threshold : thresholds) {
        const auto& reading = readings[static_cast<std::size_t>(threshold.signal)];
        if (!is_memory(threshold.signal) || !reading) {
            continue;
        }
        add(lines, threshold.signal, value_of(threshold, reading->capacity));
        add(lines, threshold.signal, with_min_reclaim(threshold, reading->capacity));
    }
    return lines;
}

std::vector<Watermark> approaches_of(const std::vector<Watermark>& watermarks) {
    auto lines = watermarks;
    for (const auto& line : watermarks) {
        add(lines, line.signal, above(line.threshold, approach));
    }
    return {lines.begin() + static_cast<std::ptrdiff_t>(watermarks.size()), lines.end()};
}

bool is_near(const std::vector<Watermark>& watermarks, const Readings& readings) {
    return std::any_of(watermarks.begin(), watermarks.end(), [&](const Watermark& line) {
        const auto& reading = readings[static_cast<std::size_t>(line.signal)];
        const auto left = reading ? left_until(line, *reading) : Bytes{};
        return left > Bytes{} && left <= approach;
    });
}

bool is_close(const std::vector<Watermark>& watermarks, const Readings& readings) {
    const auto left = nearest(watermarks, readings);
    return left && *left <= approach;
}

std::optional<Bytes> nearest(const std::vector<Watermark>& watermarks, const Readings& readings) {
    std::optional<Bytes> distance;
    for (const auto& line : watermarks) {
        const auto& reading = readings[static_cast<std::size_t>(line.signal)];
        if (reading) {
            const Bytes left = left_until(line, *reading);
            distance = distance ? std::min(*distance, left) : left;
        }
    }
    return distance;
}

std::optional<Bytes> next_below(const std::vector<Watermark>& watermarks, const Readings& readings) {
    std::vector<Watermark> ahead;
    std::copy_if(watermarks.begin(), watermarks.end(), std::back_inserter(ahead), [&](const Watermark& line) {
        const auto& reading = readings[static_cast<std::size_t>(line.signal)];
        return reading && reading->available.value >= line.threshold.value;
    });
    return nearest(ahead, readings);
}

Bytes node_memory_decides_below(const EvictionConfig& config, const std::optional<Amount>& capacity) {
    constexpr Bytes always{std::numeric_limits<std::int64_t>::max()};
    if (!capacity || !config.stalls.empty() || config.time_to_exhaustion > Duration::zero()) return always;
    Bytes highest;
    for (const auto& threshold : config.thresholds) {
        if (threshold.signal != Signal::memory_available) continue;
        highest = std::max(highest, with_min_reclaim(threshold, *capacity));
    }
    return above(highest, highest);
}

}  // namespace evictd::policy
