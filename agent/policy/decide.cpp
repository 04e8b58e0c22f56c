// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The steps of synchronize() in its order, over the parts in this folder.
#include "decide.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "arrivals.hpp"
#include "awaited.hpp"
#include "containerfs.hpp"
#include "disk_evictions.hpp"
#include "ended_pods.hpp"
#include "evict.hpp"
#include "exhaustion.hpp"
#include "explain.hpp"
#include "flight.hpp"
#include "follow_trends.hpp"
#include "garbage_pass.hpp"
#include "ladder.hpp"
#include "next_look.hpp"
#include "node_status.hpp"
#include "owed.hpp"
#include "pid_evictions.hpp"
#include "rank.hpp"
#include "reading_pace.hpp"
#include "reclaim.hpp"
#include "reclaim_news.hpp"
#include "removals.hpp"
#include "shed.hpp"
#include "shutdown.hpp"
#include "stall.hpp"
#include "steering.hpp"
#include "thresholds.hpp"
#include "trends.hpp"
#include "watch.hpp"

namespace evictd::policy {
namespace {

template <class Met>
bool hard(const Met& met) {
    return met.threshold.hard();
}

bool on_memory(const MetThreshold& met) { return traits(met.threshold.signal).condition == Condition::memory_pressure; }

// What is met at this look, and which of it may cost a pod its life.
struct Pressure {
    ThresholdPass pass;
    StallPass stalls;
    std::vector<MetThreshold> acting;  // thresholds read anew, in the order of handling
    bool unconfirmed = false;          // a threshold on memory is left out of them: no task stalls for it

