// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "steering.hpp"

#include <algorithm>
#include <vector>

#include "rank.hpp"
#include "watermarks.hpp"

namespace evictd::policy {

std::optional<PodUid> steer_to(const EvictionConfig& config, const Observation& observation, const State& state,
                               const Decision& decision) {
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
    // A disk or PIDs may be short, too.
    const bool by_memory = is_memory(decision.ranked_by);
    const auto others =
        by_memory ? std::vector<RankedPod>() : rank_pods(config, Signal::memory_available, observation, state);
    const auto& ranking = by_memory ? decision.ranking : others;
    const auto first = std::find_if(ranking.begin(), ranking.end(), [&](const RankedPod& ranked) {
        return ranked.exemption == Exemption::none && observation.pods[ranked.pod].populated;
    });
    return first == ranking.end() ? std::nullopt : std::optional(observation.pods[first->pod].pod->uid);
}

}  // namespace evictd::policy
