// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What is left of pods that no source of pods knows: dead containers, sandboxes, volume and log directories, empty
// cgroups. That a pod is not known does not prove that it is gone: it counts as an orphan only after a quarantine, and
// something of it is removed only if the API server itself says that it has no such pod (GarbageKeeper asks before each
// removal).
#pragma once

#include <vector>

#include "evictd/model/config.hpp"
#include "evictd/model/garbage.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/state.hpp"

namespace evictd::policy {

// Since when each pod is unknown, at each look. A source that is not complete proves nothing: all are forgotten.
void follow_orphans(const GarbageConfig& config, const Observation& observation, bool shuts_down,
                    Collecting& collecting);

// What is to be removed, in this order. Where orphans are only reported, nothing of a pod that was reported already.
[[nodiscard]] std::vector<Garbage> plan_orphans(const GarbageConfig& config, const Observation& observation,
                                                const Collecting& collecting);

// Some pod of it is known after all, or the sources do not prove anything any more.
[[nodiscard]] bool is_disproved(const DesiredGarbage& garbage, const Observation& observation);

}  // namespace evictd::policy
