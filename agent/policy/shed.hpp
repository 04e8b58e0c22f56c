// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Who gets no new sockets while memory is short: relief that kills nobody. Whose sockets they are, and how they are
// refused, is not decided here.
#pragma once

#include <vector>

#include "evictd/model/config.hpp"
#include "evictd/model/decision.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/state.hpp"

namespace evictd::policy {

// While a memory threshold is met, its grace period included: the first config.shed_pods of the memory order that could
// be evicted. A victim on its way takes the place of one: what it gives back may be enough, and it may end in peace.
// `state` is the one after this look.
[[nodiscard]] std::vector<ShedPod> pods_to_shed(const EvictionConfig& config, const Observation& observation,
                                                const State& state);

}  // namespace evictd::policy
