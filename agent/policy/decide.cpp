// SPDX-License-Identifier: Apache-2.0
// The steps of synchronize() in its order, over the parts in this folder.
#include "decide.hpp"

#include <algorithm>

#include "explain.hpp"
#include "flight.hpp"
#include "message.hpp"
#include "moments.hpp"
#include "qos.hpp"
#include "rank.hpp"
#include "thresholds.hpp"

namespace evictd::policy {
namespace {

// immediateEvictionGracePeriodSeconds, and the floor of the pod worker's calculateEffectiveGracePeriod.
constexpr std::chrono::seconds immediate_grace_period{1};

// What a Duration can hold; pods may ask for more.
constexpr auto longest_grace_period = std::chrono::duration_cast<std::chrono::seconds>(Duration::max());

bool hard(const FirstObserved& entry) { return entry.threshold.hard(); }

// What a pod gets between SIGTERM and SIGKILL. An override of 0 is read as "not set" by the pod worker.
Duration grace_period_of(const Pod& pod, const Threshold& threshold, const EvictionConfig& config) {
    if (threshold.hard()) return immediate_grace_period;
    const auto own = pod.termination_grace_period;
    const auto most = config.max_pod_grace_period;
    const auto granted = most == std::chrono::seconds::zero() ? own : std::min(most, own);
    return std::clamp(granted, immediate_grace_period, longest_grace_period);
}

// The first pod in order that may go; one whose eviction failed lately only where there is nobody else.
const RankedPod* choose(const std::vector<RankedPod>& ranking) {
    const RankedPod* second_best = nullptr;
    for (const auto& ranked : ranking) {
        if (ranked.exemption == Exemption::none) return &ranked;
        if (ranked.exemption == Exemption::failed_before && second_best == nullptr) second_best = &ranked;
    }
    return second_best;
}

void begin_eviction(const ObservedPod& observed, const std::vector<FirstObserved>& acting, const EvictionConfig& config,
                    const Observation& observation, Verdict& verdict) {
    const Pod& pod = *observed.pod;
    Eviction eviction;
    eviction.pod = pod.uid;
    eviction.threshold = describe(acting.front(), observation.readings);
    eviction.immediate = eviction.threshold.threshold.hard();
    eviction.grace_period = grace_period_of(pod, eviction.threshold.threshold, config);
    EvictionMessage message = eviction_message(observed, describe(acting, observation.readings));
    eviction.message = std::move(message.text);
    eviction.annotations = std::move(message.annotations);

    InFlight flight;
    flight.victim.pod = pod.uid;
    flight.victim.pod_name = pod.full_name();
    flight.victim.qos = qos_class(pod);
    flight.victim.priority = priority_of(pod);
    if (observed.usage) flight.victim.usage = observed.usage->working_set;
    flight.victim.eviction = eviction;
    flight.victim.cause = observation.cause;
    flight.victim.decided_at = observation.at;
    flight.victim.kill_at = after(observation.at, eviction.immediate ? Duration::zero() : eviction.grace_period);
    flight.cgroup = observed.cgroup;
    flight.kill_sent = eviction.immediate;
    flight.acted_at = observation.at;
    const auto kind = eviction.immediate ? ActionKind::kill : ActionKind::terminate;
    verdict.decision.actions.push_back({kind, pod.uid, flight.victim.pod_name});
    verdict.decision.evict = std::move(eviction);
    verdict.state.in_flight.push_back(std::move(flight));
}

void report_thresholds(const ThresholdPass& pass, const EvictionConfig& config, const Observation& observation,
                       const State& before, Verdict& verdict) {
    auto& [decision, next] = verdict;
    decision.thresholds_met = describe(pass.satisfied, observation.readings);
    for (const auto& entry : pass.merged) {
        if (observation.at - entry.at < entry.threshold.grace_period) {
            decision.thresholds_pending.push_back(describe(entry, observation.readings));
        }
    }
    decision.threshold_edges = threshold_edges(before.first_observed, pass.merged, observation.readings);

    next.condition_last_observed = conditions_last_observed(pass.merged, before, observation.at);
    decision.conditions =
        conditions_reported(next.condition_last_observed, config.pressure_transition_period, observation.at);
    decision.condition_edges = condition_edges(before.conditions, decision.conditions);

    next.conditions = decision.conditions;
    next.first_observed = pass.merged;
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

// Finishes what was begun, then begins at most one eviction.
Course take_course(const ThresholdPass& pass, const EvictionConfig& config, const Observation& observation,
                   Verdict& verdict) {
    auto& [decision, next] = verdict;
    const bool grace_ended = kill_after_grace(observation.at, next, decision);
    const bool hard_met = std::any_of(pass.updated.begin(), pass.updated.end(), hard);
    if (hard_met && cut_grace_short(observation.at, next, decision)) return Course::escalated;
    if (is_held_up(next, observation.at)) return grace_ended ? Course::grace_ended : Course::waiting;
    if (pass.updated.empty()) {
        if (grace_ended) return Course::grace_ended;
        if (!pass.satisfied.empty()) return Course::stale;
        return pass.merged.empty() ? Course::nothing : Course::pending;
    }
    if (!has_ranking(pass.updated.front().threshold.signal)) return Course::no_ranking;
    const RankedPod* chosen = choose(decision.ranking);
    if (chosen == nullptr) return Course::no_candidate;
    begin_eviction(observation.pods[chosen->pod], pass.updated, config, observation, verdict);
    return Course::evicting;
}

// The next moment at which the verdict may change though nothing happens.
std::optional<MonotonicTime> next_clock(const EvictionConfig& config, const Verdict& verdict, MonotonicTime now) {
    std::optional<MonotonicTime> next;
    const auto consider = [&](MonotonicTime time) {
        if (time > now && (!next || time < *next)) next = time;
    };
    for (const auto& met : verdict.decision.thresholds_pending) {
        consider(after(met.first_observed_at, met.threshold.grace_period));
    }
    for (const auto& flight : verdict.state.in_flight) {
        if (!flight.kill_sent) consider(flight.victim.kill_at);
        consider(hold_until(flight));
    }
    for (const Condition condition : verdict.decision.conditions) {
        const auto last = *verdict.state.condition_last_observed[static_cast<std::size_t>(condition)];
        // Observed right now, its end is not in sight.
        if (last != now) consider(after(last, config.pressure_transition_period));
    }
    return next;
}

}  // namespace

Verdict decide(const EvictionConfig& config, const Observation& observation, const State& state) {
    Verdict verdict{{}, state};
    auto& [decision, next] = verdict;
    settle_victims(observation, next, decision);
    const ThresholdPass pass = pass_thresholds(config, observation, state);
    report_thresholds(pass, config, observation, state, verdict);

    decision.ranking = rank_pods(signal_to_rank_by(pass), observation, next);
    const Course course = take_course(pass, config, observation, verdict);
    for (const auto& flight : next.in_flight) decision.in_flight.push_back(flight.victim);
    decision.look_again_at = next_clock(config, verdict, observation.at);
    decision.why = why(course, decision, config, observation);
    return verdict;
}

}  // namespace evictd::policy
