// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Pods that are ended in the API as well as on the node: what the API server is to show of them, and that they stay
// ended. No kubelet does this: it ends its pods itself. From outside, a kill alone is a crash that the kubelet repairs
// within a second, and a phase alone is put back; both together, and watched, end a pod. Chooses no pod.
#pragma once

#include <optional>
#include <string>

#include "evictd/model/config.hpp"
#include "evictd/model/decision.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/state.hpp"

namespace evictd::policy {

// The longest that the Eviction API is asked again after refusals, and that it may leave a request without an answer.
// The kubelet's own soft evictions ask nobody: longer, and a budget that is too tight keeps a node under pressure.
inline constexpr Duration longest_asking = std::chrono::seconds(30);
inline constexpr Duration longest_unanswered = std::chrono::seconds(2);

// Watched at least so long after the last kill or answer. The status manager of the kubelet writes its own status every
// 10 s.
inline constexpr Duration watch_period = std::chrono::seconds(12);

// What happened to ended pods since the last look; those that came back are killed again, with a new attempt.
void follow_ended(const EvictionConfig& config, const Observation& observation, State& state, Decision& decision);

// An eviction of `observed` begins. True: the Eviction API is asked first, so nothing is to be signalled yet.
[[nodiscard]] bool end_pod(const EvictionConfig& config, const ObservedPod& observed, const Eviction& eviction,
                           const Observation& observation, State& state);

// After all else is decided: a kill of this look is an attempt, and the desired statuses are listed.
void desire_pod_statuses(const Observation& observation, State& state, Decision& decision);

// A pod that was killed for coming back may still run: until it is known, no other is evicted.
[[nodiscard]] bool is_ending_again(const State& state, MonotonicTime now);

[[nodiscard]] bool is_ending(const State& state, const PodUid& pod);
[[nodiscard]] bool is_held_down(const State& state, const PodUid& pod);

// Its deletion ends it within `grace_period`, sooner than an eviction would. One that is long overdue does not.
[[nodiscard]] bool is_being_deleted(const Pod& pod, WallTime now, Duration grace_period);

// Whether the kernel's word is wanted on each cgroup that fills or empties: a pod may come back.
[[nodiscard]] bool is_watched(const EndedPod& ended);

[[nodiscard]] std::optional<MonotonicTime> next_ended_clock(const State& state, const Observation& observation);

// "; default/web came back and is killed again"; empty where there is nothing to say.
[[nodiscard]] std::string say_ended(const Decision& decision);

}  // namespace evictd::policy
