// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/watermarks.hpp"

#include <algorithm>
#include <iterator>

#include "policy/thresholds.hpp"

namespace evictd::app {
namespace {

using policy::approach;

void add(std::vector<port::Watermark>& lines, Signal signal, Bytes value) {
    const auto same = [&](const port::Watermark& line) { return line.signal == signal && line.threshold == value; };
    if (value > Bytes{0} && std::none_of(lines.begin(), lines.end(), same)) {
        lines.push_back({signal, value});
    }
}

}  // namespace

std::vector<port::Watermark> watermarks_for(const std::vector<Threshold>& thresholds, const Readings& readings) {
    std::vector<port::Watermark> lines;
    for (const auto& threshold : thresholds) {
        const auto& reading = readings[static_cast<std::size_t>(threshold.signal)];
        if (!is_memory(threshold.signal) || !reading) {
            continue;
        }
        const Bytes value{policy::resolve(threshold.value, reading->capacity).value()};
        add(lines, threshold.signal, value);
        if (threshold.min_reclaim) {
            add(lines, threshold.signal,
                value + Bytes{policy::resolve(*threshold.min_reclaim, reading->capacity).value()});
        }
    }
    return lines;
}

std::vector<port::Watermark> with_approaches(const std::vector<port::Watermark>& watermarks) {
    auto lines = watermarks;
    for (const auto& line : watermarks) {
        add(lines, line.signal, line.threshold + approach);
    }
    return lines;
}

bool is_near(const std::vector<port::Watermark>& watermarks, const Readings& readings) {
    return std::any_of(watermarks.begin(), watermarks.end(), [&](const port::Watermark& line) {
        const auto& reading = readings[static_cast<std::size_t>(line.signal)];
        const auto left = reading ? reading->available.value - line.threshold.value : -1;
        return left > 0 && left <= approach.value;
    });
}

bool is_close(const std::vector<port::Watermark>& watermarks, const Readings& readings) {
    const auto left = nearest(watermarks, readings);
    return left && *left <= approach;
}

std::optional<Bytes> nearest(const std::vector<port::Watermark>& watermarks, const Readings& readings) {
    std::optional<Bytes> distance;
    for (const auto& line : watermarks) {
        const auto& reading = readings[static_cast<std::size_t>(line.signal)];
        if (reading) {
            const Bytes left{std::max<std::int64_t>(0, reading->available.value - line.threshold.value)};
            distance = distance ? std::min(*distance, left) : left;
        }
    }
    return distance;
}

std::optional<Bytes> next_below(const std::vector<port::Watermark>& watermarks, const Readings& readings) {
    std::vector<port::Watermark> ahead;
    std::copy_if(watermarks.begin(), watermarks.end(), std::back_inserter(ahead), [&](const port::Watermark& line) {
        const auto& reading = readings[static_cast<std::size_t>(line.signal)];
        return reading && reading->available.value >= line.threshold.value;
    });
    return nearest(ahead, readings);
}

}  // namespace evictd::app
