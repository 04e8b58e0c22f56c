// SPDX-License-Identifier: Apache-2.0
#include "stall.hpp"

#include <algorithm>

#include "evictd/model/quantity.hpp"
#include "moments.hpp"

namespace evictd::policy {
namespace {

const NodeStall* node_stall(const Observation& observation, StallResource resource) {
    const auto found = std::find_if(observation.stalls.begin(), observation.stalls.end(),
                                    [&](const NodeStall& stall) { return stall.resource == resource; });
    return found == observation.stalls.end() ? nullptr : &*found;
}

std::optional<Duration> lost_by_node(const StallThreshold& threshold, const Observation& observation) {
    const NodeStall* stall = node_stall(observation, threshold.resource);
    const auto* times = stall == nullptr ? nullptr : threshold.kind == StallKind::some ? &stall->some : &stall->full;
    if (times == nullptr || !*times) return std::nullopt;
    return (**times)[static_cast<std::size_t>(threshold.window)];
}

void add_if_met(const StallThreshold& threshold, Duration lost, const PodUid& pod, const State& state,
                MonotonicTime now, std::vector<MetStall>& merged) {
    if (lost < line_of(threshold)) return;
    const auto before =
        std::find_if(state.first_stalled.begin(), state.first_stalled.end(),
                     [&](const FirstStalled& entry) { return entry.threshold == threshold && entry.pod == pod; });
    merged.push_back({threshold, lost, before == state.first_stalled.end() ? now : before->at, pod});
}

bool same(const MetStall& met, const FirstStalled& entry) {
    return met.threshold == entry.threshold && met.pod == entry.pod;
}

// What is told of a stall that is no longer met: how much is lost now is nobody's question any more.
MetStall cleared(const FirstStalled& entry) { return {entry.threshold, Duration{0}, entry.at, entry.pod}; }

const Bytes& work_of(const RankedPod& ranked, const Observation& observation) {
    static constexpr Bytes none;
    const auto& stall = observation.pods[ranked.pod].stall;
    return stall ? stall->reclaimed : none;
}

}  // namespace

bool may_cause(const MetStall& stall, const ObservedPod& pod) {
    switch (stall.threshold.resource) {
        case StallResource::memory:
            return true;
        case StallResource::io:
            return pod.stall && pod.stall->reclaimed > Bytes{0};
        case StallResource::cpu:
            break;
    }
    return false;
}

bool has_culprit(const MetStall& stall, const Observation& observation) {
    return stall.threshold.resource == StallResource::memory ||
           std::any_of(observation.pods.begin(), observation.pods.end(),
                       [&](const ObservedPod& pod) { return may_cause(stall, pod); });
}

StallPass pass_stalls(const EvictionConfig& config, const Observation& observation, const State& state) {
    StallPass pass;
    for (const auto& threshold : config.stalls) {
        if (threshold.scope == StallScope::node) {
            if (const auto lost = lost_by_node(threshold, observation)) {
                add_if_met(threshold, *lost, {}, state, observation.at, pass.merged);
            }
            continue;
        }
        for (const auto& pod : observation.pods) {
            if (!pod.pod || !pod.stall) continue;
            add_if_met(threshold, pod.stall->some[static_cast<std::size_t>(threshold.window)], pod.pod->uid, state,
                       observation.at, pass.merged);
        }
    }
    for (const auto& met : pass.merged) {
        if (observation.at - met.first_observed_at < met.threshold.grace_period) continue;
        pass.satisfied.push_back(met);
        const bool fresh =
            !state.relieved_at || observation.at >= after(*state.relieved_at, length(met.threshold.window));
        if (fresh && has_culprit(met, observation)) pass.acting.push_back(met);
    }
    // Hard before soft: what has no time to lose is handled first.
    std::stable_partition(pass.acting.begin(), pass.acting.end(),
                          [](const MetStall& met) { return met.threshold.hard(); });
    return pass;
}

void report_stalls(const StallPass& pass, const State& before, MonotonicTime now, Decision& decision, State& next) {
    decision.stalls_met = pass.satisfied;
    next.first_stalled.clear();
    for (const auto& met : pass.merged) {
        next.first_stalled.push_back({met.threshold, met.first_observed_at, met.pod});
        if (now - met.first_observed_at < met.threshold.grace_period) decision.stalls_pending.push_back(met);
        if (met.threshold.resource == StallResource::memory) {
            next.condition_last_observed[static_cast<std::size_t>(Condition::memory_pressure)] = now;
        }
        const bool known = std::any_of(before.first_stalled.begin(), before.first_stalled.end(),
                                       [&](const FirstStalled& entry) { return same(met, entry); });
        if (!known) decision.stall_edges.push_back({true, met});
    }
    for (const auto& entry : before.first_stalled) {
        const bool still =
            std::any_of(pass.merged.begin(), pass.merged.end(), [&](const MetStall& met) { return same(met, entry); });
        if (!still) decision.stall_edges.push_back({false, cleared(entry)});
    }
}

std::optional<MonotonicTime> next_stall_clock(const StallPass& pass, const State& state, MonotonicTime now) {
    std::optional<MonotonicTime> next;
    const auto consider = [&](MonotonicTime time) {
        if (time > now && (!next || time < *next)) next = time;
    };
    for (const auto& met : pass.merged) {
        consider(after(met.first_observed_at, met.threshold.grace_period));
        if (state.relieved_at) consider(after(*state.relieved_at, length(met.threshold.window)));
    }
    return next;
}

void rank_by_stall(const Observation& observation, std::vector<RankedPod>& ranking) {
    Int128 all = 0;
    for (const auto& ranked : ranking) all += work_of(ranked, observation).value;
    const auto causes = [&](const RankedPod& ranked) {
        const Int128 work = work_of(ranked, observation).value;
        return work > 0 && work * whole_share >= all * culprit_share;
    };
    const auto end = std::stable_partition(ranking.begin(), ranking.end(), causes);
    std::stable_sort(ranking.begin(), end, [&](const RankedPod& a, const RankedPod& b) {
        if (a.priority != b.priority) return a.priority < b.priority;
        return work_of(a, observation) > work_of(b, observation);
    });
}

bool is_confirmed(const Observation& observation) {
    const NodeStall* memory = node_stall(observation, StallResource::memory);
    if (memory == nullptr || !memory->some) return true;
    if (observation.cause.event && std::holds_alternative<OomKill>(observation.cause.event->kind)) return true;
    const auto enough = [&](StallWindow window) {
        const StallThreshold line{.window = window, .share = confirming_share};
        return (*memory->some)[static_cast<std::size_t>(window)] >= line_of(line);
    };
    return enough(StallWindow::tenth) || enough(StallWindow::second);
}

std::int64_t share_of(const MetStall& stall) {
    const auto step = length(stall.threshold.window) / whole_share;
    return stall.lost / step;
}

std::string say_share(std::int64_t hundredths) {
    std::string said = std::to_string(hundredths / 100);
    if (hundredths % 100 != 0) {
        said += "." + std::to_string(hundredths % 100 + 100).substr(1);
        if (said.back() == '0') said.pop_back();
    }
    return said + "%";
}

std::string say_stall(const MetStall& stall, const Observation& observation) {
    std::string whose = "tasks of the node";
    for (const auto& observed : observation.pods) {
        if (observed.pod && !stall.pod.value.empty() && observed.pod->uid == stall.pod) {
            whose = "tasks of " + observed.pod->full_name();
        }
    }
    return whose + " stood still for " + std::string(name(stall.threshold.resource)) + " for " +
           say_share(share_of(stall)) + " of the last " + std::string(name(stall.threshold.window)) + " (" +
           std::string(name(stall.threshold.kind)) + "), threshold " + say_share(stall.threshold.share);
}

std::string stall_message(const MetStall& stall) {
    return "The node was low on resource: " + std::string(name(stall.threshold.resource)) +
           ". Tasks stood still for it: threshold " + say_share(stall.threshold.share) + " of " +
           std::string(name(stall.threshold.window)) + ", lost: " + say_share(share_of(stall)) + ". ";
}

}  // namespace evictd::policy
