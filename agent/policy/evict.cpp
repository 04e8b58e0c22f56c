// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "evict.hpp"

#include <algorithm>

#include "awaited.hpp"
#include "disk_evictions.hpp"
#include "ended_pods.hpp"
#include "grace.hpp"
#include "local_storage.hpp"
#include "message.hpp"
#include "moments.hpp"
#include "owed.hpp"
#include "pid_evictions.hpp"
#include "prefetch.hpp"
#include "qos.hpp"
#include "stall.hpp"

namespace evictd::policy {
namespace {

// The first pod in order that a signal can reach; one whose eviction failed lately only where there is no other.
// One that failed again and again is left alone in any case, and one that may keep nothing, where space is missing.
const RankedPod* choose(const Observation& observation, const Verdict& verdict, bool on_disk = false) {
    const auto& ranking = verdict.decision.ranking;
    const State& state = verdict.state;
    const RankedPod* second_best = nullptr;
    const auto failed_often = [&](const RankedPod& ranked) {
        return std::any_of(state.passed_over.begin(), state.passed_over.end(), [&](const PassedOver& entry) {
            return entry.failures > 0 && entry.pod == observation.pods[ranked.pod].pod->uid;
        });
    };
    for (const auto& ranked : ranking) {
        const ObservedPod& observed = observation.pods[ranked.pod];
        if (!observed.populated || (on_disk && !is_known_to_hold(ranked, observation))) continue;
        if (ranked.exemption == Exemption::none) return &ranked;
        if (ranked.exemption != Exemption::failed_before || second_best != nullptr) continue;
        if (!failed_often(ranked)) second_best = &ranked;
    }
    return second_best;
}

// The pod that would go is ended by its own deletion, and sooner: its memory is about to come back, and no other pod is
// to be evicted for it.
bool ends_by_itself(const Threshold& threshold, const EvictionConfig& config, const Observation& observation,
                    const Verdict& verdict) {
    if (!config.pod_statuses) return false;
    for (const auto& ranked : verdict.decision.ranking) {
        const ObservedPod& observed = observation.pods[ranked.pod];
        if (!observed.populated) continue;
        if (ranked.exemption == Exemption::terminating) return true;
        if (ranked.exemption != Exemption::none) continue;
        const auto grace = threshold.hard() ? Duration::zero() : grace_period_of(*observed.pod, threshold, config);
        return is_being_deleted(*observed.pod, observation.wall, grace);
    }
    return false;
}

// Pods without a process whose turn comes before the first that can be killed. Killing that one would not give their
// memory back, so the node has the time of the kubelet's own period to get rid of them.
bool owed_by_empty_pods(const MetThreshold& threshold, const Observation& observation, Verdict& verdict) {
    const auto& ranking = verdict.decision.ranking;
    bool any = false;
    for (const auto& ranked : ranking) {
        const ObservedPod& observed = observation.pods[ranked.pod];
        if (ranked.exemption != Exemption::none) continue;
        if (observed.populated) break;
        owe_without_processes(observed, threshold, observation, verdict.state);
        any = true;
    }
    return any;
}

// Pods that are not known yet may come before the one that would go.
bool must_wait(const RankedPod& chosen, const EvictionConfig& config, const Observation& observation,
               Verdict& verdict) {
    verdict.decision.awaited = awaited_before(chosen, config, observation, verdict.state);
    return verdict.decision.awaited.has_value();
}

Course evict(const ObservedPod& observed, const std::vector<MetThreshold>& acting, const EvictionConfig& config,
             const Observation& observation, Verdict& verdict) {
    Eviction eviction;
    eviction.pod = observed.pod->uid;
    eviction.threshold = acting.front();
    eviction.immediate = acting.front().threshold.hard();
    eviction.grace_period = grace_period_of(*observed.pod, acting.front().threshold, config);
    EvictionMessage message = eviction_message(observed, acting);
    eviction.message = std::move(message.text);
    eviction.annotations = std::move(message.annotations);
    begin_eviction(observed, eviction, config, observation, verdict);
    verdict.decision.evict = std::move(eviction);
    return Course::evicting;
}

}  // namespace

bool has_candidate(const Observation& observation, const Verdict& verdict, bool on_disk) {
    return choose(observation, verdict, on_disk) != nullptr;
}

void begin_eviction(const ObservedPod& observed, const Eviction& eviction, const EvictionConfig& config,
                    const Observation& observation, Verdict& verdict) {
    const Pod& pod = *observed.pod;
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
    flight.available = available_memory(observation.readings);
    for (const auto& entry : verdict.state.passed_over) {
        if (entry.pod == pod.uid && entry.cgroup == observed.cgroup) flight.failures = entry.failures;
    }
    if (end_pod(config, observed, eviction, observation, verdict.state)) {
        flight.victim.kill_at = after(flight.victim.kill_at, longest_asking);  // until the API server answers
    } else {
        const auto kind = eviction.immediate ? ActionKind::kill : ActionKind::terminate;
        verdict.decision.actions.push_back(
            {kind, pod.uid, flight.victim.pod_name, flight.cgroup, is_for_pids(eviction)});
    }
    verdict.state.in_flight.push_back(std::move(flight));
}

Course evict_first(const std::vector<MetThreshold>& acting, const EvictionConfig& config,
                   const Observation& observation, Verdict& verdict) {
    const Signal signal = acting.front().threshold.signal;
    const bool on_memory = traits(signal).condition == Condition::memory_pressure;
    const bool on_disk = is_on_disk(signal);
    if (observation.usage_unknown) return Course::usage_unknown;
    if (on_memory) {
        if (waits_for_list(observation, verdict.state)) return Course::pods_unlisted;
        if (slow_until(verdict.state, observation, signal)) return Course::owed;
        if (owed_by_empty_pods(acting.front(), observation, verdict)) return Course::owed;
    }
    if (signal == Signal::pid_available) {
        if (waits_for_list(observation, verdict.state)) return Course::pods_unlisted;
        if (waits_for_reaping(acting.front(), verdict.state)) return Course::reaping;
    }
    if (on_disk) {
        if (!verdict.state.freeing.empty()) return Course::freeing;
        if (waits_for_disk_usage(observation, verdict.decision, verdict.state)) return Course::disk_unknown;
    }
    if (ends_by_itself(acting.front().threshold, config, observation, verdict)) return Course::deleted;
    const RankedPod* chosen = choose(observation, verdict, on_disk);
    if (chosen == nullptr) return Course::no_candidate;
    if (on_memory && must_wait(*chosen, config, observation, verdict)) return Course::unknown_pod;
    return evict(observation.pods[chosen->pod], acting, config, observation, verdict);
}

Course evict_for_stall(const MetStall& stall, const EvictionConfig& config, const Observation& observation,
                       Verdict& verdict) {
    if (observation.usage_unknown) return Course::usage_unknown;  // nor is it known which pods cause it
    const bool on_memory = stall.threshold.resource == StallResource::memory;
    if (on_memory && waits_for_list(observation, verdict.state)) return Course::pods_unlisted;
    if (on_memory && slow_until(verdict.state, observation)) {
        return Course::owed;
    }
    const Threshold threshold{.grace_period = stall.threshold.grace_period, .min_reclaim = {}};
    if (ends_by_itself(threshold, config, observation, verdict)) return Course::deleted;
    const RankedPod* chosen = choose(observation, verdict);
    if (chosen == nullptr) return Course::no_candidate;
    const ObservedPod& observed = observation.pods[chosen->pod];
    // Those who cause it may all be exempt; to evict another would help nobody.
    if (!may_cause(stall, observed)) return Course::no_candidate;
    if (on_memory && must_wait(*chosen, config, observation, verdict)) return Course::unknown_pod;
    Eviction eviction;
    eviction.pod = observed.pod->uid;
    eviction.stall = stall;
    eviction.immediate = stall.threshold.hard();
    eviction.grace_period = grace_period_of(*observed.pod, threshold, config);
    eviction.message = stall_message(stall);
    begin_eviction(observed, eviction, config, observation, verdict);
    verdict.decision.evict = std::move(eviction);
    return Course::evicting;
}

bool evict_beyond_limits(const EvictionConfig& config, const Observation& observation, Verdict& verdict) {
    if (!config.local_storage_isolation) return false;
    auto& decision = verdict.decision;
    // In the order in which the pods come: in the victim order each would be somewhere else in memory.
    std::vector<bool> may_go(observation.pods.size());
    for (const auto& ranked : decision.ranking) may_go[ranked.pod] = ranked.exemption == Exemption::none;
    for (std::size_t i = 0; i < may_go.size(); ++i) {
        prefetch_ahead(observation.pods, i);
        const ObservedPod& observed = observation.pods[i];
        if (!may_go[i] || !observed.populated) continue;
        const auto broken = broken_limit(observed, observation.fs_layout);
        if (!broken) continue;
        Eviction eviction;
        eviction.pod = observed.pod->uid;
        eviction.broken_limit = *broken;
        eviction.grace_period = immediate_grace_period;
        eviction.message = limit_message(*broken);
        begin_eviction(observed, eviction, config, observation, verdict);
        decision.limit_evictions.push_back(std::move(eviction));
    }
    return !decision.limit_evictions.empty();
}

}  // namespace evictd::policy
