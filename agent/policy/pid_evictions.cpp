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

const ObservedVictim* find(const Reaping& one, const Observation& observation) {
    const auto seen = std::find_if(
        observation.victims.begin(), observation.victims.end(),
        [&](const ObservedVictim& victim) { return victim.pod == one.pod && victim.cgroup == one.cgroup; });
    return seen == observation.victims.end() ? nullptr : &*seen;
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
}

void follow_reaping(const EvictionConfig& config, const Observation& observation, State& state) {
    const bool is_short =
        std::any_of(config.thresholds.begin(), config.thresholds.end(), [&](const Threshold& threshold) {
            return threshold.signal == Signal::pid_available &&
                   is_met(threshold, observation.readings, MinReclaim::ignored);
        });
    std::erase_if(state.reaping, [&](Reaping& one) {
        const auto* const seen = find(one, observation);
        const bool counted = seen != nullptr && seen->tasks;
        if (counted) one.tasks = std::min(one.tasks.value_or(*seen->tasks), *seen->tasks);
        const Duration patience = one.tasks ? longest_reaping : reaped_soon;
        return one.tasks == 0 || (!counted && !is_short) || observation.at >= after(one.emptied_at, patience);
    });
}

std::optional<MonotonicTime> next_reaping_clock(const State& state, MonotonicTime now) {
    if (state.reaping.empty()) return std::nullopt;
    return after(now, look_for_reaping);
}

bool waits_for_reaping(const MetThreshold& met, const State& state) {
    Amount with_them = met.available;
    for (const auto& one : state.reaping) {
        if (!one.tasks) return true;
        with_them.value += *one.tasks;
    }
    return !state.reaping.empty() && with_them.value >= met.quantity.value;
}

std::string say_reaping(const Observation& observation) {
    std::int64_t tasks = 0;
    for (const auto& victim : observation.victims) tasks += victim.tasks.value_or(0);
    const std::string left = tasks > 0 ? std::to_string(tasks) + " tasks" : "tasks";
    return left + " of the last evicted pod have ended and still count, because nothing has waited for them yet";
}

}  // namespace evictd::policy
