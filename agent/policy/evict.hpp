// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Who goes, once it is settled that somebody has to: chosen from the ranking, entered in the decision as an action and
// in the state as a victim to be followed to its end.
#pragma once

#include <vector>

#include "decide.hpp"
#include "explain.hpp"

namespace evictd::policy {

// Whether a pod could be chosen from the ranking now.
[[nodiscard]] bool has_candidate(const Observation& observation, const Verdict& verdict, bool on_disk);
// For thresholds on amounts; the first of `acting`, which is not empty, gives the reason and the grace.
[[nodiscard]] Course evict_first(const std::vector<MetThreshold>& acting, const EvictionConfig& config,
                                 const Observation& observation, Verdict& verdict);
[[nodiscard]] Course evict_for_stall(const MetStall& stall, const EvictionConfig& config,
                                     const Observation& observation, Verdict& verdict);
// localStorageEviction: every pod beyond a limit of its own, in the order of the pods. True if there was one.
[[nodiscard]] bool evict_beyond_limits(const EvictionConfig& config, const Observation& observation, Verdict& verdict);

// The eviction as an action, and as a victim to be followed to its end.
void begin_eviction(const ObservedPod& observed, const Eviction& eviction, const EvictionConfig& config,
                    const Observation& observation, Verdict& verdict);

}  // namespace evictd::policy
