// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How fast the node's filesystems fill up, from reading to reading, and when they reach a threshold at that rate.
// `status` shows the estimate, and the next look comes sooner because of it. No pod is evicted for it unless a
// threshold in time is set (`exhaustion`). Near any other threshold the filesystem is read every 10 ms.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "evictd/model/config.hpp"
#include "evictd/model/decision.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/state.hpp"

namespace evictd::policy {

// Measured over intervals of at least this where no threshold in time is set. Half of it, and a pod that writes a batch
// every second does not fill the disk by the median.
inline constexpr Duration disk_interval = std::chrono::seconds(1);

// `before`, with the readings that are new at this look. What rose, is of another size or was not read begins anew:
// after a removal the rate before it says nothing. `anew`: all do, because a victim gives back what it kept.
[[nodiscard]] std::vector<DiskTrend> follow_disks(const std::vector<DiskTrend>& before, const Observation& observation,
                                                  Duration interval, bool anew);

// Bytes, or inodes, that are lost a second. None: it does not fall, or too few readings are known.
[[nodiscard]] std::optional<std::int64_t> fall_of(Signal signal, const std::vector<DiskTrend>& trends);

// Of each signal with a threshold that it or, where all are crossed, 0 is reached within the hour; the soonest first.
[[nodiscard]] std::vector<DiskExhaustion> disk_exhaustion(const EvictionConfig& config,
                                                          const std::vector<DiskTrend>& trends,
                                                          const Observation& observation);

// How long until the next look at the latest: a quarter of the time that is left, so that what is said stays true.
[[nodiscard]] std::optional<Duration> look_for_disks(const std::vector<DiskExhaustion>& exhaustion);

}  // namespace evictd::policy
