// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "trends.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "thresholds.hpp"

namespace evictd::policy {
namespace {

// Half of it, and a page cache that comes and goes in bursts looks like growth; double it, and a node that is full in
// two seconds is seen to be filling when half of them are over.
constexpr Duration interval = std::chrono::milliseconds(100);
constexpr std::int32_t fewest_intervals = 3;

// Through doubles: whatever stands on a tape, nothing overflows.
std::int32_t units_per_second(std::int64_t before, std::int64_t now, Duration over, std::int64_t unit) {
    const double units = (static_cast<double>(now) - static_cast<double>(before)) / static_cast<double>(unit);
    const double rate = units / std::chrono::duration<double>(over).count();
    using Limits = std::numeric_limits<std::int32_t>;
    return static_cast<std::int32_t>(
        std::clamp(rate, static_cast<double>(Limits::min()), static_cast<double>(Limits::max())));
}

std::size_t known(const Trend& trend) {
    return static_cast<std::size_t>(
        std::clamp<std::int32_t>(trend.intervals, 0, static_cast<std::int32_t>(trend.rates.size())));
}

// The old ones stand in the order of the pods, nearly the same as now: the next is mostly where one looks first.
class OldPods {
public:
    explicit OldPods(const std::vector<PodTrend>& pods) : pods_(pods) {}
    const PodTrend* find(CgroupId cgroup) {
        if (next_ < pods_.size() && pods_[next_].cgroup == cgroup) return &pods_[next_++];
        const auto found =
            std::find_if(pods_.begin(), pods_.end(), [&](const PodTrend& pod) { return pod.cgroup == cgroup; });
        if (found == pods_.end()) return nullptr;
        next_ = static_cast<std::size_t>(found - pods_.begin()) + 1;
        return &*found;
    }

private:
    const std::vector<PodTrend>& pods_;
    std::size_t next_ = 0;
};

// A pod that is new does not wait for the interval's end, which may be seconds away: within it, it is taken to have
// grown for longer than it is known, so for less a second than it did.
Trends with_new_pods(Trends trends, const Observation& observation) {
    OldPods old_pods(trends.pods);
    std::vector<PodTrend> fresh;
    for (const auto& pod : observation.pods) {
        if (!pod.usage || pod.cgroup == CgroupId{} || old_pods.find(pod.cgroup) != nullptr) continue;
        fresh.push_back({pod.cgroup, Trend{pod.usage->working_set.value, {}, 0}});
    }
    trends.pods.insert(trends.pods.end(), fresh.begin(), fresh.end());
    return trends;
}

}  // namespace

Trend extended(Trend trend, std::int64_t now, Duration over, std::int64_t unit) {
    std::size_t count = known(trend);
    if (count == trend.rates.size()) {
        std::rotate(trend.rates.begin(), trend.rates.begin() + 1, trend.rates.end());
        --count;
    }
    trend.rates.at(count) = units_per_second(trend.value, now, over, unit);
    trend.intervals = static_cast<std::int32_t>(count + 1);
    trend.value = now;
    return trend;
}

Trends follow(const Trends& before, const Observation& observation, bool anew) {
    const bool begin = anew || !before.since || observation.at < *before.since;
    const Duration over = begin ? Duration::zero() : observation.at - *before.since;
    if (!begin && over < interval) return with_new_pods(before, observation);
    Trends now;
    now.since = observation.at;
    const auto next = [&](const Trend* old, std::int64_t value) {
        return begin || old == nullptr ? Trend{value, {}, 0} : extended(*old, value, over);
    };
    for (const auto signal : memory_signals) {
        const auto index = *trend_index(signal);
        const auto& reading = observation.readings[static_cast<std::size_t>(signal)];
        const auto& old = before.available.at(index);
        if (reading) now.available.at(index) = next(old ? &*old : nullptr, reading->available.value);
    }
    OldPods old_pods(before.pods);
    now.pods.reserve(observation.pods.size());
    for (const auto& pod : observation.pods) {
        if (!pod.usage || pod.cgroup == CgroupId{}) continue;
        const auto* old = old_pods.find(pod.cgroup);
        now.pods.push_back(
            {pod.cgroup, next(old == nullptr ? nullptr : &old->working_set, pod.usage->working_set.value)});
    }
    return now;
}

std::optional<double> rate_of(const Trend& trend, std::int64_t unit) {
    const std::size_t count = known(trend);
    if (count < static_cast<std::size_t>(fewest_intervals)) return std::nullopt;
    auto rates = trend.rates;
    std::sort(rates.begin(), rates.begin() + static_cast<std::ptrdiff_t>(count));
    const double median = (static_cast<double>(rates.at(count / 2)) + rates.at((count - 1) / 2)) / 2;
    const double mean = std::accumulate(rates.begin(), rates.begin() + static_cast<std::ptrdiff_t>(count), 0.0) /
                        static_cast<double>(count);
    if (median * mean <= 0) return 0.0;
    return static_cast<double>(unit) * (std::abs(median) < std::abs(mean) ? median : mean);
}

}  // namespace evictd::policy
