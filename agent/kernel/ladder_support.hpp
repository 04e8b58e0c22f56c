// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which rungs of the ladder this host has the control files for.
#pragma once

#include "evictd/model/ladder.hpp"
#include "evictd/model/signal_source.hpp"
#include "kernel/hierarchies.hpp"

namespace evictd::kernel {

// `wanted` without the rungs that this host has not.
[[nodiscard]] LadderConfig possible_rungs(LadderConfig wanted, const Hierarchies& hierarchies);

// For status and doctor: `wanted` is what is configured.
[[nodiscard]] SourceRow ladder_row(const LadderConfig& wanted, const Hierarchies& hierarchies);

}  // namespace evictd::kernel
