// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How often the node's filesystems are asked: the nearer a threshold, the more often. Pure, and no more than a
// multiplication for each threshold.
#pragma once

#include "evictd/model/config.hpp"
#include "evictd/model/observation.hpp"

namespace evictd::policy {

// One of a few steps between 10 ms and 10 s, evictionMonitoringPeriod of the kubelet, so that it does not change with
// each look. 0: no threshold is on disk.
[[nodiscard]] Duration filesystem_pace(const EvictionConfig& config, const Readings& readings);

}  // namespace evictd::policy
