// SPDX-License-Identifier: Apache-2.0
#include "evict.hpp"

#include <map>

#include "grace.hpp"
#include "local_storage.hpp"
#include "message.hpp"
#include "moments.hpp"
#include "qos.hpp"
#include "rank.hpp"
#include "stall.hpp"

namespace evictd::policy {
namespace {

// The first pod in order that may go; one whose eviction failed lately only where there is nobody else.
const RankedPod* choose(const std::vector<RankedPod>& ranking) {
    const RankedPod* second_best = nullptr;
    for (const auto& ranked : ranking) {
        if (ranked.exemption == Exemption::none) return &ranked;
        if (ranked.exemption == Exemption::failed_before && second_best == nullptr) second_best = &ranked;
    }
    return second_best;
}

// The eviction as an action, and as a victim to be followed to its end.
void begin(const ObservedPod& observed, const Eviction& eviction, const Observation& observation, Verdict& verdict) {
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
    const auto kind = eviction.immediate ? ActionKind::kill : ActionKind::terminate;
    verdict.decision.actions.push_back({kind, pod.uid, flight.victim.pod_name});
    verdict.state.in_flight.push_back(std::move(flight));
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
    begin(observed, eviction, observation, verdict);
    verdict.decision.evict = std::move(eviction);
    return Course::evicting;
}

}  // namespace

Course evict_first(const std::vector<MetThreshold>& acting, const EvictionConfig& config,
                   const Observation& observation, Verdict& verdict) {
    const RankedPod* chosen = choose(verdict.decision.ranking);
    if (chosen == nullptr) return Course::no_candidate;
    return evict(observation.pods[chosen->pod], acting, config, observation, verdict);
}

Course evict_for_stall(const MetStall& stall, const EvictionConfig& config, const Observation& observation,
                       Verdict& verdict) {
    const RankedPod* chosen = choose(verdict.decision.ranking);
    if (chosen == nullptr) return Course::no_candidate;
    const ObservedPod& observed = observation.pods[chosen->pod];
    // Those who cause it may all be exempt; to evict another would help nobody.
    if (!may_cause(stall, observed)) return Course::no_candidate;
    Eviction eviction;
    eviction.pod = observed.pod->uid;
    eviction.stall = stall;
    eviction.immediate = stall.threshold.hard();
    eviction.grace_period = grace_period_of(
        *observed.pod, Threshold{.grace_period = stall.threshold.grace_period, .min_reclaim = {}}, config);
    eviction.message = stall_message(stall);
    begin(observed, eviction, observation, verdict);
    verdict.decision.evict = std::move(eviction);
    return Course::evicting;
}

bool evict_beyond_limits(const EvictionConfig& config, const Observation& observation, Verdict& verdict) {
    if (!config.local_storage_isolation) return false;
    auto& decision = verdict.decision;
    std::map<std::uint32_t, BrokenLimit> beyond;
    for (const auto& ranked : decision.ranking) {
        if (ranked.exemption != Exemption::none) continue;
        auto broken = broken_limit(observation.pods[ranked.pod], observation.fs_layout);
        if (broken) beyond.emplace(ranked.pod, *std::move(broken));
    }
    for (const auto& [pod, broken] : beyond) {
        const ObservedPod& observed = observation.pods[pod];
        Eviction eviction;
        eviction.pod = observed.pod->uid;
        eviction.broken_limit = broken;
        eviction.grace_period = immediate_grace_period;
        eviction.message = limit_message(broken);
        begin(observed, eviction, observation, verdict);
        decision.limit_evictions.push_back(std::move(eviction));
    }
    return !decision.limit_evictions.empty();
}

}  // namespace evictd::policy
