// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The kubelet judges a pod as it arrives, by the conditions of that moment (HandlePodAdditions). From outside, a pod is
// judged as soon as it has a process: only then is there something to kill.
#include "arrivals.hpp"

#include <algorithm>
#include <vector>

#include "admission.hpp"
#include "ended_pods.hpp"
#include "evict.hpp"
#include "grace.hpp"
#include "moments.hpp"
#include "node_status.hpp"

namespace evictd::policy {
namespace {

using namespace std::chrono_literals;

// From the pod's cgroup to its first process, and from the condition to its taint: a tenth of the second within which a
// pod is to be rejected.
constexpr Duration look_for_arrivals = 100ms;
// A kubelet that has not started a sandbox by then waits for something else.
constexpr Duration longest_wait_for_arrivals = 60s;

// Of the conditions that hold, those that held when it arrived.
std::vector<Condition> conditions_at(MonotonicTime arrival, const State& state) {
    std::vector<Condition> held;
    for (const Condition condition : state.conditions) {
        const auto& since = state.condition_since[static_cast<std::size_t>(condition)];
        if (since && *since <= arrival) held.push_back(condition);
    }
    return held;
}

bool is_known(const PodUid& pod, const State& state) {
    const auto of_pod = [&](const auto& entry) { return entry.victim.pod == pod; };
    return std::find(state.rejected.begin(), state.rejected.end(), pod) != state.rejected.end() ||
           std::any_of(state.in_flight.begin(), state.in_flight.end(), of_pod) ||
           std::any_of(state.ended.begin(), state.ended.end(),
                       [&](const EndedPod& ended) { return ended.desired.pod == pod; });
}

// Also where evictd was started later than the pod, or was told of it late: the kubelet sets status.startTime when it
// first sees the pod, in whole seconds.
bool may_have_been_there(const Pod& pod, const std::vector<Condition>& held, const Observation& observation,
                         const State& state) {
    if (!pod.start_time) return pod.phase != PodPhase::pending;
    return std::any_of(held.begin(), held.end(), [&](Condition condition) {
        const auto since = state.condition_since[static_cast<std::size_t>(condition)];
        const WallTime began = observation.wall - (observation.at - since.value_or(observation.at));
        return *pod.start_time < std::chrono::floor<std::chrono::seconds>(began);
    });
}

// None: it is admitted.
std::optional<Eviction> rejection_of(const ObservedPod& observed, const Observation& observation, const State& state) {
    const bool is_new = observed.pod && observed.arrived_at && observed.cgroup != CgroupId{} && !observed.holds_us;
    if (!is_new || observed.pod->origin != PodOrigin::api || !is_pod_active(*observed.pod)) return std::nullopt;
    const auto conditions = conditions_at(*observed.arrived_at, state);
    if (may_have_been_there(*observed.pod, conditions, observation, state)) return std::nullopt;
    const Admission admission = admit(*observed.pod, conditions);
    if (admission.allowed || is_known(observed.pod->uid, state)) return std::nullopt;
    Eviction eviction;
    eviction.pod = observed.pod->uid;
    eviction.grace_period = immediate_grace_period;
    eviction.message = admission.message;
    eviction.rejected_for = conditions;
    return eviction;
}

void note_conditions(const Observation& observation, const Decision& decision, State& state) {
    for (std::size_t i = 0; i < condition_count; ++i) {
        const auto& holding = decision.conditions;
        const bool holds = std::find(holding.begin(), holding.end(), static_cast<Condition>(i)) != holding.end();
        auto& since = state.condition_since.at(i);
        since = holds ? since.value_or(observation.at) : std::optional<MonotonicTime>{};
    }
}

void forget_gone(const Observation& observation, State& state) {
    std::erase_if(state.rejected, [&](const PodUid& pod) {
        return std::none_of(observation.pods.begin(), observation.pods.end(),
                            [&](const ObservedPod& observed) { return observed.pod && observed.pod->uid == pod; });
    });
}

bool may_reject(const EvictionConfig& config) {
    return config.admission && config.pod_statuses && config.node_status == NodeStatusUse::taints;
}

// Without the taint the scheduler sends the next pod at once, and each would be rejected.
bool is_taint_shown(const Eviction& rejection, const Observation& observation) {
    const auto& conditions = rejection.rejected_for;
    return observation.node && observation.node->current &&
           std::any_of(conditions.begin(), conditions.end(),
                       [&](Condition condition) { return shows_taint(*observation.node, condition); });
}

}  // namespace

void reject_arrivals(const EvictionConfig& config, const Observation& observation, Verdict& verdict) {
    auto& [decision, next] = verdict;
    note_conditions(observation, decision, next);
    forget_gone(observation, next);
    if (!may_reject(config) || observation.usage_unknown || next.conditions.empty()) return;
    if (decision.shutdown != ShutdownWord::none) return;
    for (const auto& observed : observation.pods) {
        if (!observed.populated) continue;
        auto eviction = rejection_of(observed, observation, next);
        if (!eviction || !is_taint_shown(*eviction, observation)) continue;
        begin_eviction(observed, *eviction, config, observation, verdict);
        // In front: the last in flight is the one that the next eviction waits for.
        std::rotate(next.in_flight.begin(), std::prev(next.in_flight.end()), next.in_flight.end());
        next.rejected.push_back(eviction->pod);
        decision.rejections.push_back(*std::move(eviction));
    }
}

std::optional<MonotonicTime> next_arrival_clock(const EvictionConfig& config, const State& state,
                                                const Observation& observation) {
    if (!may_reject(config) || state.conditions.empty()) return std::nullopt;
    const auto is_awaited = [&](const ObservedPod& observed) {
        const auto rejection = rejection_of(observed, observation, state);
        return rejection && !(observed.populated && is_taint_shown(*rejection, observation)) &&
               observation.at < after(*observed.arrived_at, longest_wait_for_arrivals);
    };
    if (std::none_of(observation.pods.begin(), observation.pods.end(), is_awaited)) return std::nullopt;
    return after(observation.at, look_for_arrivals);
}

std::string say_rejected(const Decision& decision) {
    std::string said;
    for (const auto& eviction : decision.rejections) {
        const auto kill = std::find_if(decision.actions.begin(), decision.actions.end(),
                                       [&](const Action& action) { return action.pod == eviction.pod; });
        std::string conditions;
        for (const Condition condition : eviction.rejected_for) {
            conditions += (conditions.empty() ? "" : " and ") + std::string(name(condition));
        }
        said += "; " + (kill == decision.actions.end() ? eviction.pod.value : kill->pod_name) + " arrived under " +
                conditions + " and is rejected";
    }
    return said;
}

}  // namespace evictd::policy
