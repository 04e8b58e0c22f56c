// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "next_look.hpp"

#include <algorithm>

#include "arrivals.hpp"
#include "disk_evictions.hpp"
#include "disk_trends.hpp"
#include "ended_pods.hpp"
#include "exhaustion.hpp"
#include "flight.hpp"
#include "garbage_pass.hpp"
#include "ladder.hpp"
#include "moments.hpp"
#include "node_status.hpp"
#include "owed.hpp"
#include "pid_evictions.hpp"
#include "removals.hpp"
#include "stall_lines.hpp"
#include "watch.hpp"
#include "watermarks.hpp"

namespace evictd::policy {
namespace {

using namespace std::chrono_literals;

// The kernel reports a crossing, our own look a moment later finds none: the value is flapping. Look again before it
// can move far (a hog at full speed takes 10 MiB in that time). With a pod that is counted as a whole our own look
// makes the kernel add up its counters, which the timer then sees too: it is as rare as under pressure.
constexpr Duration look_when_disputed = 5ms;
// A threshold stays met and no event is due: no pod could be evicted, or it was not enough. The kubelet waits 10 s
// here.
constexpr Duration look_under_pressure = 100ms;
// Where only disks are short: what is removed and what filesystems have are reported as they come.
constexpr Duration look_under_disk_pressure = 1s;
// A crossing was reported, and the look for it could not read its signal: out of descriptors, as a rule.
constexpr Duration look_without_signal = 100ms;
// A victim may have ended before the kernel was asked to report exits.
constexpr Duration look_after_asking = 5ms;

class Earliest {
public:
    void add(MonotonicTime at, NextLookReason why) {
        if (!clock_ || at < clock_->at) clock_ = Clock{at, why};
    }
    [[nodiscard]] const std::optional<Clock>& clock() const { return clock_; }

private:
    std::optional<Clock> clock_;
};

bool disputed(const Observation& observation) {
    for (std::size_t i = 0; i < signal_count; ++i) {
        const auto& crossed = observation.watching.crossed[i];
        const auto& reading = observation.readings[i];
        if (crossed && reading && reading->available.value >= crossed->value) return true;
    }
    return false;
}

bool unread(const Observation& observation) {
    for (std::size_t i = 0; i < signal_count; ++i) {
        if (observation.watching.crossed[i] && !observation.readings[i]) return true;
    }
    return false;
}

bool is_only_on_disk(const Decision& decision) {
    const auto on_disk = [](const MetThreshold& met) { return is_on_disk(met.threshold.signal); };
    return decision.stalls_met.empty() && decision.stalls_pending.empty() &&
           std::all_of(decision.thresholds_met.begin(), decision.thresholds_met.end(), on_disk) &&
           std::all_of(decision.thresholds_pending.begin(), decision.thresholds_pending.end(), on_disk);
}

// By when memory that shrinks at full speed may reach the next line. A victim exits at any moment.
Duration timed(const TimedLooks& looks, const EvictionConfig& config, const Observation& observation,
               const Decision& decision) {
    const auto& readings = observation.readings;
    const auto& lines = decision.watch.lines;
    const auto distance =
        lines ? nearest(*lines, readings) : nearest(watermarks_for(config.thresholds, readings), readings);
    const auto per_ms = looks.growth_per_second.value / 1000;
    if (!distance || !decision.in_flight.empty() || per_ms <= 0) return looks.shortest;
    const auto longest = std::chrono::duration_cast<std::chrono::milliseconds>(looks.longest);
    return std::max<Duration>(looks.shortest, std::min(longest, std::chrono::milliseconds(distance->value / per_ms)));
}

}  // namespace

std::optional<Clock> next_clock(const EvictionConfig& config, const Decision& decision, const State& state,
                                const StepClocks& steps, const Observation& observation) {
    const auto now = observation.at;
    Earliest next;
    const auto consider = [&](MonotonicTime time, NextLookReason why) {
        if (time > now) next.add(time, why);
    };
    if (steps.stall) consider(*steps.stall, NextLookReason::stall_grace);
    for (const auto& met : decision.thresholds_pending) {
        consider(after(met.first_observed_at, met.threshold.grace_period), NextLookReason::threshold_grace);
    }
    for (const auto& flight : state.in_flight) {
        if (!flight.kill_sent) consider(flight.victim.kill_at, NextLookReason::termination_grace);
        if (flight.retry_at != MonotonicTime{}) consider(flight.retry_at, NextLookReason::retry);
        consider(hold_until(flight), NextLookReason::victim_timeout);
    }
    for (const Condition condition : decision.conditions) {
        const auto last = *state.condition_last_observed[static_cast<std::size_t>(condition)];
        // Observed right now, its end is not in sight.
        if (last != now) consider(after(last, config.pressure_transition_period), NextLookReason::transition_period);
    }
    if (const auto until = stall_pressure_until(config, state); until && state.node_stall_last_observed != now) {
        consider(*until, NextLookReason::transition_period);
    }
    if (const auto clock = next_owing_clock(state, now)) consider(*clock, NextLookReason::owed_memory);
    if (const auto period = look_for_trends(config)) consider(after(now, *period), NextLookReason::trend);
    if (const auto soon = look_for_disks(decision.disk_exhaustion)) consider(after(now, *soon), NextLookReason::trend);
    if (const auto clock = next_ladder_clock(state.ladder, now)) consider(*clock, NextLookReason::ladder);
    if (const auto clock = next_ended_clock(state, observation)) consider(*clock, NextLookReason::pod_status);
    if (const auto clock = next_arrival_clock(config, state, observation)) consider(*clock, NextLookReason::arrival);
    if (const auto clock = next_removal_clock(config, state, observation)) consider(*clock, NextLookReason::removal);
    if (const auto clock = next_freeing_clock(state)) consider(*clock, NextLookReason::victim_timeout);
    if (const auto clock = next_reaping_clock(state, now)) next.add(*clock, NextLookReason::unreaped_tasks);
    if (const auto clock = next_garbage_clock(state, now)) next.add(*clock, NextLookReason::reclaim);
    if (steps.awaited) next.add(*steps.awaited, NextLookReason::awaited);
    return next.clock();
}

NextLook next_look(const EvictionConfig& config, const Observation& observation, const Decision& decision,
                   const std::optional<Clock>& clock) {
    const auto now = observation.at;
    const auto& watching = observation.watching;
    Earliest fixed;
    fixed.add(after(now, config.look_period), NextLookReason::period);
    if (const auto soon = look_for_stalls(config, watching.stalls)) {
        fixed.add(after(now, *soon), NextLookReason::unreported_stalls);
    }
    if (watching.list_again_at) fixed.add(std::max(*watching.list_again_at, now), NextLookReason::listing);
    if (watching.claim_again_at) fixed.add(std::max(*watching.claim_again_at, now), NextLookReason::claim);
    if (decision.watch.exits && !watching.exits && under_pressure(decision)) {
        fixed.add(after(now, look_after_asking), NextLookReason::exits_requested);
    }
    Earliest next = fixed;
    if (clock) next.add(clock->at, clock->why);
    if (watching.timed) {
        next.add(after(now, timed(*watching.timed, config, observation, decision)),
                 NextLookReason::unreported_crossings);
        return {next.clock()->at, next.clock()->why, fixed.clock()->at};
    }
    if (disputed(observation)) {
        next.add(after(now, watching.counts_whole ? look_under_pressure : look_when_disputed),
                 NextLookReason::disputed_crossing);
    }
    if (unread(observation)) next.add(after(now, look_without_signal), NextLookReason::unread_signal);
    if (is_met_or_pending(decision)) {
        const auto soon = is_only_on_disk(decision) ? look_under_disk_pressure : look_under_pressure;
        next.add(after(now, soon), NextLookReason::pressure);
    }
    return {next.clock()->at, next.clock()->why, next.clock()->at};
}

}  // namespace evictd::policy
