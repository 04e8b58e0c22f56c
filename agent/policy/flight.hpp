// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Victims from the decision to their last process: what came of the last actions, who is gone, whose grace period is
// over, and how long a victim holds up the next eviction. Chooses nobody.
#pragma once

#include <optional>

#include "evictd/model/decision.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/state.hpp"

namespace evictd::policy {

// podCleanupTimeout of eviction_manager.go: how long a victim that does not go holds up the next eviction. Halved,
// two pods die where one was only slow to exit; doubled, a victim stuck in the kernel delays relief for a minute.
inline constexpr Duration pod_cleanup_timeout = std::chrono::seconds(30);

// How long a pod that could not be evicted stands behind every other candidate. Shorter than a kubelet's cleanup
// timeout it would be tried again before the next victim is gone; longer, a passing fault protects it for too long.
inline constexpr Duration pass_over_period = std::chrono::seconds(30);

// A pod that was not admitted: it had no time to cause anything, so nothing waits for it.
[[nodiscard]] bool is_refusal(const InFlight& flight);

// When the victim no longer holds up others: its kill, or the end of its grace period, and the time to clean up.
[[nodiscard]] MonotonicTime hold_until(const InFlight& flight);

// Whether a victim holds up the next eviction now.
[[nodiscard]] bool is_held_up(const State& state, MonotonicTime now);

// Folds in the outcomes of the last actions and moves victims that ended from `state` to `decision.finished`.
void settle_victims(const EvictionConfig& config, const Observation& observation, State& state, Decision& decision);

// Kills victims whose grace period is over. True if there was one.
bool kill_after_grace(MonotonicTime now, State& state, Decision& decision);

// Repeats what failed, each time later. `calm`: no threshold is met, and only a pod that broke a limit of its own still
// has to go. True if there was one.
bool retry_failed(MonotonicTime now, bool calm, State& state, Decision& decision);

// Kills victims within their grace period: the node cannot wait for them. The kubelet does wait, blind to hard
// thresholds for as long as the grace period lasts; evictd does not, on purpose. True if there was one.
bool cut_grace_short(MonotonicTime now, State& state, Decision& decision);

}  // namespace evictd::policy
