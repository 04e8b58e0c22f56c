// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "ended_pods.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "admission.hpp"
#include "age.hpp"
#include "ended_watch.hpp"
#include "moments.hpp"
#include "removals.hpp"

namespace evictd::policy {
namespace {

using namespace std::chrono_literals;

// A deletion that is so long overdue is not being carried out.
constexpr Duration deletion_overdue = 2s;
// Where the kernel does not report that processes came, a look has to find them: as often as under pressure. A second
// look otherwise, because a report may be lost.
constexpr Duration look_at_unreported = 100ms;
constexpr Duration look_at_watched = 1s;

EndedPod* find_ended(State& state, const PodUid& pod) {
    const auto is_it = [&](const EndedPod& ended) { return ended.desired.pod == pod; };
    const auto found = std::find_if(state.ended.begin(), state.ended.end(), is_it);
    return found == state.ended.end() ? nullptr : &*found;
}

bool is_desired(const EndedPod& ended) {
    return ended.stage != EndStage::over && ended.stage != EndStage::terminating && ended.desired.attempt > 0;
}

// The end of a grace period, or a hard threshold: from now on the API server is to show the pod as failed.
void note_kills(const Observation& observation, State& state, const Decision& decision) {
    for (const auto& action : decision.actions) {
        EndedPod* ended = action.kind == ActionKind::kill ? find_ended(state, action.pod) : nullptr;
        if (ended == nullptr) continue;
        const bool had_time = ended->stage == EndStage::asking || ended->stage == EndStage::granted ||
                              ended->stage == EndStage::terminating;
        if (had_time) begin_attempt(observation.at, action.cgroup, *ended);
    }
}

// Of an agent before this one. One that is later than now is of another boot: its pods are others.
void adopt(const Observation& observation, State& state) {
    for (const auto& intent : observation.recalled) {
        const auto is_it = [&](const EndedPod& ended) { return ended.desired.pod == intent.pod; };
        const bool known = std::any_of(state.ended.begin(), state.ended.end(), is_it);
        const bool stale = intent.decided_at > observation.at || observation.at - intent.decided_at > longest_intent;
        if (known || stale || intent.end != PodEnd::failed) continue;
        state.ended.push_back({.desired = intent,
                               .stage = intent.given_up ? EndStage::given_up : EndStage::killed,
                               .cgroup = {},
                               .begun_at = intent.decided_at,
                               .killed_at = observation.at});
    }
}

}  // namespace

void follow_ended(const EvictionConfig& config, const Observation& observation, State& state, Decision& decision) {
    if (!config.pod_statuses) {
        state.ended.clear();
        return;
    }
    adopt(observation, state);
    std::vector<EndedPod> ended = std::move(state.ended);
    state.ended.clear();
    for (auto& one : ended) {
        EndedWatch watch(one, observation, state, decision);
        for (const auto& outcome : observation.pod_statuses) {
            if (outcome.pod == one.desired.pod) watch.take(outcome);
        }
        watch.follow();
        if (one.stage != EndStage::over || watch.is_listed()) state.ended.push_back(std::move(one));
    }
}

bool end_pod(const EvictionConfig& config, const ObservedPod& observed, const Eviction& eviction,
             const Observation& observation, State& state) {
    const Pod& pod = *observed.pod;
    if (!config.pod_statuses || pod.origin != PodOrigin::api) return false;
    EndedPod* known = find_ended(state, pod.uid);
    const std::int32_t attempts =
        std::max(known != nullptr ? known->desired.attempt : 0, take_over_removal(pod.uid, state));
    EndedPod& ended = known != nullptr ? *known : state.ended.emplace_back();
    const bool is_rejection = !eviction.rejected_for.empty();
    const bool asks = !eviction.immediate && config.soft_eviction_api;
    ended = EndedPod{.stage = EndStage::terminating,
                     .cgroup = observed.cgroup,
                     .begun_at = observation.at,
                     .rejection = is_rejection};
    ended.desired = {.pod = pod.uid,
                     .name_space = pod.name_space,
                     .name = pod.name,
                     .reason = "Evicted",
                     .message = (is_rejection ? std::string(rejection_prefix) : "") + eviction.message,
                     .disruption_target = !eviction.broken_limit && !is_rejection,
                     .generation = pod.generation,
                     .attempt = attempts,
                     .decided_at = observation.at,
                     .detected_at = observation.cause.detected_at};
    if (eviction.immediate) {
        begin_attempt(observation.at, observed.cgroup, ended);
    } else if (asks) {
        ended.stage = EndStage::asking;
        ended.desired.end = PodEnd::evicted;
        ended.desired.grace_period = std::chrono::duration_cast<std::chrono::seconds>(eviction.grace_period);
        ended.desired.attempt += 1;
    }
    return asks;
}

void desire_pod_statuses(const Observation& observation, State& state, Decision& decision) {
    note_kills(observation, state, decision);
    for (const auto& ended : state.ended) {
        if (ended.stage != EndStage::over) decision.ended.push_back(ended);
        if (is_desired(ended)) decision.pod_statuses.push_back(ended.desired);
    }
}

bool is_ending_again(const State& state, MonotonicTime now) {
    return std::any_of(state.ended.begin(), state.ended.end(), [&](const EndedPod& ended) {
        const bool killed = ended.stage == EndStage::killed || ended.stage == EndStage::held_down;
        const bool again = killed && !ended.emptied && !ended.dry_run && !ended.rejection && ended.restarts > 0;
        return again && now < after(ended.killed_at, longest_asking);
    });
}

bool is_ending(const State& state, const PodUid& pod) {
    return std::any_of(state.ended.begin(), state.ended.end(), [&](const EndedPod& ended) {
        return ended.desired.pod == pod && ended.stage != EndStage::over && ended.stage != EndStage::given_up;
    });
}

bool is_held_down(const State& state, const PodUid& pod) {
    return std::any_of(state.ended.begin(), state.ended.end(), [&](const EndedPod& ended) {
        return ended.desired.pod == pod && ended.stage == EndStage::held_down;
    });
}

bool is_being_deleted(const Pod& pod, WallTime now, Duration grace_period) {
    if (!pod.deletion_time) return false;
    const Duration left = age(*pod.deletion_time, now);
    return left <= grace_period && left > -deletion_overdue;
}

bool is_watched(const EndedPod& ended) { return ended.stage == EndStage::killed || ended.stage == EndStage::held_down; }

std::optional<MonotonicTime> next_ended_clock(const State& state, const Observation& observation) {
    const auto now = observation.at;
    std::optional<MonotonicTime> next;
    const auto consider = [&](MonotonicTime at) {
        if (at > now && (!next || at < *next)) next = at;
    };
    for (const auto& ended : state.ended) {
        if (ended.stage == EndStage::asking) {
            consider(after(ended.desired.decided_at, longest_unanswered));
            consider(after(ended.begun_at, longest_asking));
        }
        if (ended.act_at != MonotonicTime{}) consider(ended.act_at);
        if (!is_watched(ended)) continue;
        consider(after(now, observation.watching.exits ? look_at_watched : look_at_unreported));
        consider(watched_until(ended));
    }
    return next;
}

std::string say_ended(const Decision& decision) {
    std::string said;
    for (const auto& step : decision.end_steps) {
        const std::string pod = step.desired.name_space + "/" + step.desired.name;
        if (step.kind == EndStepKind::restarted) said += "; " + pod + " runs again and is killed again";
        if (step.kind == EndStepKind::went_back) {
            said += "; the API server shows " + pod + " as running again: it is killed again";
        }
        if (step.kind == EndStepKind::resumed) said += "; the eviction of " + pod + " is resumed";
        if (step.kind == EndStepKind::held_down) said += "; " + pod + " keeps coming back and is held down";
        if (step.kind == EndStepKind::given_up) said += "; " + pod + " could not be stopped: given up";
        if (step.kind == EndStepKind::withdrawn) said += "; the eviction of " + pod + " is withdrawn";
    }
    return said;
}

}  // namespace evictd::policy
