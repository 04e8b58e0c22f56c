// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "tie_breaker.hpp"

namespace evictd::policy {

void TieBreaker::sort(std::span<RankedPod> equals) {
    const std::vector<RankedPod> unsorted(equals.begin(), equals.end());
    std::vector<std::uint32_t> asked;
    asked.reserve(unsorted.size());
    for (const auto& ranked : unsorted) asked.push_back(ranked.pod);
    const auto order = order_of(asked);
    for (std::size_t i = 0; i < order.size(); ++i) equals[i] = unsorted[order[i]];
}

void TieBreaker::prefetch(std::span<const RankedPod> equals) const {
    if (!scale_down_) return;
    for (const auto& ranked : equals) scale_down_->prefetch(ranked.pod);
}

std::vector<std::uint32_t> TieBreaker::order_of(const std::vector<std::uint32_t>& asked) {
    if (rule_ == TieBreak::scale_down) {
        if (!scale_down_) scale_down_.emplace(all_pods(), observation_.wall);
        return scale_down_->order(asked);
    }
    std::vector<const Pod*> pods;
    pods.reserve(asked.size());
    for (const std::uint32_t position : asked) pods.push_back(observation_.pods[position].pod.get());
    return uid_order(pods);
}

std::vector<const Pod*> TieBreaker::all_pods() const {
    std::vector<const Pod*> pods;
    pods.reserve(observation_.pods.size());
    for (const auto& observed : observation_.pods) pods.push_back(observed.pod.get());
    return pods;
}

}  // namespace evictd::policy
