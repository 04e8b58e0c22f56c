// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "exhaustion.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "disk_evictions.hpp"
#include "disk_trends.hpp"
#include "thresholds.hpp"
#include "trends.hpp"

namespace evictd::policy {
namespace {

using namespace std::chrono_literals;
using Seconds = std::chrono::duration<double>;

// How often a threshold in time is looked at within its time.
constexpr int looks_within = 20;

// Bytes a second that the signal loses; none: it does not fall, or nothing is known.
std::optional<double> memory_fall(Signal signal, const Trends& trends) {
    const auto& trend = trends.available.at(*trend_index(signal));
    const auto rate = trend ? rate_of(*trend) : std::nullopt;
    return rate && *rate < 0 ? std::optional(-*rate) : std::nullopt;
}

std::optional<double> lost_per_second(Signal signal, const State& state) {
    if (!is_on_disk(signal)) return memory_fall(signal, state.trends);
    const auto fall = fall_of(signal, state.disk_trends);
    return fall ? std::optional(static_cast<double>(*fall)) : std::nullopt;
}

std::int64_t whole(double value) {
    constexpr double most = 9e18;  // below what an int64 holds
    return static_cast<std::int64_t>(std::clamp(value, 0.0, most));
}

// Whose growth it is: of what all pods grew by, or of what was lost, if that is more.
void name_grower(const Trends& trends, const Observation& observation, double fall, Exhaustion& result) {
    double sum = 0;
    double most = 0;
    CgroupId grower;
    for (const auto& pod : trends.pods) {
        const double rate = std::max(0.0, rate_of(pod.working_set).value_or(0));
        sum += rate;
        if (rate <= most) continue;
        most = rate;
        grower = pod.cgroup;
    }
    const auto found = std::find_if(observation.pods.begin(), observation.pods.end(),
                                    [&](const ObservedPod& pod) { return pod.cgroup == grower; });
    if (most <= 0 || found == observation.pods.end() || !found->pod) return;
    result.pod = found->pod->uid;
    result.share_percent = static_cast<std::int32_t>(std::lround(100 * most / std::max(sum, fall)));
}

struct TimeSetting {
    Duration time;
    Duration grace_period;
};
TimeSetting time_setting(Signal signal, const EvictionConfig& config) {
    return is_on_disk(signal) ? TimeSetting{config.disk_time_to_exhaustion, config.disk_time_to_exhaustion_grace_period}
                              : TimeSetting{config.time_to_exhaustion, config.time_to_exhaustion_grace_period};
}

// The pods' own cgroup has a limit to run into only where thresholds are set on it, and a filesystem is of interest
// only where they are.
bool has_time_threshold(Signal signal, const EvictionConfig& config) {
    if (!is_memory(signal) && !is_on_disk(signal)) return false;
    if (time_setting(signal, config).time <= Duration::zero()) return false;
    return signal == Signal::memory_available ||
           std::any_of(config.thresholds.begin(), config.thresholds.end(),
                       [&](const Threshold& threshold) { return threshold.signal == signal; });
}

Threshold time_threshold(Signal signal, const EvictionConfig& config, std::int64_t amount) {
    const auto [time, grace_period] = time_setting(signal, config);
    Threshold threshold;
    threshold.signal = signal;
    threshold.value.value = Quantity::of(amount, format_of(signal));
    threshold.grace_period = grace_period;
    threshold.time_left = time;
    return threshold;
}

std::vector<Signal> signals_with_time_thresholds(const EvictionConfig& config) {
    std::vector<Signal> signals;
    for (const auto& row : signal_table) {
        if (has_time_threshold(row.signal, config)) signals.push_back(row.signal);
    }
    return signals;
}

}  // namespace

std::optional<Exhaustion> exhaustion(const Trends& trends, const Observation& observation) {
    std::optional<Exhaustion> first;
    double fall_of_first = 0;
    for (const auto signal : memory_signals) {
        const auto& reading = observation.readings[static_cast<std::size_t>(signal)];
        const auto fall = memory_fall(signal, trends);
        if (!reading || !fall) continue;
        const double left = static_cast<double>(std::max<std::int64_t>(0, reading->available.value)) / *fall;
        if (left > Seconds(trend_horizon).count()) continue;
        const auto duration = std::chrono::duration_cast<Duration>(Seconds(left));
        if (first && first->left <= duration) continue;
        first = Exhaustion{signal, duration, {whole(*fall)}, {}, 0};
        fall_of_first = *fall;
    }
    if (first) name_grower(trends, observation, fall_of_first, *first);
    return first;
}

void add_time_thresholds(EvictionConfig& config, const State& state, const Readings& readings) {
    for (const auto signal : signals_with_time_thresholds(config)) {
        if (!readings[static_cast<std::size_t>(signal)]) continue;
        const auto fall = lost_per_second(signal, state);
        if (!fall) continue;
        const double seconds = Seconds(time_setting(signal, config).time).count();
        config.thresholds.push_back(time_threshold(signal, config, whole(*fall * seconds)));
    }
}

std::vector<Threshold> time_thresholds(const EvictionConfig& config) {
    std::vector<Threshold> thresholds;
    for (const auto signal : signals_with_time_thresholds(config)) {
        thresholds.push_back(time_threshold(signal, config, 0));
    }
    return thresholds;
}

bool is_disk_time_met(const std::vector<FirstObserved>& met) {
    return std::any_of(met.begin(), met.end(), [](const FirstObserved& entry) {
        return entry.threshold.time_left > Duration::zero() && is_on_disk(entry.threshold.signal);
    });
}

std::optional<Duration> look_for_disk_time(const EvictionConfig& config) {
    const auto signals = signals_with_time_thresholds(config);
    if (std::none_of(signals.begin(), signals.end(), is_on_disk)) return std::nullopt;
    return std::clamp<Duration>(config.disk_time_to_exhaustion / looks_within, disk_interval, 10s);
}

// A tenth less than from look to look, because a reading may come a little sooner than the last one did.
Duration interval_of_disks(const EvictionConfig& config) {
    const auto looks = look_for_disk_time(config);
    return looks ? *looks / 10 * 9 : disk_interval;
}

std::optional<Duration> look_for_trends(const EvictionConfig& config) {
    const auto disks = look_for_disk_time(config);
    if (config.time_to_exhaustion <= Duration::zero()) return disks;
    const auto memory = std::clamp<Duration>(config.time_to_exhaustion / looks_within, 100ms, 1s);
    return disks ? std::min(memory, *disks) : memory;
}

}  // namespace evictd::policy
