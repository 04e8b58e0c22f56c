// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How often each tree is walked, so that all walks together keep within their part of a CPU and what grows is seen
// first. Pure: what a walk cost and what it found come in as values.
#pragma once

#include <optional>

#include "evictd/model/survey.hpp"
#include "evictd/model/units.hpp"

namespace evictd::disk {

struct SurveyBudget {
    // Of one CPU, on average, for walks of trees whose usage is known already. A survey of 500,000 files then takes
    // some 4 minutes, and half of it 8. Trees that were never measured do not wait for it.
    double share = 0.004;
    // Between two walks of a tree at least. The kubelet's own figures are up to 1 minute old.
    Duration shortest = std::chrono::seconds(10);
};

// What is known of a tree for its next walk.
struct TreeCost {
    Duration cpu{};     // of its last walk
    double growth = 0;  // bytes a second, either way, between its last two walks; an inode counts as 4 KiB
};

[[nodiscard]] double growth_between(const TreeUsage& before, const TreeUsage& after);

// Where usage drifts by g a second and a walk costs c, walks at intervals in proportion to sqrt(c / g) leave the least
// unseen for what they cost. `sum`: of weight() of all trees.
[[nodiscard]] double weight(const TreeCost& cost);
[[nodiscard]] Duration walk_interval(const TreeCost& cost, double sum, const SurveyBudget& budget);

}  // namespace evictd::disk
