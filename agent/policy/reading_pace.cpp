// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reading_pace.hpp"

#include <algorithm>
#include <array>

#include "disk_trends.hpp"
#include "exhaustion.hpp"
#include "thresholds.hpp"

namespace evictd::policy {
namespace {

using namespace std::chrono_literals;

// A writer at full speed: page cache is written to a fast disk at some 2 GiB/s, and small files are made at some
// 200,000 a second. The kernel makes some 100,000 tasks a second, under one lock. Reading four times on the way to the
// threshold costs some microseconds.
constexpr std::int64_t bytes_per_ms = std::int64_t{2} << 20U;
constexpr std::int64_t inodes_per_ms = 200;
constexpr std::int64_t tasks_per_ms = 100;
constexpr std::int64_t read_on_the_way = 4;
// While a threshold is met: as often as there are looks.
constexpr Duration period_under_pressure = 100ms;
constexpr std::array steps{Duration(10s),   Duration(5s),    Duration(2s),   Duration(1s),   Duration(500ms),
                           Duration(200ms), Duration(100ms), Duration(50ms), Duration(20ms), Duration(10ms)};

Duration step_within(Duration longest) {
    const auto* const found = std::find_if(steps.begin(), steps.end(), [&](Duration step) { return step <= longest; });
    return found == steps.end() ? steps.back() : *found;
}

std::int64_t fastest(Signal signal) {
    const auto resource = traits(signal).resource;
    return resource == "pids" ? tasks_per_ms : resource == "inodes" ? inodes_per_ms : bytes_per_ms;
}

Duration pace_for(const Threshold& threshold, const Reading& reading, const std::vector<DiskTrend>& trends) {
    const std::int64_t line = quantity_of(threshold.value, reading.capacity).value;
    std::int64_t distance = 0;
    if (__builtin_sub_overflow(reading.available.value, line, &distance)) return steps.front();
    if (distance < 0) return period_under_pressure;
    const std::int64_t measured = fall_of(threshold.signal, trends).value_or(0) / 1000;
    const std::int64_t ms = distance / std::max(fastest(threshold.signal), measured) / read_on_the_way;
    return step_within(std::chrono::milliseconds(std::min<std::int64_t>(ms, 10'000)));
}

Duration pace_of(Condition condition, const EvictionConfig& config, const Readings& readings,
                 const std::vector<DiskTrend>& trends) {
    Duration pace{0};
    for (const auto& threshold : config.thresholds) {
        if (traits(threshold.signal).condition != condition) continue;
        const auto& reading = readings[static_cast<std::size_t>(threshold.signal)];
        const Duration wanted = reading ? pace_for(threshold, *reading, trends) : steps.front();
        pace = pace == Duration::zero() ? wanted : std::min(pace, wanted);
    }
    return pace;
}

}  // namespace

Duration filesystem_pace(const EvictionConfig& config, const Readings& readings, const std::vector<DiskTrend>& trends) {
    const Duration pace = pace_of(Condition::disk_pressure, config, readings, trends);
    const auto looks = look_for_disk_time(config);
    return looks ? std::min(pace, step_within(*looks)) : pace;
}

Duration pid_pace(const EvictionConfig& config, const Readings& readings) {
    return pace_of(Condition::pid_pressure, config, readings, {});
}

}  // namespace evictd::policy
