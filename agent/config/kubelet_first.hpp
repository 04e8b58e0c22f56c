// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Where the kubelet's thresholds are reached before evictd's. What both evict for is the kubelet's then.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "evictd/model/config.hpp"
#include "evictd/model/signal.hpp"
#include "evictd/model/units.hpp"

namespace evictd::config {

// A sentence for each threshold of `kubelet` that is reached before any of `own` on the same signal, or that `own` has
// none for. At the same value evictd is faster, so that is none. An amount and a percentage are compared by
// `capacity_of` their signal (none: not known yet, and they are left out).
using CapacityOf = std::function<std::optional<Amount>(Signal signal)>;
[[nodiscard]] std::vector<std::string> kubelet_acts_first(const EvictionConfig& own, const EvictionConfig& kubelet,
                                                          const CapacityOf& capacity_of);

}  // namespace evictd::config
