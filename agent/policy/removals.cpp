// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "removals.hpp"

#include <algorithm>
#include <vector>

#include "deadline.hpp"
#include "evictd/model/back_off.hpp"
#include "moments.hpp"
#include "removal_pass.hpp"
#include "shutdown.hpp"
#include "taints.hpp"

namespace evictd::policy {
namespace {

using namespace std::chrono_literals;

// Without an answer: the server, or an admission webhook of some namespace, is away.
constexpr Duration first_request_pause = 15s;
constexpr Duration longest_request_pause = 10min;

bool is_on_its_way(const Removal& removal, const Pod& pod) {
    return pod.deletion_time || (removal.kind == RemovalKind::deadline && has_ended(pod));
}

void take(const PodStatusOutcome& outcome, MonotonicTime now, Removal& removal) {
    removal.error = outcome.error;
    const std::int32_t attempt = outcome.attempt;
    // It leaves its place to others while it waits: the answer of a later attempt counts.
    if (outcome.result == PodStatusResult::unreachable) {
        removal.again_at = after(now, back_off(first_request_pause, longest_request_pause, attempt));
        return;
    }
    removal.answered = attempt;
    removal.again_at = {};
    if (outcome.result == PodStatusResult::accepted || outcome.result == PodStatusResult::gone) {
        removal.error.clear();
        removal.again_at = after(now, attempt < quick_attempts ? removal_goes_within : slow_period);
    } else if (outcome.result != PodStatusResult::pretended) {
        if (removal.error.empty()) removal.error = "the API server rejected it";
        removal.again_at = after(now, rest_after_rejection(attempt));
    }
}

// Whether what is known now allows a request of this kind.
bool may_ask(RemovalKind kind, const Observation& observation) {
    return observation.pods_current && shutdown_of(observation) == ShutdownWord::none &&
           (kind != RemovalKind::taint || is_heard(observation));
}

// The pod has ended by itself, or has no process left, before the API server took the request: it may have succeeded.
// A phase that carries the deadline's reason may be this very request, whose answer is late.
bool has_ended_by_itself(const Removal& removal, const ObservedPod& observed, const Observation& observation) {
    if (removal.answered == removal.desired.attempt) return false;
    if (has_ended(*observed.pod)) return observed.pod->status_reason != deadline_reason;
    return !observed.populated && !observation.usage_unknown && !observation.pods_unlisted;
}

// The taint is gone, or is tolerated by now; the pod has ended; the clock was put back; the pod runs again (kubelets
// before 1.22 undo a phase that another wrote).
bool is_excused(const Removal& removal, const Observation& observation, const ListedPods& listed) {
    const ObservedPod* observed = listed.find(removal.desired.pod);
    if (observed == nullptr) return false;
    switch (removal.kind) {
        case RemovalKind::taint:
            return has_ended(*observed->pod) ||
                   (is_heard(observation) && !has_to_leave(*observed->pod, observation.node->taints));
        case RemovalKind::deadline:
            return has_ended_by_itself(removal, *observed, observation) ||
                   !past_active_deadline(*observed->pod, observation.wall);
        case RemovalKind::garbage:
            return !has_ended(*observed->pod) || observed->populated;
    }
    return false;
}

bool is_wanted(RemovalKind kind, const EvictionConfig& config) {
    switch (kind) {
        case RemovalKind::taint:
            return config.taint_eviction;
        case RemovalKind::deadline:
            return config.active_deadlines;
        case RemovalKind::garbage:
            return config.kept_terminated_pods > 0;
    }
    return false;
}

// Returns the pods that were answered for.
std::vector<PodUid> take_answers(const Observation& observation, State& state) {
    std::vector<PodUid> answered;
    if (observation.pod_statuses.empty()) return answered;
    for (auto& removal : state.removals) {
        for (const auto& outcome : observation.pod_statuses) {
            if (outcome.pod != removal.desired.pod || outcome.attempt != removal.desired.attempt) continue;
            take(outcome, observation.at, removal);
            answered.push_back(removal.desired.pod);
        }
    }
    return answered;
}

// Half of the places are left to first attempts: however many fail, others have their turn.
void ask_again(const Observation& observation, const ListedPods& listed, State& state) {
    std::size_t open = count_open(state);
    for (auto& removal : state.removals) {
        if (open >= most_at_a_time / 2) return;
        const bool is_due = removal.again_at != MonotonicTime{} && observation.at >= removal.again_at;
        if (!is_due || !may_ask(removal.kind, observation)) continue;
        const ObservedPod* observed = listed.find(removal.desired.pod);
        if (observed == nullptr || is_on_its_way(removal, *observed->pod)) continue;
        removal.desired.attempt += 1;
        removal.desired.decided_at = observation.at;
        removal.again_at = {};
        ++open;
    }
}

}  // namespace

void follow_removals(const EvictionConfig& config, const Observation& observation, State& state, Decision& decision) {
    const bool is_any_wanted = config.taint_eviction || config.active_deadlines || config.kept_terminated_pods > 0;
    if (!config.pod_statuses || !is_any_wanted) {
        state.removals.clear();
        state.taint_evictions.clear();
        return;
    }
    const ListedPods listed(observation);
    const auto answered = take_answers(observation, state);
    std::erase_if(state.removals, [&](const Removal& removal) {
        const bool is_gone = observation.pods_current && listed.find(removal.desired.pod) == nullptr;
        return is_gone || !is_wanted(removal.kind, config) || is_excused(removal, observation, listed);
    });
    ask_again(observation, listed, state);
    begin_removals(config, observation, listed, state);
    for (const auto& removal : state.removals) {
        const bool is_news = std::find(answered.begin(), answered.end(), removal.desired.pod) != answered.end();
        if (is_open(removal) || is_news) decision.removals.push_back(removal);
    }
}

void desire_removals(const State& state, const Observation& observation, Decision& decision) {
    for (const auto& removal : state.removals) {
        if (!is_open(removal) || !may_ask(removal.kind, observation)) continue;
        const auto is_of_pod = [&](const DesiredPodStatus& other) { return other.pod == removal.desired.pod; };
        const bool is_ended = std::any_of(decision.pod_statuses.begin(), decision.pod_statuses.end(), is_of_pod);
        if (!is_ended) decision.pod_statuses.push_back(removal.desired);
    }
}

std::int32_t take_over_removal(const PodUid& pod, State& state) {
    const auto found = std::find_if(state.removals.begin(), state.removals.end(),
                                    [&](const Removal& removal) { return removal.desired.pod == pod; });
    if (found == state.removals.end()) return 0;
    const std::int32_t attempts = found->desired.attempt;
    state.removals.erase(found);
    return attempts;
}

std::optional<MonotonicTime> next_removal_clock(const EvictionConfig& config, const State& state,
                                                const Observation& observation) {
    const auto now = observation.at;
    std::optional<MonotonicTime> next;
    const auto consider = [&](MonotonicTime at) {
        if (at > now && (!next || at < *next)) next = at;
    };
    for (const auto& eviction : state.taint_evictions) consider(eviction.due);
    for (const auto& removal : state.removals) {
        consider(removal.again_at);
        consider(holds_kind_until(removal));
    }
    if (!config.active_deadlines || !config.pod_statuses) return next;
    for (const auto& observed : observation.pods) {
        const bool has_deadline = observed.pod && observed.pod->active_deadline && observed.pod->start_time;
        if (!has_deadline || has_ended(*observed.pod) || past_active_deadline(*observed.pod, observation.wall))
            continue;
        // Not past: less is left than the deadline is long, or its start is in the future.
        const Duration active = observation.wall - *observed.pod->start_time;
        if (active < Duration::zero() || *observed.pod->active_deadline > std::chrono::hours(24 * 365)) continue;
        consider(after(now, *observed.pod->active_deadline - active));
    }
    return next;
}

std::string say_removals(const Decision& decision, MonotonicTime now) {
    std::string said;
    for (const auto& removal : decision.removals) {
        if (removal.begun_at != now) continue;
        const std::string pod = removal.desired.name_space + "/" + removal.desired.name;
        said +=
            (removal.kind == RemovalKind::deadline ? "; marking " + pod + " Failed: " : "; deleting " + pod + ": ") +
            removal.why;
    }
    return said;
}

}  // namespace evictd::policy
