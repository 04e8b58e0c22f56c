// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// When memory will have run out at the rate at which it falls now, and the soft thresholds on that time: of memory, and
// of filesystems. The kubelet has no such threshold; once met, it is treated as one of the kubelet's soft ones in every
// respect: grace period, condition, reclaim, order of victims, message.
#pragma once

#include <optional>
#include <vector>

#include "evictd/model/config.hpp"
#include "evictd/model/decision.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/state.hpp"

namespace evictd::policy {

// The memory signal that is used up first, and whose growth it is. None: nothing falls, or nothing within an hour.
[[nodiscard]] std::optional<Exhaustion> exhaustion(const Trends& trends, const Observation& observation);

// Adds to `config` what its thresholds in seconds come to at this look: for every signal that falls, what it loses in
// that time, in its unit. Of filesystems only signals that have a threshold.
void add_time_thresholds(EvictionConfig& config, const State& state, const Readings& readings);

// The same thresholds without a quantity, for people to see what is configured.
[[nodiscard]] std::vector<Threshold> time_thresholds(const EvictionConfig& config);

// A threshold in seconds on a filesystem is met, its grace period aside.
[[nodiscard]] bool is_disk_time_met(const std::vector<FirstObserved>& met);

// How long until the next look at the latest, where there is a threshold in seconds: the kernel watches no such line.
[[nodiscard]] std::optional<Duration> look_for_trends(const EvictionConfig& config);
// Likewise of filesystems alone, which are read as often.
[[nodiscard]] std::optional<Duration> look_for_disk_time(const EvictionConfig& config);
// Over which the rate of filesystems is measured. With a threshold in seconds it is as long while the threshold is met,
// when looks come sooner, as before: otherwise writes in batches are a fall that begins and ends with each look.
[[nodiscard]] Duration interval_of_disks(const EvictionConfig& config);

}  // namespace evictd::policy
