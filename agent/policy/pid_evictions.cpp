// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "pid_evictions.hpp"

#include <algorithm>

#include "moments.hpp"
#include "thresholds.hpp"

namespace evictd::policy {
namespace {

using namespace std::chrono_literals;

// A runtime's shim, and the kernel at the end of a PID namespace, take milliseconds. Another init waits for thousands
// in a second.
constexpr Duration reaped_soon = 1s;
constexpr Duration longest_reaping = 10s;
// Often enough to see that no task is left before the cgroup is removed: afterwards they cannot be counted.
constexpr Duration look_for_reaping = 100ms;
// By how many tasks others may grow while evictions wait: a quarter of the threshold's quantity, and at least these.
constexpr std::int64_t growth_of_bystanders = 64;

const ObservedVictim* find(const Reaping& one, const Observation& observation) {
    const auto seen = std::find_if(
        observation.victims.begin(), observation.victims.end(),
        [&](const ObservedVictim& victim) { return victim.pod == one.pod && victim.cgroup == one.cgroup; });
    return seen == observation.victims.end() ? nullptr : &*seen;
}

// What is available when all of them are reaped; none: of some it is not known how many they are.
std::optional<Amount> once_reaped(Amount available, const std::vector<Reaping>& reaping) {
    constexpr Int128 most = std::int64_t{1} << 62;  // a forged tape may name any numbers
    Int128 sum = available.value;
    for (const auto& one : reaping) {
        if (!one.tasks) return std::nullopt;
        sum += *one.tasks;
    }
    return Amount{static_cast<std::int64_t>(std::clamp(sum, -most, most))};
}

// As long as some cannot be counted, what was counted last overstates what they hold: growth is understated.
bool others_grew(Amount now, std::int64_t quantity, const State& state) {
    if (!state.available_once_reaped) return false;
    const Int128 growth = static_cast<Int128>(state.available_once_reaped->value) - now.value;
    return growth > std::max(quantity / 4, growth_of_bystanders);
}

bool is_short_of_pids(const EvictionConfig& config, const Readings& readings) {
    return std::any_of(config.thresholds.begin(), config.thresholds.end(), [&](const Threshold& threshold) {
        return threshold.signal == Signal::pid_available && is_met(threshold, readings, MinReclaim::ignored);
    });
}

}  // namespace

bool is_for_pids(const Eviction& eviction) {
    return !eviction.broken_limit && !eviction.stall && eviction.threshold.threshold.signal == Signal::pid_available;
}

bool are_tasks_followed(const ObservedVictim& victim, const State& state) {
    const auto in_flight = [&](const InFlight& one) {
        return is_for_pids(one.victim.eviction) && one.victim.pod == victim.pod && one.cgroup == victim.cgroup;
    };
    const auto reaping = [&](const Reaping& one) { return one.pod == victim.pod && one.cgroup == victim.cgroup; };
    return std::any_of(state.in_flight.begin(), state.in_flight.end(), in_flight) ||
           std::any_of(state.reaping.begin(), state.reaping.end(), reaping);
}

void begin_reaping(const InFlight& flight, const ObservedVictim& seen, State& state) {
    if (!is_for_pids(flight.victim.eviction) || seen.tasks == 0) return;
    std::erase_if(state.reaping, [&](const Reaping& one) { return one.pod == flight.victim.pod; });
    state.reaping.push_back({flight.victim.pod, flight.cgroup, flight.victim.emptied_at, seen.tasks});
    state.available_once_reaped.reset();
}

void follow_reaping(const EvictionConfig& config, const Observation& observation, State& state) {
    const bool is_short = is_short_of_pids(config, observation.readings);
    bool left_unreaped = false;
    std::erase_if(state.reaping, [&](Reaping& one) {
        const auto* const seen = find(one, observation);
        const bool counted = seen != nullptr && seen->tasks;
        if (counted) one.tasks = std::min(one.tasks.value_or(*seen->tasks), *seen->tasks);
        const bool removed = seen == nullptr || seen->removed;
        const Duration patience = one.tasks ? longest_reaping : reaped_soon;
        if (one.tasks == 0) return true;
        const bool ends = (removed && !is_short) || observation.at >= after(one.emptied_at, patience);
        left_unreaped = left_unreaped || ends;
        return ends;
    });
    auto& baseline = state.available_once_reaped;
    if (left_unreaped || state.reaping.empty()) baseline.reset();
    const auto& reading = observation.readings[static_cast<std::size_t>(Signal::pid_available)];
    if (!baseline && !state.reaping.empty() && reading) baseline = once_reaped(reading->available, state.reaping);
}

std::optional<MonotonicTime> next_reaping_clock(const State& state, MonotonicTime now) {
    if (state.reaping.empty()) return std::nullopt;
    return after(now, look_for_reaping);
}

bool waits_for_reaping(const MetThreshold& met, const State& state) {
    if (state.reaping.empty()) return false;
    const auto with_them = once_reaped(met.available, state.reaping);
    if (!with_them) return true;
    return with_them->value >= met.quantity.value && !others_grew(*with_them, met.quantity.value, state);
}

std::string say_reaping(const Observation& observation) {
    std::int64_t tasks = 0;
    for (const auto& victim : observation.victims) tasks += victim.tasks.value_or(0);
    const std::string left = tasks > 0 ? std::to_string(tasks) + " tasks" : "tasks";
    return left + " of the last evicted pod have ended and still count, because nothing has waited for them yet";
}

}  // namespace evictd::policy
