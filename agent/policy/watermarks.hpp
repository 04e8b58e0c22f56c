// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which lines the kernel is to watch for a set of thresholds. Pure.
#pragma once

#include <optional>
#include <vector>

#include "evictd/model/config.hpp"
#include "evictd/model/kernel_watch.hpp"
#include "evictd/model/observation.hpp"

namespace evictd::policy {

// Each memory threshold with a reading gives its value, and its value plus minimum reclaim where it has one: crossing
// either changes what the policy says. Percentages are of the capacity just read. Equal lines come once.
[[nodiscard]] std::vector<Watermark> watermarks_for(const std::vector<Threshold>& thresholds, const Readings& readings);

// One line above each of them, where the agent begins to get ready; none that is one of them. Equal lines come once.
[[nodiscard]] std::vector<Watermark> approaches_of(const std::vector<Watermark>& watermarks);

// Whether some line is not crossed but so near that it may be in a moment.
[[nodiscard]] bool is_near(const std::vector<Watermark>& watermarks, const Readings& readings);

// Whether some line is crossed, or near in the sense above.
[[nodiscard]] bool is_close(const std::vector<Watermark>& watermarks, const Readings& readings);

// From what is available now down to the nearest line below it; 0 if a line is crossed; none without lines.
[[nodiscard]] std::optional<Bytes> nearest(const std::vector<Watermark>& watermarks, const Readings& readings);
// Down to the nearest line that is not crossed; none if all are.
[[nodiscard]] std::optional<Bytes> next_below(const std::vector<Watermark>& watermarks, const Readings& readings);

// A reading of the node's memory that is at least this decides nothing, neither now nor when a later one is compared
// with it (has_fallen() of owed.cpp): twice the highest threshold with its minimum reclaim. `capacity`: of the node;
// none: it is not known yet. The largest number where thresholds ask for rates or stalls, which any reading may change.
[[nodiscard]] Bytes node_memory_decides_below(const EvictionConfig& config, const std::optional<Amount>& capacity);

}  // namespace evictd::policy
