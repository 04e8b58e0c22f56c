// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// waitForPodsCleanup of eviction_manager.go without the waiting: conditions and clocks go on meanwhile.
#include "flight.hpp"

#include <algorithm>

#include "disk_evictions.hpp"
#include "evictd/model/back_off.hpp"
#include "moments.hpp"
#include "owed.hpp"
#include "pid_evictions.hpp"

namespace evictd::policy {
namespace {

enum class Fate { flying, gone, vanished, failed, refused, pretended };

// An attempt that failed is repeated after this, then after twice as long, and so on. One a second would fill the event
// log; more than a minute leaves a pod alone whose fault has passed.
constexpr Duration first_retry = std::chrono::seconds(1);
constexpr Duration longest_retry = std::chrono::seconds(60);
// A pod that could not be evicted is remembered so long after it was passed over: the next failure continues the
// series.
constexpr Duration remember_failures = std::chrono::minutes(10);

const ObservedPod* find_pod(const Observation& observation, const PodUid& uid) {
    const auto pod = std::find_if(observation.pods.begin(), observation.pods.end(), [&](const ObservedPod& observed) {
        return observed.pod && observed.pod->uid == uid;
    });
    return pod == observation.pods.end() ? nullptr : &*pod;
}

const ObservedVictim* find_victim(const Observation& observation, const InFlight& flight) {
    const auto seen = std::find_if(observation.victims.begin(), observation.victims.end(), [&](const auto& victim) {
        return victim.pod == flight.victim.pod && victim.cgroup == flight.cgroup;
    });
    return seen == observation.victims.end() ? nullptr : &*seen;
}

// The kernel's word about its cgroup. That its pod is no longer listed, or listed without a cgroup, proves nothing.
std::optional<MonotonicTime> gone_at(const ObservedVictim& seen, const ObservedPod* observed, const InFlight& flight,
                                     MonotonicTime now) {
    const bool same = observed != nullptr && observed->cgroup == flight.cgroup;
    const auto emptied_at = same ? observed->emptied_at : std::nullopt;
    const bool emptied = emptied_at && *emptied_at > flight.acted_at;  // what runs in it now came later
    if (seen.populated == false || emptied) return emptied ? *emptied_at : now;
    return std::nullopt;
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

// A pod under the same uid may have been chosen in a later cgroup.
bool is_of(const Outcome& outcome, const InFlight& flight) {
    const CgroupId cgroup = outcome.action.cgroup;
    return outcome.action.pod == flight.victim.pod && (cgroup == CgroupId{} || cgroup == flight.cgroup);
}

Fate fold_outcome(const Outcome& outcome, InFlight& flight) {
    Victim& victim = flight.victim;
    if (outcome.decided_at != MonotonicTime{}) victim.decided_at = outcome.decided_at;
    switch (outcome.status) {
        case OutcomeStatus::delivered:
            if (outcome.action.kind == ActionKind::kill) killed(outcome.delivered_at, flight);
            flight.failures = 0;
            flight.retry_at = {};
            victim.error.clear();
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
        case OutcomeStatus::refused:
            victim.error = outcome.error;
            return Fate::refused;
    }
    return Fate::flying;
}

void plan_retry(MonotonicTime now, InFlight& flight) {
    flight.failures += 1;
    flight.retry_at = after(now, back_off(first_retry, longest_retry, flight.failures));
}

// An attempt came to nothing, and the kernel does not say that the victim is gone: it is tried again later.
Fate fail_attempt(MonotonicTime now, InFlight& flight, Decision& decision) {
    plan_retry(now, flight);
    if (now >= hold_until(flight)) return Fate::failed;
    Victim& told = decision.failed.emplace_back(flight.victim);
    told.failed = true;
    return Fate::flying;
}

// A victim whose cgroup is observed: it holds up others until it is gone, or for the time of podCleanupTimeout.
Fate followed(Fate fate, InFlight& flight, const Observation& observation, Decision& decision) {
    if (fate == Fate::vanished || fate == Fate::failed) fate = fail_attempt(observation.at, flight, decision);
    const bool failing = flight.retry_at != MonotonicTime{};
    return failing && observation.at >= hold_until(flight) ? Fate::failed : fate;
}

Fate fate_of(InFlight& flight, const ObservedPod* observed, const Observation& observation, Decision& decision) {
    Fate fate = Fate::flying;
    for (const auto& outcome : observation.outcomes) {
        if (is_of(outcome, flight)) fate = std::max(fate, fold_outcome(outcome, flight));
    }
    const ObservedVictim* seen = find_victim(observation, flight);
    const auto gone =
        seen != nullptr ? gone_at(*seen, observed, flight, observation.at) : gone_at(observed, flight, observation.at);
    if (gone) {
        flight.victim.emptied_at = *gone;
        return flight.dry_run ? Fate::pretended : Fate::gone;
    }
    if (fate == Fate::refused) {  // nothing was signalled, and no wait changes that: the next pod's turn
        plan_retry(observation.at, flight);
        fate = Fate::failed;
    } else if (seen != nullptr && !flight.dry_run) {
        fate = followed(fate, flight, observation, decision);
    }
    if (fate == Fate::vanished) flight.victim.emptied_at = observation.at;
    flight.victim.failed = fate == Fate::failed;
    if (fate == Fate::flying && flight.dry_run && observation.at >= hold_until(flight)) return Fate::pretended;
    return fate;
}

void kill(MonotonicTime now, InFlight& flight, Decision& decision) {
    flight.kill_sent = true;
    flight.acted_at = now;
    decision.actions.push_back({ActionKind::kill, flight.victim.pod, flight.victim.pod_name, flight.cgroup,
                                is_for_pids(flight.victim.eviction)});
}

// What it holds counts when it is killed, not when its grace period began.
void weigh(const ObservedPod* observed, const Observation& observation, InFlight& flight) {
    if (flight.kill_sent || observed == nullptr || observed->cgroup != flight.cgroup || !observed->usage) return;
    flight.victim.usage = observed->usage->working_set;
    flight.available = available_memory(observation.readings);
}

// Others go first for a while: longer each time, if it fails again and again.
void pass_over(const InFlight& flight, MonotonicTime now, State& state) {
    const MonotonicTime until = std::max(after(flight.acted_at, pass_over_period), flight.retry_at);
    if (now >= until) return;
    std::erase_if(state.passed_over, [&](const PassedOver& entry) { return entry.pod == flight.victim.pod; });
    state.passed_over.push_back({flight.victim.pod, flight.cgroup, until, flight.failures});
}

void forget_what_is_over(const Observation& observation, State& state) {
    std::erase_if(state.passed_over, [&](const PassedOver& entry) {
        return observation.at >= (entry.failures > 0 ? after(entry.until, remember_failures) : entry.until);
    });
    std::erase_if(state.evicted, [&](const PodUid& uid) {
        const ObservedPod* observed = find_pod(observation, uid);
        return observed == nullptr || observed->populated;
    });
}

}  // namespace

bool is_rejection(const InFlight& flight) { return !flight.victim.eviction.rejected_for.empty(); }

MonotonicTime hold_until(const InFlight& flight) { return after(flight.victim.kill_at, pod_cleanup_timeout); }

bool is_held_up(const State& state, MonotonicTime now) {
    return std::any_of(state.in_flight.begin(), state.in_flight.end(),
                       [&](const InFlight& flight) { return !is_rejection(flight) && now < hold_until(flight); });
}

void settle_victims(const EvictionConfig& config, const Observation& observation, State& state, Decision& decision) {
    forget_what_is_over(observation, state);
    follow_freeing(config, observation, state);
    std::vector<InFlight> flying;
    for (auto& flight : state.in_flight) {
        const ObservedPod* observed = find_pod(observation, flight.victim.pod);
        const Fate fate = fate_of(flight, observed, observation, decision);
        if (fate == Fate::flying) {
            weigh(observed, observation, flight);
            flying.push_back(std::move(flight));
            continue;
        }
        if (fate == Fate::pretended) continue;
        const bool relieves = fate != Fate::failed && !is_rejection(flight);
        if (relieves) state.relieved_at = std::max(state.relieved_at, std::optional(flight.victim.emptied_at));
        if (relieves && is_for_disk(flight.victim.eviction)) state.disk_relieved_at = flight.victim.emptied_at;
        if (fate == Fate::gone && observed != nullptr && !observed->populated) {
            state.evicted.push_back(flight.victim.pod);
        }
        if (fate == Fate::failed || fate == Fate::vanished) pass_over(flight, observation.at, state);
        const ObservedVictim* seen = find_victim(observation, flight);
        if (fate == Fate::gone && seen != nullptr && !is_rejection(flight)) {
            begin_owing(flight, *seen, observation, state);
            begin_freeing(flight, *seen, state);
            begin_reaping(flight, *seen, state);
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

bool retry_failed(MonotonicTime now, bool calm, State& state, Decision& decision) {
    bool any = false;
    for (auto& flight : state.in_flight) {
        const bool failing = flight.retry_at != MonotonicTime{};
        if (!failing || now < flight.retry_at || flight.acted_at == now) continue;
        if (calm && !flight.victim.eviction.broken_limit && !is_rejection(flight)) continue;
        flight.retry_at = after(now, longest_retry);  // unless its outcome says otherwise
        const bool killing = flight.kill_sent;
        kill(now, flight, decision);
        if (!killing) decision.actions.back().kind = ActionKind::terminate;
        flight.kill_sent = killing;
        any = any || !is_rejection(flight);
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
