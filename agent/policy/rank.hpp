// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The order in which pods would be evicted, and which of them never are. Everything about a signal's order is one row
// of a table; choosing a victim out of the order is decide()'s.
#pragma once

#include <cstdint>
#include <vector>

#include "evictd/model/config.hpp"
#include "evictd/model/decision.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/state.hpp"

namespace evictd::policy {

// All active pods in the order of `signal`: buildSignalToRankFunc. The kubelet leaves equals in any order; here
// config.tie_break decides, and the order is total.
[[nodiscard]] std::vector<RankedPod> rank_pods(const EvictionConfig& config, Signal signal,
                                               const Observation& observation, const State& state);

// By any signal, for people: the pods that `decided` ranked over this observation, with what exempted them then.
[[nodiscard]] std::vector<RankedPod> rank_again(const EvictionConfig& config, Signal signal,
                                                const Observation& observation, const Decision& decided);

// What a pod keeps of a disk signal, in its unit: what lies on that filesystem.
[[nodiscard]] std::int64_t kept_of(Signal signal, FsLayout layout, const DiskUsage& disk);

}  // namespace evictd::policy
