// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a node gives back before one of its pods is evicted.
#pragma once

#include <vector>

#include "evictd/model/config.hpp"
#include "evictd/model/decision.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/signal.hpp"

namespace evictd::policy {

// buildSignalToNodeReclaimFuncs: what relieves `signal`, in order; empty where only an eviction does. Logs come last:
// images can be pulled again.
[[nodiscard]] std::vector<NodeReclaim> reclaim_for(Signal signal, FsLayout layout,
                                                   ReclaimedLogs logs = ReclaimedLogs::off);

}  // namespace evictd::policy
