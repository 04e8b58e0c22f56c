// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What status and doctor say of the reconcilers, and what of the ladder this host has.
#pragma once

#include "evictd/model/config.hpp"
#include "evictd/model/signal_source.hpp"
#include "kernel/hierarchies.hpp"
#include "reconcile/score_keeper.hpp"

namespace evictd::app {

// `figures` are empty before anything was looked at.
[[nodiscard]] SourceRow score_row(OomScoreAdjPolicy policy, bool steering, const reconcile::ScoreFigures& figures);

// What this host has of what is configured; other rungs are never asked for.
[[nodiscard]] LadderConfig possible_rungs(LadderConfig wanted, const kernel::Hierarchies& hierarchies);

// `wanted` is what is configured.
[[nodiscard]] SourceRow ladder_row(const LadderConfig& wanted, const kernel::Hierarchies& hierarchies);

}  // namespace evictd::app
