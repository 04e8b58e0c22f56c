// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Stalls in the status document: microseconds lost within each window, and the thresholds on them.
#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "evictd/model/config.hpp"
#include "evictd/model/decision.hpp"
#include "evictd/model/record.hpp"
#include "evictd/model/stall.hpp"

namespace evictd::codec {

struct AgentStatus;

// {"some_us": {"100ms": 12500, "1s": ..., "10s": ...}, "reclaimed_bytes": ...}, and "full_us" where it is known
[[nodiscard]] nlohmann::ordered_json stall_json(const PodStall& stall);
// What a pod was evicted for.
[[nodiscard]] nlohmann::ordered_json stall_json(const MetStall& stall);
// One for each resource that is measured or has a threshold; empty: neither.
[[nodiscard]] nlohmann::ordered_json stalls_json(const AgentStatus& agent, const Tick& tick);

}  // namespace evictd::codec
