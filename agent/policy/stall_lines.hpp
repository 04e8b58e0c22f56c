// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which lines on stalls the kernel is to watch, and how often to look for what it does not. Pure.
#pragma once

#include <optional>
#include <vector>

#include "evictd/model/config.hpp"
#include "evictd/model/kernel_watch.hpp"

namespace evictd::policy {

// One for each threshold on `some` of memory, and one for what confirms pressure where that is asked for. Equal lines
// come once.
[[nodiscard]] std::vector<StallLine> stall_lines_for(const EvictionConfig& config);

// How soon to look again for thresholds that nothing in the kernel watches. None: there is none.
[[nodiscard]] std::optional<Duration> look_for_stalls(const EvictionConfig& config, bool kernel_watches);

}  // namespace evictd::policy
