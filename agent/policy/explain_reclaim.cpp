// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "explain_reclaim.hpp"

#include "evictd/model/text.hpp"

namespace evictd::policy {

namespace {

std::string joined(const std::vector<NodeReclaim>& reclaim) {
    std::string said;
    for (std::size_t i = 0; i < reclaim.size(); ++i) {
        said += (i == 0 ? "" : i + 1 == reclaim.size() ? " and " : ", ") + std::string(name(reclaim[i]));
    }
    return said;
}

}  // namespace

std::string say_reclaim(const Decision& decision, const std::vector<NodeReclaim>& reclaim) {
    const std::string said = "unused " + joined(reclaim) + " are removed before any pod is evicted";
    if (decision.garbage.inventory_since) return said + "; waiting for a current list from the container runtime";
    const std::string garbage = say_garbage(decision.garbage.removals);
    return garbage.empty() ? said : said + ": " + garbage;
}

bool is_in_vain(const Decision& decision) {
    return decision.reclaim_futile && decision.garbage.removals.empty() && !decision.garbage.inventory_since;
}

std::string say_not_enough(const Decision& decision, const std::vector<NodeReclaim>& reclaim,
                           const Observation& observation) {
    if (decision.reclaim_futile) return "; nothing unused could be removed";
    const auto& outcome = observation.reclaimed;
    if (reclaim.empty() || !outcome || !outcome->freed) return {};
    return "; removing unused " + joined(reclaim) + " freed " + bytes_text(outcome->freed->value) +
           ", which was not enough";
}

std::string say_reclaimed(const std::vector<NodeReclaim>& reclaim, const Observation& observation) {
    const auto& outcome = observation.reclaimed;
    const std::string freed = outcome && outcome->freed ? " (" + bytes_text(outcome->freed->value) + " freed)" : "";
    return "removing unused " + joined(reclaim) + " was enough" + freed + ": every threshold is clear again";
}

}  // namespace evictd::policy
