// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Pods that arrive while a condition of the node holds: those that admission rejects are ended at once. The rule is
// admission.hpp's; a pod that was there before the condition, or may have been, is never rejected.
#pragma once

#include <optional>
#include <string>

#include "decide.hpp"

namespace evictd::policy {

// Each pod once, as the kubelet asks once. After the course of the look is decided: a rejection neither counts as its
// eviction nor holds up the next.
void reject_arrivals(const EvictionConfig& config, const Observation& observation, Verdict& verdict);

// When the next look at a pod is due that is to be rejected, and has no process yet.
[[nodiscard]] std::optional<MonotonicTime> next_arrival_clock(const EvictionConfig& config, const State& state,
                                                              const Observation& observation);

// "; default/web arrived under MemoryPressure and is rejected"; empty where there is nothing to say.
[[nodiscard]] std::string say_rejected(const Decision& decision);

}  // namespace evictd::policy
