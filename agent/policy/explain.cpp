// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Sentences are put together from a few phrases; amounts and times are cut off for reading.
#include "explain.hpp"

#include <algorithm>
#include <array>

#include "awaited.hpp"
#include "disk_evictions.hpp"
#include "evictd/model/text.hpp"
#include "explain_reclaim.hpp"
#include "flight.hpp"
#include "moments.hpp"
#include "owed.hpp"
#include "pid_evictions.hpp"
#include "stall.hpp"
#include "thresholds.hpp"

namespace evictd::policy {
namespace {

std::string status_of(const MetThreshold& met, MonotonicTime now) {
    const bool in_time = met.threshold.time_left != Duration::zero();
    const std::string threshold =
        in_time ? span_text(met.threshold.time_left) : amount_text(met.threshold.signal, met.quantity);
    std::string said =
        std::string(name(met.threshold.signal)) + " is " + amount_text(met.threshold.signal, met.available);
    if (in_time) said += ", used up in " + span_text(met.time_left()) + " at this rate";
    if (met.available >= met.quantity && !in_time)
        return said + ", back above " + threshold + " but its minimum reclaim is not reached";
    said += ", under " + threshold;
    if (now > met.first_observed_at) said += " for " + span_text(now - met.first_observed_at);
    return said;
}

// The configured threshold that is nearest to being met, measured by what is left as a share of it.
std::string nothing_met(const EvictionConfig& config, const Observation& observation) {
    std::optional<MetThreshold> nearest;
    const auto room = [](const MetThreshold& met) {
        return static_cast<double>(met.available.value) /
               static_cast<double>(std::max<std::int64_t>(met.quantity.value, 1));
    };
    for (const auto& threshold : config.thresholds) {
        if (threshold.time_left != Duration::zero()) continue;  // in seconds: not comparable with the others
        if (!observation.readings[static_cast<std::size_t>(threshold.signal)]) continue;
        const MetThreshold candidate = describe(FirstObserved{threshold, observation.at}, observation.readings);
        if (!nearest || room(candidate) < room(*nearest)) nearest = candidate;
    }
    if (config.thresholds.empty()) return "no threshold is configured: nothing to do";
    if (!nearest) return "no threshold's signal can be read: no pod can be protected";
    const std::string available = amount_text(nearest->threshold.signal, nearest->available);
    const std::string threshold = amount_text(nearest->threshold.signal, nearest->quantity);
    return std::string(name(nearest->threshold.signal)) + " is " + available +
           (available == threshold ? ", not under " : ", above ") + threshold + ": no eviction needed";
}

// The one whose grace period ends first.
std::string pending(const Decision& decision, MonotonicTime now) {
    const auto end_of = [](const MetThreshold& met) {
        return after(met.first_observed_at, met.threshold.grace_period);
    };
    const auto& first = *std::min_element(decision.thresholds_pending.begin(), decision.thresholds_pending.end(),
                                          [&](const auto& a, const auto& b) { return end_of(a) < end_of(b); });
    return status_of(first, now) + "; the grace period of " + span_text(first.threshold.grace_period) + " ends in " +
           span_text(end_of(first) - now);
}

std::string waiting(const Decision& decision, MonotonicTime now) {
    const Victim& victim = decision.in_flight.back();
    const std::string being = victim.pod_name + " is being evicted; ";
    const bool failing = !victim.error.empty() && victim.killed_at == MonotonicTime{};
    if (failing) return "evicting " + victim.pod_name + " failed and is tried again: " + victim.error;
    if (now < victim.kill_at) return being + "it has " + span_text(victim.kill_at - now) + " left to end by itself";
    return being + "waiting for its last process";
}

std::string pretending(const Decision& decision, MonotonicTime now) {
    const Victim& victim = decision.in_flight.back();
    const std::string would = victim.pod_name + " would be evicted (dry run); ";
    if (now < victim.kill_at) return would + "it would have " + span_text(victim.kill_at - now) + " left to end";
    return would + "nothing was touched, and no other pod is chosen for " +
           span_text(after(victim.kill_at, pod_cleanup_timeout) - now);
}

std::string owed(const Decision& decision, MonotonicTime now) {
    std::string said;
    for (const auto& one : decision.owed) {
        if (!one.overdue || !decision.next_eviction_at) continue;
        said += (said.empty() ? "" : ", ") + say_owed(one);
    }
    if (!said.empty()) {
        return said + "; no other pod is evicted for it in the next " + span_text(*decision.next_eviction_at - now) +
               " unless memory falls further";
    }
    for (const auto& one : decision.owed) {
        if (!one.overdue) said += (said.empty() ? "" : ", ") + say_owed(one);
    }
    return said + "; the next eviction waits for it";
}

// Why the chosen pod comes first among those that may go.
std::string reason_for(const RankedPod& chosen, Signal signal) {
    const std::string priority = std::to_string(chosen.priority);
    if (!chosen.has_usage) return " goes first: its usage is not known";
    if (signal == Signal::pid_available) {
        return " runs " + std::to_string(chosen.usage.value) +
               " processes, the most of the evictable pods with priority " + priority;
    }
    const bool inodes = traits(signal).resource == "inodes";
    if (chosen.exceeds_request && !inodes) {
        return " is over its request by " + amount_text(signal, {chosen.usage.value - chosen.request.value}) +
               ", the most of the evictable pods with priority " + priority;
    }
    if (chosen.exceeds_request) {
        return " uses " + std::to_string(chosen.usage.value) +
               " inodes, and goes first of the evictable pods with priority " + priority;
    }
    return " has the lowest priority, " + priority +
           ", and is nearest to its request: no evictable pod is over its own";
}

// Why the chosen pod is the first of the evictable ones when tasks stall.
std::string stall_reason(const RankedPod& chosen, const MetStall& stall, const Observation& observation) {
    const Bytes work = work_for(stall, observation.pods[chosen.pod]);
    if (work == Bytes{0}) return " goes first: no culprit found; using the memory order";
    return " did " + bytes_text(work.value) +
           " of reclaim work in the last 10s, and has the lowest priority of the pods that cause it, " +
           std::to_string(chosen.priority);
}

std::string evicting(const Decision& decision, const Observation& observation) {
    const Eviction& eviction = *decision.evict;
    const auto chosen = std::find_if(decision.ranking.begin(), decision.ranking.end(), [&](const RankedPod& ranked) {
        return observation.pods[ranked.pod].pod->uid == eviction.pod;
    });
    std::string reason = eviction.stall ? stall_reason(*chosen, *eviction.stall, observation)
                                        : reason_for(*chosen, eviction.threshold.threshold.signal);
    if (chosen->exemption == Exemption::failed_before)
        reason += ", and there is no other pod though its eviction failed before";
    std::string grace;
    if (!eviction.immediate) grace = "; it has " + span_text(eviction.grace_period) + " to end by itself";
    return observation.pods[chosen->pod].pod->full_name() + reason + "; " +
           (eviction.stall ? say_stall(*eviction.stall, observation) : status_of(eviction.threshold, observation.at)) +
           grace;
}

// Within the grace period, or while what is lost may still be the last victim's doing.
std::string stalled(const Decision& decision, const Observation& observation) {
    const auto& pending = decision.stalls_pending;
    if (pending.empty() && !has_culprit(decision.stalls_met.front(), observation)) {
        return say_stall(decision.stalls_met.front(), observation) +
               "; no pod is known to cause it, and none is evicted";
    }
    if (pending.empty()) {
        return say_stall(decision.stalls_met.front(), observation) +
               "; that is still what was lost before the last eviction, whose effect is waited for";
    }
    const auto end = after(pending.front().first_observed_at, pending.front().threshold.grace_period);
    return say_stall(pending.front(), observation) + "; its grace period ends in " + span_text(end - observation.at);
}

// The kill of each stands among the actions.
std::string limits(const Decision& decision) {
    std::string said;
    for (const auto& eviction : decision.limit_evictions) {
        const BrokenLimit& broken = *eviction.broken_limit;
        const auto kill = std::find_if(decision.actions.begin(), decision.actions.end(),
                                       [&](const Action& action) { return action.pod == eviction.pod; });
        constexpr std::array<std::string_view, 3> owner{" for its volume ", " for all its containers",
                                                        " for its container "};
        said += (said.empty() ? "" : ", ") + kill->pod_name + " uses " + bytes_text(broken.used.value) +
                ", more than its limit of " + bytes_text(broken.limit.value()) +
                std::string(owner[static_cast<std::size_t>(broken.kind)]) + broken.name;
    }
    return said;
}

// Victims that ended at this look.
std::string ended(const Decision& decision) {
    std::string said;
    for (const auto& victim : decision.finished) {
        said +=
            victim.failed ? "evicting " + victim.pod_name + " failed: " + victim.error : victim.pod_name + " is gone";
        said += "; ";
    }
    return said;
}

constexpr std::string_view cut_short = " is cut short and it is killed now: a hard threshold is met, ";
constexpr std::string_view not_all_opened =
    "not all pods' cgroups could be opened, and one of those may have to go first: no pod is evicted for memory before "
    "they are, or for 10s; ";

// The threshold, or the stall, that is handled first.
std::string first_met(const Decision& decision, const Observation& observation) {
    return decision.thresholds_met.empty() ? say_stall(decision.stalls_met.front(), observation)
                                           : status_of(decision.thresholds_met.front(), observation.at);
}

// A threshold is met, and no pod is evicted for it.
std::string why_not(Course course, const std::string& first) {
    if (course == Course::stale) return first + ", but it was not read again since the last look";
    if (course == Course::unconfirmed) {
        return first + "; but no task stalls for memory and reclaim succeeds: no pod is evicted for it";
    }
    if (course == Course::pods_unlisted) return std::string(not_all_opened) + first;
    if (course == Course::usage_unknown) return "the pods' usage could not be read: no pod is chosen; " + first;
    if (course == Course::deleted) {
        return first + "; the pod that would be evicted is being deleted, which ends it sooner";
    }
    return first + "; no pod is evicted";
}

std::string about(Course course, const Decision& decision, const std::vector<NodeReclaim>& reclaim,
                  const EvictionConfig& config, const Observation& observation) {
    const auto first = [&] { return first_met(decision, observation); };
    const auto killed = [&] { return decision.actions.front().pod_name; };
    switch (course) {
        case Course::nothing:
            return nothing_met(config, observation);
        case Course::pending:
            return pending(decision, observation.at);
        case Course::waiting:
            return waiting(decision, observation.at);
        case Course::pretending:
            return pretending(decision, observation.at);
        case Course::retrying:
            return "evicting " + killed() + " failed before: it is tried again";
        case Course::owed:
            return owed(decision, observation.at);
        case Course::grace_ended:
            return "the grace period of " + killed() + " is over: it is killed";
        case Course::escalated:
            return "the grace period of " + killed() + std::string(cut_short) + first();
        case Course::limits:
            return limits(decision);
        case Course::reclaiming:
            if (is_in_vain(decision))
                return say_in_vain(decision, first()) + say_not_enough(decision, reclaim, observation);
            return first() + "; " + say_reclaim(decision, reclaim);
        case Course::reclaimed:
            return say_reclaimed(reclaim, observation);
        case Course::no_candidate:
            return say_no_candidate(decision) + "; " + first() + say_not_enough(decision, reclaim, observation);
        case Course::stalled:
            return stalled(decision, observation);
        case Course::unknown_pod:
            return say_awaited(*decision.awaited, observation) + "; " + first();
        case Course::ending_again:
            return "an evicted pod ran again and was killed; waiting for its last process";
        case Course::evicting:
            return evicting(decision, observation);
        case Course::disk_unknown:
            return say_disk_unknown(*decision.disk_unknown, observation) + "; " + first();
        case Course::reaping:
            return say_reaping(observation) + "; " + first();
        case Course::freeing:
            return say_freeing(observation) + "; " + first();
        case Course::stale:
        case Course::unconfirmed:
        case Course::pods_unlisted:
        case Course::usage_unknown:
        case Course::deleted:
        case Course::shutting_down:
            return why_not(course, first());
    }
    return {};
}

}  // namespace

std::string why(Course course, const Decision& decision, const std::vector<NodeReclaim>& reclaim,
                const EvictionConfig& config, const Observation& observation) {
    constexpr std::string_view shuts_down = "; the node is shutting down (reported by ";
    auto text = ended(decision) + about(course, decision, reclaim, config, observation);
    if (decision.shutdown == ShutdownWord::none) return text;
    return text + std::string(shuts_down) +
           (decision.shutdown == ShutdownWord::logind ? "logind)" : "the kubelet, node condition Ready)");
}

}  // namespace evictd::policy
