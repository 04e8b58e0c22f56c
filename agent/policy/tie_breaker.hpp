// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the kubelet's comparators leave equal is ordered by config.tie_break.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "evictd/model/config.hpp"
#include "evictd/model/decision.hpp"
#include "evictd/model/observation.hpp"
#include "scale_down.hpp"

namespace evictd::policy {

// Orders equals, which are rare: nothing is prepared for them before there are some.
class TieBreaker {
public:
    TieBreaker(TieBreak rule, const Observation& observation) : rule_(rule), observation_(observation) {}

    void sort(std::span<RankedPod> equals);
    // For pods that sort() is given soon: they lie anywhere in memory, and thousands do not fit into the CPU's caches.
    void prefetch(std::span<const RankedPod> equals) const;

private:
    [[nodiscard]] std::vector<std::uint32_t> order_of(const std::vector<std::uint32_t>& asked);
    [[nodiscard]] std::vector<const Pod*> all_pods() const;

    TieBreak rule_;
    const Observation& observation_;
    std::optional<ScaleDown> scale_down_;
};

}  // namespace evictd::policy
