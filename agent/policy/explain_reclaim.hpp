// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What is said of a reclaim. Nothing is decided here.
#pragma once

#include <string>
#include <vector>

#include "evictd/model/decision.hpp"
#include "evictd/model/observation.hpp"

namespace evictd::policy {

// "unused containers and images are removed before any pod is evicted: 2 containers and 1 image, 1.2Gi"
[[nodiscard]] std::string say_reclaim(const Decision& decision, const std::vector<NodeReclaim>& reclaim);
// "unable to evict any pods from the node: 2 critical"
[[nodiscard]] std::string say_no_candidate(const Decision& decision);
// A reclaim is due and has nothing to remove. `first`: the threshold.
[[nodiscard]] std::string say_in_vain(const Decision& decision, const std::string& first);
[[nodiscard]] bool is_in_vain(const Decision& decision);
// "; removing unused images freed 12Mi, which was not enough"; empty: that is not known.
[[nodiscard]] std::string say_not_enough(const Decision& decision, const std::vector<NodeReclaim>& reclaim,
                                         const Observation& observation);
[[nodiscard]] std::string say_reclaimed(const std::vector<NodeReclaim>& reclaim, const Observation& observation);

}  // namespace evictd::policy