    [[nodiscard]] bool for_stall() const { return acting.empty() && !stalls.acting.empty(); }
    [[nodiscard]] bool for_memory() const { return std::any_of(acting.begin(), acting.end(), on_memory); }
    [[nodiscard]] bool calm() const { return pass.merged.empty() && stalls.merged.empty(); }
};

Pressure find_pressure(const EvictionConfig& config, const Observation& observation, const State& state) {
    Pressure pressure{pass_thresholds(config, observation, state), pass_stalls(config, observation, state), {}, false};
    pressure.acting = describe(pressure.pass.updated, observation.readings);
    if (config.confirm_pressure && !is_confirmed(observation)) {
        pressure.unconfirmed = std::erase_if(pressure.acting, on_memory) > 0;
    }
    return pressure;
}

void report_pressure(const Pressure& pressure, const EvictionConfig& config, const Observation& observation,
                     const State& before, Verdict& verdict) {
    auto& [decision, next] = verdict;
    const ThresholdPass& pass = pressure.pass;
    decision.thresholds_met = describe(pass.satisfied, observation.readings);
    for (const auto& entry : pass.merged) {
        if (observation.at - entry.at < entry.threshold.grace_period) {
            decision.thresholds_pending.push_back(describe(entry, observation.readings));
        }
    }
    decision.threshold_edges = threshold_edges(before.first_observed, pass.merged, observation.readings);

    next.condition_last_observed = conditions_last_observed(pass.merged, before, observation.at);
    report_stalls(pressure.stalls, before, observation.at, decision, next);
    decision.conditions =
        conditions_reported(next.condition_last_observed, config.pressure_transition_period, observation.at);
    decision.condition_edges = condition_edges(before.conditions, decision.conditions);

    next.conditions = decision.conditions;
    next.first_observed = pass.merged;
    follow_disk_pressure(pass.merged, observation, next);
    next.thresholds_met.clear();
    for (const auto& entry : pass.satisfied) next.thresholds_met.push_back(entry.threshold);
    for (std::size_t i = 0; i < signal_count; ++i) {
        const auto& reading = observation.readings[i];
        next.last_readings[i] = reading ? std::optional(reading->at) : std::nullopt;
    }
}

Signal signal_to_rank_by(const ThresholdPass& pass) {
    const auto& first = pass.updated.empty() ? pass.satisfied : pass.updated;
    return first.empty() ? Signal::memory_available : first.front().threshold.signal;
}

// reclaimNodeLevelResources, the first half: what can be given back is, before anybody is evicted.
Course reclaim_or_evict(std::vector<MetThreshold> acting, const EvictionConfig& config, const Observation& observation,
                        Verdict& verdict) {
    auto gives = reclaim_for(acting.front().threshold.signal, observation.fs_layout, config.garbage.logs);
    if (gives.empty()) return evict_first(acting, config, observation, verdict);
    if (verdict.state.reclaiming) return Course::reclaiming;
    verdict.decision.reclaim = gives;
    begin_reclaim(std::move(gives), std::move(acting), config, observation, verdict);
    return Course::reclaiming;
}

// No eviction at this look: which course describes it.
Course calm_course(const Pressure& pressure) {
    if (pressure.unconfirmed) return Course::unconfirmed;
    if (!pressure.pass.satisfied.empty()) return Course::stale;
    if (!pressure.pass.merged.empty()) return Course::pending;
    return pressure.stalls.merged.empty() ? Course::nothing : Course::stalled;
}

// Nothing that is met was measured since the last look: what was found then holds still.
Course unread_course(const Pressure& pressure, const Observation& observation, Verdict& verdict) {
    const Course course = calm_course(pressure);
    if (course != Course::stale) return course;
    if (verdict.state.reclaiming) return Course::reclaiming;
    const bool on_disk = is_on_disk(pressure.pass.satisfied.front().threshold.signal);
    if (on_disk && !verdict.state.freeing.empty()) return Course::freeing;
    if (has_candidate(observation, verdict, on_disk)) return Course::stale;
    const bool waits = on_disk && waits_for_disk_usage(observation, verdict.decision, verdict.state);
    return waits ? Course::disk_unknown : Course::no_candidate;
}

Course waiting_course(const State& state) {
    return state.in_flight.back().dry_run ? Course::pretending : Course::waiting;
}

// Finishes what was begun, then begins at most one eviction.
Course take_course(Pressure pressure, const EvictionConfig& config, const Observation& observation, Verdict& verdict) {
    auto& [decision, next] = verdict;
    auto& acting = pressure.acting;
    const auto& stalls = pressure.stalls.acting;
    const bool grace_ended = kill_after_grace(observation.at, next, decision);
    if (decision.shutdown != ShutdownWord::none) {
        const bool would_act = !acting.empty() || !stalls.empty();
        return grace_ended ? Course::grace_ended : would_act ? Course::shutting_down : calm_course(pressure);
    }
    const bool hard_met = std::any_of(acting.begin(), acting.end(), hard<MetThreshold>) ||
                          std::any_of(stalls.begin(), stalls.end(), hard<MetStall>);
    if (hard_met && cut_grace_short(observation.at, next, decision)) return Course::escalated;
    if (retry_failed(observation.at, pressure.calm(), next, decision)) return Course::retrying;
    if (is_ending_again(next, observation.at)) return Course::ending_again;
    if (is_held_up(next, observation.at)) return grace_ended ? Course::grace_ended : waiting_course(next);
    if (is_returning(next)) {
        if (grace_ended) return Course::grace_ended;
        return pressure.calm() ? Course::nothing : Course::owed;
    }
    if (evict_beyond_limits(config, observation, verdict)) return Course::limits;
    if (acting.empty()) {
        if (grace_ended) return Course::grace_ended;
        return stalls.empty() ? unread_course(pressure, observation, verdict)
                              : evict_for_stall(stalls.front(), config, observation, verdict);
    }
    return reclaim_or_evict(std::move(acting), config, observation, verdict);
}

// An estimate evicts nobody before its grace period has passed. Where the reclaim was for it, it has.
bool counts_after_reclaim(const Threshold& threshold, const std::vector<MetThreshold>& acting) {
    return threshold.time_left == Duration::zero() ||
           std::any_of(acting.begin(), acting.end(),
                       [&](const MetThreshold& met) { return met.threshold == threshold; });
}

// reclaimNodeLevelResources, the second half: the look goes on where it stopped. Every threshold has to be clear again,
// its minimum reclaim included, whatever its grace period; else a pod is evicted for what was met before.
Course go_on_after_reclaim(const EvictionConfig& config, const Observation& observation, const State& before,
                           Verdict& verdict) {
    auto& [decision, next] = verdict;
    const Reclaiming finished = std::move(*next.reclaiming);
    const std::vector<MetThreshold>& acting = finished.acting;
    next.reclaiming.reset();
    note_reclaimed(observation, next);
    note_futile(finished, observation, next.collecting);
    decision.conditions = next.conditions;
    for (const auto& threshold : next.thresholds_met) {
        const auto first = std::find_if(before.first_observed.begin(), before.first_observed.end(),
                                        [&](const FirstObserved& entry) { return entry.threshold == threshold; });
        if (first != before.first_observed.end()) {
            decision.thresholds_met.push_back(describe(*first, observation.readings));
        }
    }
    if (decision.thresholds_met.empty()) decision.thresholds_met = acting;
    decision.ranked_by = acting.front().threshold.signal;
    decision.ranking = rank_pods(config, decision.ranked_by, observation, next);
    const bool short_still =
        std::any_of(config.thresholds.begin(), config.thresholds.end(), [&](const Threshold& threshold) {
            return counts_after_reclaim(threshold, acting) &&
                   is_met(threshold, observation.readings, MinReclaim::enforced);
        });
    decision.reclaimed = !short_still;
    if (!short_still) return Course::reclaimed;
    if (decision.shutdown != ShutdownWord::none) return Course::shutting_down;
    if (begin_next_round(finished, observation, next)) {
        decision.reclaim = finished.asked;
        return Course::reclaiming;
    }
    if (is_held_up(next, observation.at)) return waiting_course(next);
    if (is_returning(next)) return Course::owed;
    return evict_first(acting, config, observation, verdict);
}

// Memory goes first, also where it ran short while a disk was relieved. What came of that is not forgotten.
void leave_reclaim(const EvictionConfig& config, const Observation& observation, Verdict& verdict) {
    auto& [decision, next] = verdict;
    note_reclaimed(observation, next);
    note_futile(*next.reclaiming, observation, next.collecting);
    const auto acting = std::exchange(next.reclaiming, std::nullopt)->acting;
    decision.reclaimed =
        std::none_of(config.thresholds.begin(), config.thresholds.end(), [&](const Threshold& threshold) {
            return is_on_disk(threshold.signal) && counts_after_reclaim(threshold, acting) &&
                   is_met(threshold, observation.readings, MinReclaim::enforced);
        });
}

// What is kept true beside the kill. The kernel watches `configured`: a threshold in time is no line. While the node
// shuts down nothing is held or shed: each pod needs all it has to end by itself.
void desire(const EvictionConfig& config, const EvictionConfig& configured, const Observation& observation,
            Verdict& verdict) {
    auto& [decision, next] = verdict;
    desire_pod_statuses(observation, next, decision);
    desire_removals(next, observation, decision);
    const bool shuts_down = decision.shutdown != ShutdownWord::none;
    decision.shed = shuts_down ? std::vector<ShedPod>{} : pods_to_shed(config, observation, next);
    next.ladder = shuts_down ? LadderState{} : climb(config, observation, next);
    decision.ladder = next.ladder.held;
    desire_garbage(config, observation, shuts_down, next, decision);
    decision.steer_to = steer_to(configured, observation, next, decision);
    decision.watch = watch_for(configured, observation, decision);
    decision.filesystem_pace = filesystem_pace(configured, observation.readings, next.disk_trends);
    decision.pid_pace = pid_pace(configured, observation.readings);
    decision.node_status = node_status(config, observation, decision, next);
}

std::string say_more(const Decision& decision, MonotonicTime now) {
    std::string said = say_rejected(decision) + say_ended(decision) + say_removals(decision, now);
    if (!decision.ladder.empty()) said += "; " + say_ladder(decision.ladder);
    return said;
}

}  // namespace

Verdict decide(const EvictionConfig& configured, const Observation& observation, const State& state) {
    Verdict verdict{{}, state};
    auto& [decision, next] = verdict;
    EvictionConfig config = with_containerfs(configured, observation.fs_layout, decision.notes);
    decision.shutdown = shutdown_of(observation);
    settle_victims(config, observation, next, decision);
    follow_ended(config, observation, next, decision);
    follow_owing(config, observation, next);
    follow_reaping(config, observation, next);
    follow_trends(config, observation, verdict);
    add_time_thresholds(config, next, observation.readings);
    Course course = Course::nothing;
    std::vector<NodeReclaim> reclaim;
    std::optional<MonotonicTime> stall_clock;
    if (next.reclaiming) follow_reclaim(config, observation, next);
    const bool reclaim_done = next.reclaiming && is_reclaim_over(*next.reclaiming, observation);
    Pressure pressure = find_pressure(config, observation, next);
    if (reclaim_done && !pressure.for_memory()) {
        reclaim = next.reclaiming->asked;
        course = go_on_after_reclaim(config, observation, state, verdict);
    } else {
        if (reclaim_done) leave_reclaim(config, observation, verdict);
        report_pressure(pressure, config, observation, state, verdict);
        decision.ranked_by = signal_to_rank_by(pressure.pass);
        decision.ranking = rank_pods(config, decision.ranked_by, observation, next);
        if (pressure.for_stall()) rank_by_stall(pressure.stalls.acting.front(), observation, decision.ranking);
        stall_clock = next_stall_clock(pressure.stalls, next, observation.at);
        course = take_course(std::move(pressure), config, observation, verdict);
    }
    reject_arrivals(config, observation, verdict);
    follow_removals(config, observation, next, decision);
    for (const auto& flight : next.in_flight) decision.in_flight.push_back(flight.victim);
    decision.owed = owed_memory(state, next);
    decision.next_eviction_at = slow_until(next, observation);
    desire(config, configured, observation, verdict);
    announce_reclaim(observation, next, decision);
    remember_waiting(course, decision, observation.at, next);
    const StepClocks steps{stall_clock, next_awaited_clock(course, decision, observation.at)};
    const auto clock = next_clock(config, decision, next, steps, observation);
    if (clock) decision.look_again_at = clock->at;
    decision.next_look = next_look(configured, observation, decision, clock);
    if (next.reclaiming) reclaim = next.reclaiming->asked;
    decision.why = why(course, decision, reclaim, config, observation) + say_more(decision, observation.at);
    return verdict;
}

}  // namespace evictd::policy
