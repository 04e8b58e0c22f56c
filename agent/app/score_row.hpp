// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What status says of oom_score_adj.
#pragma once

#include "evictd/model/config.hpp"
#include "evictd/model/signal_source.hpp"
#include "reconcile/score_keeper.hpp"

namespace evictd::app {

// `figures` are empty before anything was looked at.
[[nodiscard]] SourceRow score_row(const AgentConfig& config, const reconcile::ScoreFigures& figures);

}  // namespace evictd::app
