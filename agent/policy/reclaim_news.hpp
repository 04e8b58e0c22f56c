// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which reclaims are published as events. While a threshold stays met, no pod can be evicted and nothing can be
// removed, the reclaim is repeated every few seconds. It is published once, and again when there is something new to
// remove.
#pragma once

#include "evictd/model/decision.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/state.hpp"

namespace evictd::policy {

// `finished` ends with this look.
void note_futile(const Reclaiming& finished, const Observation& observation, Collecting& collecting);
// At the end of each look: says in `decision` whether the begin and the end of a reclaim are published.
void announce_reclaim(const Observation& observation, State& state, Decision& decision);

}  // namespace evictd::policy
