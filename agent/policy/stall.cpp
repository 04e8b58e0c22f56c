// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "stall.hpp"

#include <algorithm>
#include <utility>

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

// What was lost of a threshold's window, and when that was measured.
struct Lost {
    Duration lost;
    MonotonicTime at;
};

std::optional<Lost> lost_by_pod(const StallThreshold& threshold, const ObservedPod& pod, MonotonicTime now) {
    if (!pod.pod || !pod.stall) return std::nullopt;
    const auto window = static_cast<std::size_t>(threshold.window);
    const auto at = pod.stall->read_at.value_or(now);
    if (threshold.kind == StallKind::some) return Lost{pod.stall->some[window], at};
    return pod.stall->full ? std::optional(Lost{(*pod.stall->full)[window], at}) : std::nullopt;
}

// Collects what is met at one look.
class StallLook {
public:
    StallLook(const Observation& observation, const State& state) : observation_(observation), state_(state) {}

    void add(const StallThreshold& threshold, Lost lost, const PodUid& pod) {
        if (lost.lost < line_of(threshold)) return;
        const auto& first = state_.first_stalled;
        const auto before = std::find_if(first.begin(), first.end(), [&](const FirstStalled& entry) {
            return entry.threshold == threshold && entry.pod == pod;
        });
        const MetStall met{threshold, lost.lost, before == first.end() ? observation_.at : before->at, pod};
        pass_.merged.push_back(met);
        if (observation_.at - met.first_observed_at < threshold.grace_period) return;
        pass_.satisfied.push_back(met);
        const bool fresh = !state_.relieved_at || lost.at >= after(*state_.relieved_at, length(threshold.window));
        if (fresh && has_culprit(met, observation_)) pass_.acting.push_back(met);
    }
    StallPass done() && {
        // Hard before soft: what has no time to lose is handled first.
        std::stable_partition(pass_.acting.begin(), pass_.acting.end(),
                              [](const MetStall& met) { return met.threshold.hard(); });
        return std::move(pass_);
    }

private:
    const Observation& observation_;
    const State& state_;
    StallPass pass_;
};

bool same(const MetStall& met, const FirstStalled& entry) {
    return met.threshold == entry.threshold && met.pod == entry.pod;
}

// What is reported of a stall that is no longer met; how much is lost now no longer matters.
MetStall cleared(const FirstStalled& entry) { return {entry.threshold, Duration{0}, entry.at, entry.pod}; }

Bytes work_of(const MetStall& met, const RankedPod& ranked, const Observation& observation) {
    return work_for(met, observation.pods[ranked.pod]);
}

// All that is known to be reclaimed was reclaimed at pods' own limits: those wait for themselves, and no other pod's
// memory would help them.
bool only_at_own_limits(const MetStall& stall, const Observation& observation) {
    bool any = false;
    for (const auto& pod : observation.pods) {
        if (work_for(stall, pod) > Bytes{0}) return false;
        any = any || (pod.stall && pod.stall->reclaimed > Bytes{0});
    }
    return any;
}

// Whoever gives memory back ends the node's waiting for it.
bool is_anybodys(const StallThreshold& threshold) {
    return threshold.resource == StallResource::memory && threshold.scope == StallScope::node;
}

}  // namespace

Bytes work_for(const MetStall& stall, const ObservedPod& pod) {
    if (!pod.stall) return {};
    const bool own = stall.threshold.scope == StallScope::pod && pod.pod && pod.pod->uid == stall.pod;
    return own ? pod.stall->reclaimed : pod.stall->reclaimed_for_node.value_or(pod.stall->reclaimed);
}

bool may_cause(const MetStall& stall, const ObservedPod& pod) {
    if (stall.threshold.resource == StallResource::cpu) return false;
    return is_anybodys(stall.threshold) || work_for(stall, pod) > Bytes{0};
}

bool has_culprit(const MetStall& stall, const Observation& observation) {
    if (is_anybodys(stall.threshold)) return !only_at_own_limits(stall, observation);
    return std::any_of(observation.pods.begin(), observation.pods.end(),
                       [&](const ObservedPod& pod) { return may_cause(stall, pod); });
}

StallPass pass_stalls(const EvictionConfig& config, const Observation& observation, const State& state) {
    StallLook pass(observation, state);
    for (const auto& threshold : config.stalls) {
        if (threshold.scope == StallScope::node) {
            if (const auto lost = lost_by_node(threshold, observation)) {
                pass.add(threshold, {*lost, observation.at}, {});
            }
            continue;
        }
        for (const auto& pod : observation.pods) {
            if (const auto lost = lost_by_pod(threshold, pod, observation.at)) {
                pass.add(threshold, *lost, pod.pod->uid);
            }
        }
    }
    return std::move(pass).done();
}

void report_stalls(const StallPass& pass, const State& before, MonotonicTime now, Decision& decision, State& next) {
    decision.stalls_met = pass.satisfied;
    next.first_stalled.clear();
    for (const auto& met : pass.merged) {
        next.first_stalled.push_back({met.threshold, met.first_observed_at, met.pod});
        if (now - met.first_observed_at < met.threshold.grace_period) decision.stalls_pending.push_back(met);
        if (met.threshold.scope == StallScope::node) {
            next.node_stall_last_observed = now;
            if (met.threshold.resource == StallResource::memory) {
                next.condition_last_observed[static_cast<std::size_t>(Condition::memory_pressure)] = now;
            }
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

void rank_by_stall(const MetStall& stall, const Observation& observation, std::vector<RankedPod>& ranking) {
    Int128 all = 0;
    for (const auto& ranked : ranking) all += work_of(stall, ranked, observation).value;
    const auto causes = [&](const RankedPod& ranked) {
        const Int128 work = work_of(stall, ranked, observation).value;
        return work > 0 && work * whole_share >= all * culprit_share;
    };
    const auto end = std::stable_partition(ranking.begin(), ranking.end(), causes);
    std::stable_sort(ranking.begin(), end, [&](const RankedPod& a, const RankedPod& b) {
        if (a.priority != b.priority) return a.priority < b.priority;
        return work_of(stall, a, observation) > work_of(stall, b, observation);
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
    return whose + " stalled on " + std::string(name(stall.threshold.resource)) + " for " + say_share(share_of(stall)) +
           " of the last " + std::string(name(stall.threshold.window)) + " (" +
           std::string(name(stall.threshold.kind)) + "), threshold " + say_share(stall.threshold.share);
}

std::string stall_message(const MetStall& stall) {
    return "The node was low on resource: " + std::string(name(stall.threshold.resource)) + ". Tasks stalled on " +
           std::string(name(stall.threshold.resource)) + ": threshold " + say_share(stall.threshold.share) + " of " +
           std::string(name(stall.threshold.window)) + ", lost: " + say_share(share_of(stall)) + ". ";
}

}  // namespace evictd::policy
