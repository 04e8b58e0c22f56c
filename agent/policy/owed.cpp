// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What came back is read from the victim's own cgroup; where that cannot be measured, from the node's available memory.
#include "owed.hpp"

#include <algorithm>

#include "evictd/model/text.hpp"
#include "flight.hpp"
#include "moments.hpp"
#include "thresholds.hpp"
#include "trends.hpp"

namespace evictd::policy {
namespace {

using namespace std::chrono_literals;

// Less is what the kernel keeps in per-CPU lists, and no sign that memory still comes.
constexpr Bytes least_return = 1_MiB;
// A daemon that grows by a page is no new pressure: available memory has to fall by a sixteenth. And by more than what
// the kernel's per-CPU counters and pods that live tremble by, but where half of what is left is less than that.
constexpr std::int64_t further_fall = 16;
constexpr Bytes tremble = 4_MiB;
// Reported at a time. Older ones are forgotten first.
constexpr std::size_t most_owing = 32;
// Just after an event memory comes back, or is taken, within milliseconds.
constexpr Duration lively = 100ms;
constexpr Duration look_while_lively = 5ms;
constexpr Duration look_while_returning = 20ms;
constexpr Duration look_while_overdue = 100ms;

using Available = std::array<std::optional<Amount>, 2>;

// The lower of both, where both are known.
Available lower(const Available& a, const Available& b) {
    Available lowest = a;
    for (std::size_t i = 0; i < lowest.size(); ++i) {
        if (b[i] && (!lowest[i] || *b[i] < *lowest[i])) lowest[i] = b[i];
    }
    return lowest;
}

const ObservedVictim* find_seen(const Observation& observation, const Owing& owing) {
    const auto seen = std::find_if(observation.victims.begin(), observation.victims.end(), [&](const auto& one) {
        return one.pod == owing.victim.pod && one.cgroup == owing.cgroup;
    });
    return seen == observation.victims.end() ? nullptr : &*seen;
}

Signal signal_of(const Owing& owing) { return owing.victim.eviction.threshold.threshold.signal; }

// What is missing of it, by the signal that it was evicted for.
std::optional<Bytes> missing_from_node(const Owing& owing, const Observation& observation) {
    const auto at_kill = trend_index(signal_of(owing)).value_or(0);
    const Available now = available_memory(observation.readings);
    if (!owing.victim.usage || !owing.available[at_kill] || !now[at_kill]) return std::nullopt;
    const Bytes back{now[at_kill]->value - owing.available[at_kill]->value};
    return std::max(Bytes{0}, *owing.victim.usage - std::max(Bytes{0}, back));
}

std::optional<Bytes> missing(const Owing& owing, const ObservedVictim& seen, const Observation& observation) {
    if (seen.held && seen.populated != true) return seen.held;
    return missing_from_node(owing, observation);
}

bool is_tolerated(const Owing& owing) {
    if (!owing.left) return false;
    const std::int64_t share = owing.victim.usage.value_or(Bytes{0}).value / tolerated_share;
    return *owing.left <= std::max(tolerated, Bytes{share});
}

bool pressure_is_over(const State& state) {
    return std::find(state.conditions.begin(), state.conditions.end(), Condition::memory_pressure) ==
           state.conditions.end();
}

bool has_fallen(std::int64_t then, std::int64_t now) {
    return then - now > std::max(then / further_fall, std::min(then / 2, tremble.value));
}

MonotonicTime slow_end(const Owing& owing) { return after(owing.victim.emptied_at, slow_pace); }

void note_return(const ObservedVictim& seen, const Observation& observation, Owing& owing) {
    const auto left = missing(owing, seen, observation);
    if (!left) return;
    if (!owing.left || *left + least_return <= *owing.left) {
        owing.left = left;
        owing.returned_at = observation.at;
    } else if (owing.overdue) {
        owing.left = std::min(*owing.left, *left);
    }
}

// Whether `owing` is no longer followed.
bool is_over(const EvictionConfig& config, const Observation& observation, const State& state, Owing& owing) {
    const ObservedVictim* seen = find_seen(observation, owing);
    if (seen == nullptr) return true;
    const bool lives_again = seen->populated == true;  // what its cgroup holds says nothing of the victim any more
    const bool measured = seen->held && !lives_again;
    note_return(*seen, observation, owing);
    if (owing.left && *owing.left < least_return) return true;
    if (owing.overdue) {
        if (measured) return is_tolerated(owing) && !would_relieve(*owing.left, config, observation.readings);
        return observation.at >= slow_end(owing) && (lives_again || pressure_is_over(state));
    }
    const auto give_up = after(owing.victim.kill_at, pod_cleanup_timeout);
    if (observation.at < std::min(after(owing.returned_at, settle_period), give_up)) return false;
    owing.overdue = !is_tolerated(owing) || would_relieve(*owing.left, config, observation.readings);
    return !owing.overdue;
}

void add(Owing owing, State& state) {
    // What counts from now on is what was available when the last pod was evicted.
    for (auto& other : state.owing) other.available = lower(other.available, owing.available);
    if (state.owing.size() >= most_owing) state.owing.erase(state.owing.begin());
    state.owing.push_back(std::move(owing));
}

}  // namespace

Available available_memory(const Readings& readings) {
    Available available;
    for (std::size_t i = 0; i < memory_signals.size(); ++i) {
        const auto& reading = readings[static_cast<std::size_t>(memory_signals[i])];
        if (reading) available[i] = reading->available;
    }
    return available;
}

void begin_owing(const InFlight& flight, const ObservedVictim& seen, const Observation& observation, State& state) {
    Owing owing{.victim = flight.victim, .cgroup = flight.cgroup, .returned_at = observation.at};
    owing.available = lower(flight.available, available_memory(observation.readings));
    owing.left = missing(owing, seen, observation);
    add(std::move(owing), state);
}

void owe_without_processes(const ObservedPod& observed, const MetThreshold& threshold, const Observation& observation,
                           State& state) {
    Owing owing{.cgroup = observed.cgroup, .returned_at = observation.at, .overdue = true};
    owing.victim.pod = observed.pod->uid;
    owing.victim.pod_name = observed.pod->full_name();
    owing.victim.eviction.threshold = threshold;
    owing.victim.cause = observation.cause;
    owing.victim.emptied_at = observation.at;
    if (observed.usage) owing.victim.usage = owing.left = observed.usage->working_set;
    owing.available = available_memory(observation.readings);
    add(std::move(owing), state);
}

void follow_owing(const EvictionConfig& config, const Observation& observation, State& state) {
    std::erase_if(state.owing, [&](Owing& owing) { return is_over(config, observation, state, owing); });
}

bool is_returning(const State& state) {
    return std::any_of(state.owing.begin(), state.owing.end(), [](const Owing& owing) { return !owing.overdue; });
}

std::optional<MonotonicTime> slow_until(const State& state, const Observation& observation,
                                        std::optional<Signal> signal) {
    std::optional<MonotonicTime> until;
    const Available available = available_memory(observation.readings);
    for (const auto& owing : state.owing) {
        if (!owing.overdue) continue;
        const auto i = trend_index(signal.value_or(signal_of(owing))).value_or(0);
        const auto &now = available.at(i), &then = owing.available.at(i);
        if (now && then && has_fallen(then->value, now->value)) return std::nullopt;
        until = std::max(until, std::optional(slow_end(owing)));
    }
    // Others that gave theirs back did not end the pressure either.
    if (until && state.relieved_at) until = std::max(*until, after(*state.relieved_at, slow_pace));
    return until && *until > observation.at ? until : std::nullopt;
}

bool holds_memory_alone(const ObservedPod& observed) {
    return !observed.populated && observed.usage && observed.usage->working_set > tolerated;
}

bool is_overdue(const ObservedPod& observed, const State& state) {
    return std::any_of(state.owing.begin(), state.owing.end(), [&](const Owing& owing) {
        return owing.victim.pod == observed.pod->uid && owing.cgroup == observed.cgroup;
    });
}

std::vector<OwedMemory> owed_memory(const State& before, const State& state) {
    std::vector<OwedMemory> owed;
    owed.reserve(state.owing.size());
    for (const auto& owing : state.owing) {
        const bool told = std::any_of(before.owing.begin(), before.owing.end(), [&](const Owing& known) {
            return known.overdue && known.victim.pod == owing.victim.pod && known.cgroup == owing.cgroup;
        });
        const Victim& victim = owing.victim;
        owed.push_back({.pod = victim.pod,
                        .pod_name = victim.pod_name,
                        .cgroup = owing.cgroup,
                        .cause = victim.cause,
                        .evicted = victim.kill_at != MonotonicTime{},
                        .owed = victim.usage,
                        .left = owing.left,
                        .since = victim.emptied_at,
                        .overdue = owing.overdue,
                        .fresh = owing.overdue && !told});
    }
    return owed;
}

std::optional<MonotonicTime> next_owing_clock(const State& state, MonotonicTime now) {
    std::optional<MonotonicTime> next;
    for (const auto& owing : state.owing) {
        if (owing.overdue && now >= slow_end(owing)) continue;
        const bool just = now - owing.victim.emptied_at < lively;
        const Duration soon = just ? look_while_lively : owing.overdue ? look_while_overdue : look_while_returning;
        MonotonicTime due = after(now, soon);
        if (!owing.overdue) due = std::min(due, std::max(after(owing.returned_at, settle_period), after(now, 1ms)));
        next = next ? std::min(*next, due) : due;
    }
    return next;
}

std::string say_owed(const OwedMemory& owed) {
    const std::string left = owed.left ? bytes_text(owed.left->value) : std::string("an unknown part");
    if (!owed.evicted) return owed.pod_name + " has no process left and holds " + left + " that no kill returns";
    return left + " of what " + owed.pod_name + " held " +
           (owed.overdue ? "were not returned" : "are not returned yet");
}

}  // namespace evictd::policy
