// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "explain_reclaim.hpp"

#include <algorithm>
#include <array>

#include "evictd/model/text.hpp"
#include "phrases.hpp"

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

std::string say_no_candidate(const Decision& decision) {
    const std::string unable = "unable to evict any pods from the node: ";
    if (decision.ranking.empty()) return unable + "none is active";
    std::array<int, exemption_words.size()> counts{};
    for (const auto& ranked : decision.ranking) ++counts[static_cast<std::size_t>(ranked.exemption)];
    std::string said;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] == 0) continue;
        said += (said.empty() ? "" : ", ") + std::to_string(counts[i]) + " " + std::string(exemption_words[i]);
    }
    return unable + said;
}

std::string say_in_vain(const Decision& decision, const std::string& first) {
    const bool could_evict = std::any_of(decision.ranking.begin(), decision.ranking.end(),
                                         [](const RankedPod& ranked) { return ranked.exemption == Exemption::none; });
    return could_evict ? first : say_no_candidate(decision) + "; " + first;
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
