// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which reclaims events tell of. While a threshold stays met, no pod can be evicted and nothing can be removed, a
// reclaim is repeated every few seconds: it is told once, and again when there is something new to remove.
#pragma once

#include "evictd/model/decision.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/state.hpp"

namespace evictd::policy {

// `finished` ends with this look.
void note_futile(const Reclaiming& finished, const Observation& observation, Collecting& collecting);
// At the end of each look: what is told of it.
void announce_reclaim(const Observation& observation, State& state, Decision& decision);

}  // namespace evictd::policy
