// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "disk_trends.hpp"

#include <algorithm>
#include <cmath>

#include "disk_evictions.hpp"
#include "thresholds.hpp"
#include "trends.hpp"

namespace evictd::policy {
namespace {

using namespace std::chrono_literals;
using Seconds = std::chrono::duration<double>;

// Looks where only disks are short are no more frequent.
constexpr Duration shortest_look = 1s;

std::int64_t unit_of(Signal signal) { return traits(signal).resource == "inodes" ? 1 : Trend::kib; }

const DiskTrend* find(const std::vector<DiskTrend>& trends, Signal signal) {
    const auto found =
        std::find_if(trends.begin(), trends.end(), [&](const DiskTrend& trend) { return trend.signal == signal; });
    return found == trends.end() ? nullptr : &*found;
}

// A scenario's readings have no time: they are of the look.
MonotonicTime read_at(const Reading& reading, const Observation& observation) {
    return reading.at == MonotonicTime{} ? observation.at : reading.at;
}

bool goes_on(const DiskTrend& before, const Reading& reading, MonotonicTime at) {
    return reading.capacity.value == before.capacity.value && at >= before.since &&
           reading.available.value <= before.available.value;
}

DiskTrend with_reading(const DiskTrend& before, const Reading& reading, MonotonicTime at, Duration interval) {
    const Duration over = at - before.since;
    if (over < interval) return before;
    DiskTrend now = before;
    now.since = at;
    now.available = extended(before.available, reading.available.value, over, unit_of(before.signal));
    return now;
}

// None: the signal has no threshold.
std::optional<std::int64_t> next_line(const EvictionConfig& config, Signal signal, const Reading& reading) {
    std::optional<std::int64_t> line;
    for (const auto& threshold : config.thresholds) {
        if (threshold.signal != signal) continue;
        const auto value = quantity_of(threshold.value, reading.capacity).value;
        line = std::max(line.value_or(0), value <= reading.available.value ? value : 0);
    }
    return line;
}

}  // namespace

std::vector<DiskTrend> follow_disks(const std::vector<DiskTrend>& before, const Observation& observation,
                                    Duration interval, bool anew) {
    std::vector<DiskTrend> now;
    for (const auto& [signal, name, condition, resource] : signal_table) {
        const auto& reading = observation.readings[static_cast<std::size_t>(signal)];
        if (!is_on_disk(signal) || !reading) continue;
        const auto at = read_at(*reading, observation);
        const auto* const old = find(before, signal);
        now.push_back(!anew && old != nullptr && goes_on(*old, *reading, at)
                          ? with_reading(*old, *reading, at, interval)
                          : DiskTrend{signal, at, reading->capacity, Trend{reading->available.value, {}, 0}});
    }
    return now;
}

std::optional<std::int64_t> fall_of(Signal signal, const std::vector<DiskTrend>& trends) {
    const auto* const trend = find(trends, signal);
    const auto rate = trend == nullptr ? std::nullopt : rate_of(trend->available, unit_of(signal));
    if (!rate || *rate > -1) return std::nullopt;
    return static_cast<std::int64_t>(-*rate);
}

std::vector<DiskExhaustion> disk_exhaustion(const EvictionConfig& config, const std::vector<DiskTrend>& trends,
                                            const Observation& observation) {
    std::vector<DiskExhaustion> found;
    for (const auto& trend : trends) {
        const auto& reading = observation.readings[static_cast<std::size_t>(trend.signal)];
        const auto fall = fall_of(trend.signal, trends);
        if (!reading || !fall || reading->available.value <= 0) continue;
        const auto line = next_line(config, trend.signal, *reading);
        if (!line) continue;
        const double from_reading =
            (static_cast<double>(reading->available.value) - static_cast<double>(*line)) / static_cast<double>(*fall);
        // It has fallen on since the filesystem was asked.
        const double left = from_reading - Seconds(observation.at - read_at(*reading, observation)).count();
        if (left > Seconds(trend_horizon).count()) continue;
        const auto duration = std::chrono::duration_cast<Duration>(Seconds(std::max(0.0, left)));
        found.push_back({trend.signal, duration, {*line}, {*fall}});
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.left < b.left; });
    return found;
}

std::optional<Duration> look_for_disks(const std::vector<DiskExhaustion>& exhaustion) {
    if (exhaustion.empty()) return std::nullopt;
    return std::max<Duration>(exhaustion.front().left / 4, shortest_look);
}

}  // namespace evictd::policy
