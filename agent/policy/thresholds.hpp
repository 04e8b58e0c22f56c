// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which thresholds are met, since when, and in which order they are handled: the first half of the kubelet's
// synchronize(), step for step. Knows nothing of pods.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "evictd/model/config.hpp"
#include "evictd/model/decision.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/state.hpp"

namespace evictd::policy {

// GetThresholdQuantity: a percentage is taken of the capacity in float64 and cut off, not rounded.
[[nodiscard]] Quantity resolve(const ThresholdValue& value, Amount capacity);

// Bytes count in binary units, inodes and process IDs in decimal ones: makeSignalObservations.
[[nodiscard]] Quantity::Format format_of(Signal signal);

// Available memory: the node's, and that of all pods together.
inline constexpr std::array memory_signals{Signal::memory_available, Signal::allocatable_memory_available};

// So near above a memory threshold, everybody gets ready for it. What a hog at full speed takes in 8 ms, several times
// what it takes to look and rehearse. Half of it, and a fast hog is at the line before anybody is ready; double it, and
// more nodes are "near" all the time.
inline constexpr Bytes approach = 64_MiB;

enum class MinReclaim { ignored, enforced };

// Strictly value > available, with the minimum reclaim on top where it is enforced. No reading: not met.
[[nodiscard]] bool is_met(const Threshold& threshold, const Readings& readings, MinReclaim min_reclaim);

// Some threshold on memory that is met would not be with `more` available.
[[nodiscard]] bool would_relieve(Bytes more, const EvictionConfig& config, const Readings& readings);

// What is met at this look.
struct ThresholdPass {
    std::vector<FirstObserved> merged;  // met, or met before and its minimum reclaim not reached; grace period ignored
    std::vector<FirstObserved> satisfied;  // of those, the ones past their grace period, in the order of handling
    std::vector<FirstObserved> updated;    // of those, the ones whose reading is newer than at the last look
};
[[nodiscard]] ThresholdPass pass_thresholds(const EvictionConfig& config, const Observation& observation,
                                            const State& state);

// Conditions are independent of grace periods; each stays until the transition period after it was last observed.
[[nodiscard]] decltype(State::condition_last_observed) conditions_last_observed(
    const std::vector<FirstObserved>& merged, const State& state, MonotonicTime now);
[[nodiscard]] std::vector<Condition> conditions_reported(const decltype(State::condition_last_observed)& last_observed,
                                                         Duration transition_period, MonotonicTime now);

[[nodiscard]] MetThreshold describe(const FirstObserved& threshold, const Readings& readings);
[[nodiscard]] std::vector<MetThreshold> describe(const std::vector<FirstObserved>& thresholds,
                                                 const Readings& readings);

// What changed against the last look.
[[nodiscard]] std::vector<ThresholdEdge> threshold_edges(const std::vector<FirstObserved>& before,
                                                         const std::vector<FirstObserved>& now,
                                                         const Readings& readings);
[[nodiscard]] std::vector<ConditionEdge> condition_edges(const std::vector<Condition>& before,
                                                         const std::vector<Condition>& now);

}  // namespace evictd::policy
