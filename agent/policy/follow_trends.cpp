// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "follow_trends.hpp"

#include <algorithm>
#include <utility>

#include "disk_growers.hpp"
#include "disk_trends.hpp"
#include "exhaustion.hpp"
#include "trends.hpp"

namespace evictd::policy {
namespace {

// A victim was killed, or is gone: it gives back more than everybody else takes meanwhile.
bool has_returned(const Observation& observation, const Decision& decision) {
    return !decision.finished.empty() ||
           std::any_of(observation.outcomes.begin(), observation.outcomes.end(), [](const Outcome& outcome) {
               return outcome.action.kind == ActionKind::kill && outcome.status == OutcomeStatus::delivered;
           });
}

// What pods keep is followed only while a disk fills, because the state is copied for each decision, and not at a
// kernel event, which is urgent and for which nothing is walked.
void follow_growers(const Observation& observation, Verdict& verdict) {
    auto& [decision, next] = verdict;
    if (decision.disk_exhaustion.empty()) {
        next.pod_disk_trends.clear();
    } else if (observation.cause.kind != CauseKind::kernel_event) {
        next.pod_disk_trends = follow_pod_disks(std::move(next.pod_disk_trends), observation);
        name_disk_growers(next.pod_disk_trends, observation, decision.disk_exhaustion);
    }
}

}  // namespace

void follow_trends(const EvictionConfig& config, const Observation& observation, Verdict& verdict) {
    auto& [decision, next] = verdict;
    const bool anew = has_returned(observation, decision);
    next.trends = follow(next.trends, observation, anew);
    next.disk_trends = follow_disks(next.disk_trends, observation, interval_of_disks(config), anew);
    decision.exhaustion = exhaustion(next.trends, observation);
    decision.disk_exhaustion = disk_exhaustion(config, next.disk_trends, observation);
    follow_growers(observation, verdict);
}

}  // namespace evictd::policy
