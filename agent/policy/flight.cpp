// SPDX-License-Identifier: Apache-2.0
// waitForPodsCleanup of eviction_manager.go without the waiting: conditions and clocks go on meanwhile.
#include "flight.hpp"

#include <algorithm>

#include "moments.hpp"

namespace evictd::policy {
namespace {

enum class Fate { flying, gone, vanished, failed, pretended };

const ObservedPod* find_pod(const Observation& observation, const PodUid& uid) {
    const auto pod = std::find_if(observation.pods.begin(), observation.pods.end(), [&](const ObservedPod& observed) {
        return observed.pod && observed.pod->uid == uid;
    });
    return pod == observation.pods.end() ? nullptr : &*pod;
}

// When the victim's last process went, if it did. Processes that came after it, in another cgroup or in the same one,
// are no longer the victim.
std::optional<MonotonicTime> gone_at(const ObservedPod* observed, const InFlight& flight, MonotonicTime now) {
    if (observed == nullptr) return now;
    if (!observed->populated) return observed->emptied_at.value_or(now);
    if (observed->cgroup != flight.cgroup) return now;
    if (observed->emptied_at && *observed->emptied_at > flight.acted_at) return observed->emptied_at;
    return std::nullopt;
}

// Also where the decision was a grace period, and whoever carried it out waited for its end.
void killed(MonotonicTime at, InFlight& flight) {
    flight.victim.killed_at = at;
    if (!flight.kill_sent) flight.victim.kill_at = at;
    flight.kill_sent = true;
}

Fate fold_outcome(const Outcome& outcome, InFlight& flight) {
    Victim& victim = flight.victim;
    if (outcome.decided_at != MonotonicTime{}) victim.decided_at = outcome.decided_at;
    switch (outcome.status) {
        case OutcomeStatus::delivered:
            if (outcome.action.kind == ActionKind::kill) killed(outcome.delivered_at, flight);
            return Fate::flying;
        case OutcomeStatus::dry_run:
            flight.dry_run = true;
            return Fate::flying;
        case OutcomeStatus::vanished:
            victim.error = outcome.error.empty() ? "it was gone before it could be signalled" : outcome.error;
            return Fate::vanished;
        case OutcomeStatus::failed:
            victim.error = outcome.error;
            return Fate::failed;
    }
    return Fate::flying;
}

Fate fate_of(InFlight& flight, const ObservedPod* observed, const Observation& observation) {
    Fate fate = Fate::flying;
    for (const auto& outcome : observation.outcomes) {
        if (outcome.action.pod == flight.victim.pod) fate = std::max(fate, fold_outcome(outcome, flight));
    }
    if (const auto gone = gone_at(observed, flight, observation.at)) {
        flight.victim.emptied_at = *gone;
        return flight.dry_run ? Fate::pretended : Fate::gone;
    }
    if (fate == Fate::vanished) flight.victim.emptied_at = observation.at;
    flight.victim.failed = fate == Fate::failed;
    if (fate == Fate::flying && flight.dry_run && observation.at >= hold_until(flight)) return Fate::pretended;
    return fate;
}

void kill(MonotonicTime now, InFlight& flight, Decision& decision) {
    flight.kill_sent = true;
    flight.acted_at = now;
    decision.actions.push_back({ActionKind::kill, flight.victim.pod, flight.victim.pod_name});
}

void forget_what_is_over(const Observation& observation, State& state) {
    std::erase_if(state.passed_over, [&](const PassedOver& entry) { return observation.at >= entry.until; });
    std::erase_if(state.evicted, [&](const PodUid& uid) {
        const ObservedPod* observed = find_pod(observation, uid);
        return observed == nullptr || observed->populated;
    });
}

}  // namespace

MonotonicTime hold_until(const InFlight& flight) { return after(flight.victim.kill_at, pod_cleanup_timeout); }

bool is_held_up(const State& state, MonotonicTime now) {
    return std::any_of(state.in_flight.begin(), state.in_flight.end(),
                       [&](const InFlight& flight) { return now < hold_until(flight); });
}

void settle_victims(const Observation& observation, State& state, Decision& decision) {
    forget_what_is_over(observation, state);
    std::vector<InFlight> flying;
    for (auto& flight : state.in_flight) {
        const ObservedPod* observed = find_pod(observation, flight.victim.pod);
        const Fate fate = fate_of(flight, observed, observation);
        if (fate == Fate::flying) {
            flying.push_back(std::move(flight));
            continue;
        }
        if (fate == Fate::pretended) continue;
        if (fate != Fate::failed)
            state.relieved_at = std::max(state.relieved_at, std::optional(flight.victim.emptied_at));
        if (fate == Fate::gone && observed != nullptr && !observed->populated) {
            state.evicted.push_back(flight.victim.pod);
        }
        const MonotonicTime until = flight.acted_at + pass_over_period;
        if ((fate == Fate::failed || fate == Fate::vanished) && observation.at < until) {
            state.passed_over.push_back({flight.victim.pod, flight.cgroup, until});
        }
        decision.finished.push_back(std::move(flight.victim));
    }
    state.in_flight = std::move(flying);
}

bool kill_after_grace(MonotonicTime now, State& state, Decision& decision) {
    bool any = false;
    for (auto& flight : state.in_flight) {
        if (flight.kill_sent || now < flight.victim.kill_at) continue;
        kill(now, flight, decision);
        any = true;
    }
    return any;
}

bool cut_grace_short(MonotonicTime now, State& state, Decision& decision) {
    bool any = false;
    for (auto& flight : state.in_flight) {
        if (flight.kill_sent) continue;
        flight.victim.kill_at = now;
        kill(now, flight, decision);
        any = true;
    }
    return any;
}

}  // namespace evictd::policy
