// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the agent says to the keeper of oom_score_adj: which pods there are, and whom the kernel should take if it is
// faster. Only said here, done elsewhere: nothing of it costs the kill path more than a post.
#include <algorithm>
#include <utility>

#include "app/agent.hpp"
#include "app/watermarks.hpp"

namespace evictd::app {
namespace {

// Whom memory takes next: a victim that still has its grace period, else the first who may be evicted. None while the
// order is by another signal.
std::optional<PodUid> next_for_memory(const Tick& tick) {
    for (const auto& victim : tick.decision.in_flight) {
        if (is_memory(victim.eviction.threshold.threshold.signal) && !victim.eviction.broken_limit) {
            return victim.pod;
        }
    }
    if (tick.decision.awaited || tick.observation.usage_unknown || tick.observation.pods_unlisted) {
        return std::nullopt;  // who would be first is not known
    }
    const auto& met = tick.decision.thresholds_met;
    if (!met.empty() && !is_memory(met.front().threshold.signal)) {
        return std::nullopt;
    }
    const auto& ranking = tick.decision.ranking;
    const auto first = std::find_if(ranking.begin(), ranking.end(), [&](const RankedPod& ranked) {
        return ranked.exemption == Exemption::none && tick.observation.pods[ranked.pod].populated;
    });
    return first == ranking.end() ? std::nullopt : std::optional(tick.observation.pods[first->pod].pod->uid);
}

}  // namespace

void Agent::keep_scores(const Tick& tick) {
    if (parts_.scores == nullptr) {
        return;
    }
    const bool close = is_close(watermarks_, tick.observation.readings);
    steer(close ? next_for_memory(tick) : std::nullopt);
    const auto kind = tick.observation.cause.kind;
    const bool others = kind == CauseKind::started || kind == CauseKind::pods_changed;
    if (!others && last_look_ - scores_looked_at_ < options_.look_period) {
        return;
    }
    scores_looked_at_ = last_look_;
    std::vector<act::KeptPod> pods;
    pods.reserve(table_.rows().size());
    for (const auto& row : table_.rows()) {
        if (row.cgroup) {
            pods.push_back({row.pod, row.cgroup});
        }
    }
    const auto& node = tick.observation.readings[static_cast<std::size_t>(Signal::memory_available)];
    parts_.scores->look(std::move(pods), Bytes{node ? node->capacity.value : 0});
}

void Agent::steer(std::optional<PodUid> first) {
    if (parts_.scores != nullptr && first != steered_) {
        steered_ = std::move(first);
        parts_.scores->steer(steered_);
    }
}

// A pod that is new, or that has its first process.
void Agent::expect_scores(const CgroupLife& life) {
    const auto uid = table_.uid_of(life.cgroup);
    const bool begins = life.change == CgroupChange::made || life.change == CgroupChange::populated;
    if (parts_.scores == nullptr || !begins || !uid) {
        return;
    }
    auto pod = table_.pod(*uid);
    auto cgroup = table_.cgroup_of(*uid);
    if (pod && cgroup) {
        parts_.scores->expect({std::move(pod), std::move(cgroup)});
    }
}

void Agent::check_scores(const OomScoreChanged& changed) {
    const auto uid = table_.uid_of(changed.pod_cgroup);
    if (parts_.scores != nullptr && uid) {
        parts_.scores->check(*uid);
    }
}

}  // namespace evictd::app
