// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Who stands on which rung of the ladder before the kill: page cache asked back, growth stopped, a moment's standstill.
// No kubelet does this. It holds up no eviction: it uses the time before a threshold is met, and a grace period's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evictd/model/config.hpp"
#include "evictd/model/ladder.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/state.hpp"

namespace evictd::policy {

// How much is missing until every memory threshold (its minimum reclaim included, where it is met) is `approach` away;
// 0: none is near.
[[nodiscard]] Bytes memory_missing(const EvictionConfig& config, const Readings& readings, const State& state);

// The ladder after this look; `held` is what is wanted now. `state` is the one after this look, but for its ladder,
// which is that of the look before. Critical, static and mirror pods and victims are on no rung.
[[nodiscard]] LadderState climb(const EvictionConfig& config, const Observation& observation, const State& state);

// When to look again because of rungs that are held.
[[nodiscard]] std::optional<MonotonicTime> next_ladder_clock(const LadderState& ladder, MonotonicTime now);

// "reclaiming 64Mi of page cache from default/web"; empty: no pod is on a rung.
[[nodiscard]] std::string say_ladder(const std::vector<Rung>& rungs);

}  // namespace evictd::policy
