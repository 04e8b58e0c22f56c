// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the API server is to show of this node: conditions and taints of evictd's own. Which of the kubelet's conditions
// hold is decided by thresholds and stall.
#pragma once

#include <optional>

#include "evictd/model/config.hpp"
#include "evictd/model/decision.hpp"
#include "evictd/model/node_status.hpp"
#include "evictd/model/node_view.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/state.hpp"

namespace evictd::policy {

// nodestatus.MemoryPressureCondition and its siblings, with reasons and messages of evictd's own. A condition that
// nothing was read for at this look is left out, unless it holds: it is unknown, and not False. None: evictd.nodeStatus
// is off.
[[nodiscard]] std::optional<DesiredNodeStatus> node_status(const EvictionConfig& config, const Observation& observation,
                                                           const Decision& decision, const State& next);

// Whether the API server shows evictd's taint of this condition, by the last word of the node's watch.
[[nodiscard]] bool shows_taint(const NodeView& node, Condition condition);

// When StallPressure ends if no threshold on the node's stalls is met until then. None: it does not hold, or is not
// shown. As conditions, it stays for the transition period.
[[nodiscard]] std::optional<MonotonicTime> stall_pressure_until(const EvictionConfig& config, const State& next);

}  // namespace evictd::policy
