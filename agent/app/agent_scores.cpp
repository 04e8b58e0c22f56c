// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Sends the thread that keeps oom_score_adj the pods that there are, and the pod that the Decision steers the kernel
// to: nothing of it costs the kill path more than a post.
#include <utility>

#include "app/agent.hpp"

namespace evictd::app {
void Agent::keep_scores(const Tick& tick) {
    const bool steers = tick.decision.steer_to != steered_;
    steered_ = tick.decision.steer_to;
    if (steers || !steered_) {
        practised_for_ = steered_;  // a rehearsal that sees memory near a line again calls for a look again
    }
    if (parts_.scores == nullptr) {
        return;
    }
    if (steers) {
        parts_.scores->steer(steered_);
    }
    const auto kind = tick.observation.cause.kind;
    const bool others = kind == CauseKind::started || kind == CauseKind::pods_changed;
    if (!others && last_look_ - scores_looked_at_ < options_.look_period) {
        return;
    }
    scores_looked_at_ = last_look_;
    std::vector<reconcile::KeptPod> pods;
    pods.reserve(table_.rows().size());
    for (const auto& row : table_.rows()) {
        if (row.cgroup) {
            pods.push_back({row.pod, row.cgroup});
        }
    }
    const auto& node = tick.observation.readings[static_cast<std::size_t>(Signal::memory_available)];
    parts_.scores->look(std::move(pods), Bytes{node ? node->capacity.value : 0});
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
