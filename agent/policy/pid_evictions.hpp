// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What evictions for PIDs wait for: a task that ended keeps its PID until it is reaped, which may be long after the
// victim's cgroup was empty. A look in between would find too few PIDs still, and take another pod.
#pragma once

#include <optional>
#include <string>

#include "evictd/model/config.hpp"
#include "evictd/model/decision.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/state.hpp"

namespace evictd::policy {

[[nodiscard]] bool is_for_pids(const Eviction& eviction);
// Whether the tasks that `victim` still holds are counted: it was evicted for PIDs, and evictions for them wait for it.
[[nodiscard]] bool are_tasks_followed(const ObservedVictim& victim, const State& state);
// What `state.reaping` begins with for a victim that is gone. `seen` is its entry in the observation.
void begin_reaping(const InFlight& flight, const ObservedVictim& seen, State& state);
// Ends those of which no task is left, and in any case after 10 s, as long as the kubelet waits from look to look.
// A threshold that is no longer met ends none whose tasks can be counted: the first that something has waited for clear
// it, and the next fork anywhere on the node meets it again. Where tasks can no longer be counted, because the cgroup
// was removed, what was counted last holds until the threshold is clear; where they were never counted, 1 s. A count
// that failed otherwise changes nothing. What is left never rises: more tasks in the same cgroup belong to a container
// that was started anew.
void follow_reaping(const EvictionConfig& config, const Observation& observation, State& state);
// When their tasks are to be counted again.
[[nodiscard]] std::optional<MonotonicTime> next_reaping_clock(const State& state, MonotonicTime now);
// Whether what victims still hold explains that `met` is met: with their tasks gone it would not be, and others have
// not taken much since. Otherwise a second fork bomb that takes what the first one's tasks give back would be left
// alone.
[[nodiscard]] bool waits_for_reaping(const MetThreshold& met, const State& state);
[[nodiscard]] std::string say_reaping(const Observation& observation);

}  // namespace evictd::policy
