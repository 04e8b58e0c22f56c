// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "exhaustion.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "trends.hpp"

namespace evictd::policy {
namespace {

using namespace std::chrono_literals;
using Seconds = std::chrono::duration<double>;

constexpr std::array memory_signals{Signal::memory_available, Signal::allocatable_memory_available};

// Bytes a second that the signal loses; none: it does not fall, or nothing is known.
std::optional<double> fall_of(Signal signal, const Trends& trends) {
    const auto& trend = trends.available.at(*trend_index(signal));
    const auto rate = trend ? rate_of(*trend) : std::nullopt;
    return rate && *rate < 0 ? std::optional(-*rate) : std::nullopt;
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

// The pods' own cgroup has a limit to run into only where thresholds are set on it.
bool has_time_threshold(Signal signal, const EvictionConfig& config) {
    if (config.time_to_exhaustion <= Duration::zero()) return false;
    return signal == Signal::memory_available ||
           std::any_of(config.thresholds.begin(), config.thresholds.end(),
                       [&](const Threshold& threshold) { return threshold.signal == signal; });
}

Threshold time_threshold(Signal signal, const EvictionConfig& config, std::int64_t bytes) {
    Threshold threshold;
    threshold.signal = signal;
    threshold.value.value = Quantity::of(bytes, Quantity::Format::binary_si);
    threshold.grace_period = config.time_to_exhaustion_grace_period;
    threshold.time_left = config.time_to_exhaustion;
    return threshold;
}

}  // namespace

std::optional<Exhaustion> exhaustion(const Trends& trends, const Observation& observation) {
    std::optional<Exhaustion> first;
    double fall_of_first = 0;
    for (const auto signal : memory_signals) {
        const auto& reading = observation.readings[static_cast<std::size_t>(signal)];
        const auto fall = fall_of(signal, trends);
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

void add_time_thresholds(EvictionConfig& config, const Trends& trends, const Readings& readings) {
    const double seconds = Seconds(config.time_to_exhaustion).count();
    for (const auto signal : memory_signals) {
        if (!has_time_threshold(signal, config) || !readings[static_cast<std::size_t>(signal)]) continue;
        if (const auto fall = fall_of(signal, trends)) {
            config.thresholds.push_back(time_threshold(signal, config, whole(*fall * seconds)));
        }
    }
}

std::vector<Threshold> time_thresholds(const EvictionConfig& config) {
    std::vector<Threshold> thresholds;
    for (const auto signal : memory_signals) {
        if (has_time_threshold(signal, config)) thresholds.push_back(time_threshold(signal, config, 0));
    }
    return thresholds;
}

std::optional<Duration> look_for_trends(const EvictionConfig& config) {
    if (config.time_to_exhaustion <= Duration::zero()) return std::nullopt;
    return std::clamp<Duration>(config.time_to_exhaustion / 20, 100ms, 1s);
}

}  // namespace evictd::policy
