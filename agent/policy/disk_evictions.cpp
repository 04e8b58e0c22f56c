// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "disk_evictions.hpp"

#include <algorithm>
#include <utility>

#include "evictd/model/signal.hpp"
#include "evictd/model/text.hpp"
#include "flight.hpp"
#include "moments.hpp"
#include "thresholds.hpp"

namespace evictd::policy {
namespace {

bool could_go(const RankedPod& ranked, const Observation& observation) {
    return ranked.exemption == Exemption::none && observation.pods[ranked.pod].populated;
}

bool is_unknown(const RankedPod& ranked, const Observation& observation) {
    const auto& usage = observation.pods[ranked.pod].usage;
    return usage && usage->disk_partial;
}

bool all_are_known(const Observation& observation) {
    return !observation.usage_unknown &&
           std::none_of(observation.pods.begin(), observation.pods.end(), [](const ObservedPod& observed) {
               return observed.populated && observed.usage && observed.usage->disk_partial;
           });
}

MonotonicTime end_of(const Freeing& one) { return after(one.emptied_at, pod_cleanup_timeout); }

// A signal that was not read says nothing of its thresholds.
bool is_clear(const std::vector<Threshold>& thresholds, const Observation& observation) {
    return std::all_of(thresholds.begin(), thresholds.end(), [&](const Threshold& threshold) {
        return !is_on_disk(threshold.signal) || (observation.readings.at(static_cast<std::size_t>(threshold.signal)) &&
                                                 !is_met(threshold, observation.readings, MinReclaim::enforced));
    });
}

bool were_asked_since(MonotonicTime time, const Readings& readings) {
    for (std::size_t i = 0; i < signal_count; ++i) {
        if (is_on_disk(static_cast<Signal>(i)) && readings.at(i) && readings.at(i)->at <= time) return false;
    }
    return true;
}

}  // namespace

bool is_on_disk(Signal signal) { return traits(signal).condition == Condition::disk_pressure; }

bool is_for_disk(const Eviction& eviction) {
    return eviction.broken_limit || (!eviction.stall && is_on_disk(eviction.threshold.threshold.signal));
}

bool waits_for_disk_usage(const Observation& observation, Decision& decision, State& state) {
    if (!state.disk_wait) return false;
    const auto until = after(state.disk_wait->since, longest_unknown);
    if (observation.at >= until) return false;
    for (const auto& ranked : decision.ranking) {
        if (!could_go(ranked, observation) || !is_unknown(ranked, observation)) continue;
        if (decision.disk_unknown) {
            ++decision.disk_unknown->count;
        } else {
            const bool fresh = !std::exchange(state.disk_wait->told, true);
            decision.disk_unknown = {.first = ranked.pod, .until = until, .fresh = fresh};
        }
    }
    return decision.disk_unknown.has_value();
}

void follow_disk_pressure(const std::vector<FirstObserved>& merged, const Observation& observation, State& state) {
    const auto now = observation.at;
    auto& wait = state.disk_wait;
    const auto on_disk = [](const FirstObserved& entry) { return is_on_disk(entry.threshold.signal); };
    if (wait && wait->calm_since && now >= after(*wait->calm_since, calm_before_new_wait)) wait.reset();
    if (std::none_of(merged.begin(), merged.end(), on_disk)) {
        if (wait && !wait->calm_since) wait->calm_since = now;
        return;
    }
    const bool is_crossed = std::any_of(merged.begin(), merged.end(),
                                        [&](const FirstObserved& entry) { return on_disk(entry) && entry.at == now; });
    const bool is_renewed = wait && is_crossed && (wait->is_known || now >= after(wait->since, new_wait_after));
    if (!wait || is_renewed) wait = DiskWait{.since = now};
    wait->calm_since.reset();
    wait->is_known = wait->is_known || all_are_known(observation);
}

bool is_known_to_hold(const RankedPod& ranked, const Observation& observation) {
    return !is_unknown(ranked, observation) || ranked.usage.value > 0;
}

void begin_freeing(const InFlight& flight, const ObservedVictim& seen, State& state) {
    if (!is_for_disk(flight.victim.eviction) || seen.on_disk != true) return;
    std::erase_if(state.freeing, [&](const Freeing& one) { return one.pod == flight.victim.pod; });
    state.freeing.push_back({flight.victim.pod, flight.victim.pod_name, flight.cgroup, flight.victim.emptied_at});
}

void follow_freeing(const EvictionConfig& config, const Observation& observation, State& state) {
    const bool clear = is_clear(config.thresholds, observation);
    for (auto& one : state.freeing) {
        const auto seen = std::find_if(observation.victims.begin(), observation.victims.end(),
                                       [&](const ObservedVictim& victim) { return victim.pod == one.pod; });
        const bool is_there = seen != observation.victims.end();
        const bool is_left = is_there && seen->on_disk != false;
        // Only its dead containers are left, and it was enough. Should space run short again, they are reclaimed first.
        const bool was_enough = is_there && clear && seen->volumes == false;
        if ((!is_left || was_enough) && !one.removed_at) one.removed_at = observation.at;
    }
    std::erase_if(state.freeing, [&](const Freeing& one) {
        const bool is_free = one.removed_at && were_asked_since(*one.removed_at, observation.readings);
        return is_free || observation.at >= end_of(one);
    });
}

std::optional<MonotonicTime> next_freeing_clock(const State& state) {
    std::optional<MonotonicTime> first;
    for (const auto& one : state.freeing) first = std::min(first.value_or(end_of(one)), end_of(one));
    return first;
}

std::string say_disk_unknown(const UnknownDiskUsage& unknown, const Observation& observation) {
    std::string pods = observation.pods[unknown.first].pod->full_name();
    if (const auto others = unknown.count - 1; others > 0) {
        pods += " and " + std::to_string(others) + (others == 1 ? " other pod" : " other pods");
    }
    return "the disk usage of " + pods + " is not known yet; no pod is evicted for disk until it is, for at most " +
           span_text(longest_unknown);
}

std::string say_freeing(const Observation& observation) {
    std::string said;
    for (const auto& victim : observation.victims) {
        if (victim.on_disk != true) continue;
        const auto found = std::find_if(observation.pods.begin(), observation.pods.end(),
                                        [&](const ObservedPod& observed) { return observed.pod->uid == victim.pod; });
        said += (said.empty() ? "" : ", ") +
                (found == observation.pods.end() ? "UID " + victim.pod.value : found->pod->full_name());
    }
    return "waiting for the disk space of the last evicted pod" + (said.empty() ? said : " (" + said + ")") +
           ": its volumes or containers are still there, or filesystems were not measured since (at most " +
           span_text(pod_cleanup_timeout) + ")";
}

}  // namespace evictd::policy
