// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Thresholds on stalls, under `evictd.psi`: a list of maps. What each key may be, and what goes together.
#pragma once

#include <string>
#include <vector>

#include "document/value.hpp"
#include "evictd/model/config.hpp"

namespace evictd::config {

using document::Value;

void read_stalls(const Value& setting, Config& config);
// "memory some >= 10% of 1s, hard; memory full >= 50% of 10s in a pod, soft after 30s"
[[nodiscard]] std::string say(const std::vector<StallThreshold>& thresholds);
[[nodiscard]] std::string show_stalls(const Config& config);

}  // namespace evictd::config
