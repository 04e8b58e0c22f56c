// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Where the kubelet's thresholds are reached before evictd's. What both evict for is the kubelet's then.
#pragma once

#include <string>
#include <vector>

#include "evictd/model/config.hpp"

namespace evictd::config {

// A sentence for each threshold of `kubelet` that is reached before any of `own` on the same signal, or that `own` has
// none for. At the same value evictd is faster, so that is none. An amount and a percentage do not compare without the
// capacity and are left out.
[[nodiscard]] std::vector<std::string> kubelet_acts_first(const EvictionConfig& own, const EvictionConfig& kubelet);

}  // namespace evictd::config
