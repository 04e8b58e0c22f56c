// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which pod fills a filesystem. What pods keep is measured by walks, seconds apart and each tree at its own time, so a
// pod's share is an estimate. It is said, and no order depends on it.
#pragma once

#include <vector>

#include "evictd/model/decision.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/state.hpp"

namespace evictd::policy {

// `before`, with what is new at this look. A pod of which only a part is known keeps what was known of it.
[[nodiscard]] std::vector<PodDiskTrend> follow_pod_disks(std::vector<PodDiskTrend> before,
                                                         const Observation& observation);

// The pod whose data on that filesystem grow fastest, and its share: of what all pods grow by, or of what the signal
// loses, if that is more.
void name_disk_growers(const std::vector<PodDiskTrend>& trends, const Observation& observation,
                       std::vector<DiskExhaustion>& exhaustion);

}  // namespace evictd::policy
