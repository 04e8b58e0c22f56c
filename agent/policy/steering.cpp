// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "steering.hpp"

#include <algorithm>

#include "watermarks.hpp"

namespace evictd::policy {

std::optional<PodUid> steer_to(const EvictionConfig& config, const Observation& observation, const Decision& decision) {
    const auto lines = watermarks_for(config.thresholds, observation.readings);
    if (!is_close(lines, observation.readings)) {
        return std::nullopt;
    }
    for (const auto& victim : decision.in_flight) {
        if (is_memory(victim.eviction.threshold.threshold.signal) && !victim.eviction.broken_limit) {
            return victim.pod;
        }
    }
    if (decision.awaited || observation.usage_unknown || observation.pods_unlisted) {
        return std::nullopt;
    }
    const auto& met = decision.thresholds_met;
    if (!met.empty() && !is_memory(met.front().threshold.signal)) {
        return std::nullopt;
    }
    const auto first = std::find_if(decision.ranking.begin(), decision.ranking.end(), [&](const RankedPod& ranked) {
        return ranked.exemption == Exemption::none && observation.pods[ranked.pod].populated;
    });
    return first == decision.ranking.end() ? std::nullopt : std::optional(observation.pods[first->pod].pod->uid);
}

}  // namespace evictd::policy
