// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How often a signal is read that the kernel reports no crossing of: the nearer a threshold, the more often. Pure, and
// no more than a multiplication for each threshold.
#pragma once

#include <vector>

#include "evictd/model/config.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/state.hpp"

namespace evictd::policy {

// Both are one of a few steps between 10 ms and 10 s, evictionMonitoringPeriod of the kubelet, so that they do not
// change with each look. A filesystem that fills faster than a writer is taken to write is read more often yet. 0:
// there is no such threshold.
// With a threshold in time they are read twenty times within its time at least.
[[nodiscard]] Duration filesystem_pace(const EvictionConfig& config, const Readings& readings,
                                       const std::vector<DiskTrend>& trends);
[[nodiscard]] Duration pid_pace(const EvictionConfig& config, const Readings& readings);

}  // namespace evictd::policy
