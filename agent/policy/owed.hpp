// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The memory that a victim held is owed to the node until it is back. While it is on its way, and after it did not
// come, the next eviction waits: a pod that is killed meanwhile may have been killed for nothing. Chooses no pod.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "evictd/model/config.hpp"
#include "evictd/model/decision.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/state.hpp"

namespace evictd::policy {

// After its last process, memory that did not come back for so long does not come by itself. Measured on 2 CPUs with 20
// to 30 runnable tasks, over 40 kills (400 MiB of anonymous memory, 87 MiB of page tables, 40 processes): up to 280 MiB
// came after the cgroup was empty, and the longest pause was 84 ms with 20 tasks and 232 ms with 30. Too short a period
// costs a wrong report and no pod, because what is overdue holds up the next eviction too; doubled, that report comes
// too late for whoever could free the memory.
inline constexpr Duration settle_period = std::chrono::milliseconds(200);

// evictionMonitoringPeriod of the kubelet: when the last victim did not help, evictd is no faster than it.
inline constexpr Duration slow_pace = std::chrono::seconds(10);

// Of what a victim owes, so much may be missing: page cache and kernel memory that reclaim takes in time. Half of it,
// and most pods would count as not returned; twice as much hides a volume in memory beside a small process.
inline constexpr std::int64_t tolerated_share = 10;
inline constexpr Bytes tolerated = 4_MiB;

// Of memory.available and allocatableMemory.available, in this order.
[[nodiscard]] std::array<std::optional<Amount>, 2> available_memory(const Readings& readings);

// What `state.owing` begins with for a victim that is gone. `seen` is its entry in the observation.
void begin_owing(const InFlight& flight, const ObservedVictim& seen, const Observation& observation, State& state);

// A pod without processes whose turn it is: no signal can reach it, and its memory is reported as not returned at once.
// `threshold`: for which it would have been evicted.
void owe_without_processes(const ObservedPod& observed, const MetThreshold& threshold, const Observation& observation,
                           State& state);

// What came back since the last look. Ends what is paid, marks what is overdue.
void follow_owing(const EvictionConfig& config, const Observation& observation, State& state);

// A victim is gone, and its memory may still be on its way: no pod is evicted.
[[nodiscard]] bool is_returning(const State& state);

// Until when no pod is evicted for memory, because earlier victims did not give theirs back. None: nothing is overdue,
// or what is available of `signal` has fallen since the last eviction. Without a signal: of the one that each victim
// was evicted for.
[[nodiscard]] std::optional<MonotonicTime> slow_until(const State& state, const Observation& observation,
                                                      std::optional<Signal> signal = std::nullopt);

// A pod without a process that holds more than is tolerated. Its place in the order of memory is its own.
[[nodiscard]] bool holds_memory_alone(const ObservedPod& observed);
[[nodiscard]] bool is_overdue(const ObservedPod& observed, const State& state);

// For the decision.
[[nodiscard]] std::vector<OwedMemory> owed_memory(const State& before, const State& state);
// When the next look at it is due.
[[nodiscard]] std::optional<MonotonicTime> next_owing_clock(const State& state, MonotonicTime now);
// "300Mi of what default/big held are not returned"
[[nodiscard]] std::string say_owed(const OwedMemory& owed);

}  // namespace evictd::policy
