// SPDX-License-Identifier: Apache-2.0
// The order in which pods would be evicted, and which of them never are. Everything about a signal's order is one row
// of a table; choosing a victim out of the order is decide()'s.
#pragma once

#include <vector>

#include "evictd/model/decision.hpp"
#include "evictd/model/observation.hpp"
#include "state.hpp"

namespace evictd::policy {

// buildSignalToRankFunc has a function for it.
[[nodiscard]] bool has_ranking(Signal signal);

// All active pods in the order of `signal`, or of memory.available where it has none of its own. The kubelet leaves
// equals in any order; here the newer pod goes first, then the smaller uid, so the order is total.
[[nodiscard]] std::vector<RankedPod> rank_pods(Signal signal, const Observation& observation, const State& state);

}  // namespace evictd::policy
