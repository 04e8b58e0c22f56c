// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The garbage that a look desires to be removed: under pressure before a pod is evicted, and on the kubelet's own
// periods. What goes is chosen by garbage.hpp; here it is when, until when, and whether it is over.
#pragma once

#include <optional>
#include <vector>

#include "decide.hpp"
#include "evictd/model/config.hpp"
#include "evictd/model/decision.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/state.hpp"

namespace evictd::policy {

// What has to come back until every threshold that a reclaim relieves is clear, its minimum reclaim included. None:
// inodes are missing, and how many each removal frees is not known.
[[nodiscard]] std::optional<Bytes> missing_bytes(const EvictionConfig& config, const Observation& observation);

// A reclaim of `asked`, for `acting`, once the decision has its ranking. It waits for an inventory that is not too old;
// without a runtime there is nothing to wait for.
void begin_reclaim(std::vector<NodeReclaim> asked, std::vector<MetThreshold> acting, const EvictionConfig& config,
                   const Observation& observation, Verdict& verdict);
// A new inventory may have come. For a reclaim that was begun at an earlier look.
void follow_reclaim(const EvictionConfig& config, const Observation& observation, State& state);
// All is done, there is nothing to do, or its time is up.
[[nodiscard]] bool is_reclaim_over(const Reclaiming& reclaiming, const Observation& observation);
// What came of it: where nothing was removed, nothing of the same inventory is tried again.
void note_reclaimed(const Observation& observation, State& state);
// Sizes are estimates: what `finished` left may be needed after all. True if it goes on.
[[nodiscard]] bool begin_next_round(const Reclaiming& finished, const Observation& observation, State& state);

// For the decision. `shuts_down`: nothing is removed.
void desire_garbage(const EvictionConfig& config, const Observation& observation, bool shuts_down, State& state,
                    Decision& decision);
// When the next look at a reclaim is due, by which something changes: after `now`.
[[nodiscard]] std::optional<MonotonicTime> next_garbage_clock(const State& state, MonotonicTime now);

}  // namespace evictd::policy
