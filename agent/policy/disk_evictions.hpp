// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// When no pod is evicted for disk though a threshold is met: it is not known yet what each pod keeps on disk, or what
// the last victim kept is still being removed. The kubelet knows the first, because its summary has every pod, and
// waits for the second (podCleanupTimeout): space that is still taken says nothing of whether the eviction was enough.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evictd/model/decision.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/state.hpp"

namespace evictd::policy {

// Whether the signal is one of disk.
[[nodiscard]] bool is_on_disk(Signal signal);
// For a threshold on disk, or a limit of the pod's own.
[[nodiscard]] bool is_for_disk(const Eviction& eviction);

// How long evictions for disk wait for what is not known of pods. Longer, and a disk is full before a pod is evicted;
// shorter, and a large tree is not walked by then.
inline constexpr Duration longest_unknown = std::chrono::seconds(10);
// Where it never becomes known, pressure that comes and goes begins a new wait only after it was away for this long, or
// as often as this: it does not hold up evictions forever.
inline constexpr Duration calm_before_new_wait = std::chrono::seconds(3);
inline constexpr Duration new_wait_after = std::chrono::seconds(30);

// Begins, renews and ends `state.disk_wait`. `merged`: of this look's ThresholdPass.
void follow_disk_pressure(const std::vector<FirstObserved>& merged, const Observation& observation, State& state);

// Some pod that could be evicted may keep more than is known of it (PodUsage::disk_partial). For 10 s from the crossing
// that began the wait, reclaims included: then what is known decides, and a pod of which nothing is known is not chosen
// (is_known_to_hold()).
// Fills Decision::disk_unknown then.
[[nodiscard]] bool waits_for_disk_usage(const Observation& observation, Decision& decision, State& state);

// False: to evict it may free nothing. True of a pod whose usage is wholly known, as the kubelet has it, also if that
// is nothing.
[[nodiscard]] bool is_known_to_hold(const RankedPod& ranked, const Observation& observation);

// What `state.freeing` begins with for a victim that is gone. `seen` is its entry in the observation.
void begin_freeing(const InFlight& flight, const ObservedVictim& seen, State& state);
// Ends what was removed, once filesystems were asked after that, and what was not within the time. Dead containers are
// not waited for where no threshold on disk is met without them.
void follow_freeing(const EvictionConfig& config, const Observation& observation, State& state);
// When the first one's time is over.
[[nodiscard]] std::optional<MonotonicTime> next_freeing_clock(const State& state);

// "the disk usage of default/web and 2 other pods is not known yet; ..."
[[nodiscard]] std::string say_disk_unknown(const UnknownDiskUsage& unknown, const Observation& observation);
// "waiting for the disk space of the last evicted pod (default/web): ..."
[[nodiscard]] std::string say_freeing(const Observation& observation);

}  // namespace evictd::policy
