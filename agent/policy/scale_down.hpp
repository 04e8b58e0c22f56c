// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which of some pods a ReplicaSet would give up first. Here it decides between pods that the kubelet's own order leaves
// equal, and answers those who ask. Not for choosing whom to evict by what it uses.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "evictd/model/observation.hpp"
#include "evictd/model/pod.hpp"
#include "evictd/model/scale_down.hpp"

namespace evictd::policy {

// Positions by uid, then by namespace and name: an order that depends on nothing but the pods. None is null.
[[nodiscard]] std::vector<std::uint32_t> uid_order(std::span<const Pod* const> pods);

// The rule of ActivePodsWithRanks that decides between two pods; stage: assigned, phase, ready and deletion cost.
enum class ScaleDownRule : std::uint8_t { stage, doubled_up, ready_time, restarts, creation_time, uid };

// Why a pod goes before the next one. Doubled up: active pods of the same controller on the same node.
struct ScaleDownStep {
    ScaleDownRule rule = ScaleDownRule::uid;
    std::uint32_t doubled_up = 0;
    std::uint32_t next_doubled_up = 0;
};

class ScaleDown {
public:
    // `all`: the pods that are known, on whatever node; null is none. They must outlive this.
    ScaleDown(std::vector<const Pod*> all, WallTime now);

    // The order of `asked`, which are positions in `all` and none of them null, as positions in `asked`. It does not
    // depend on the order in which they are asked for. The epoch as `now` means that times are compared as they are.
    [[nodiscard]] std::vector<std::uint32_t> order(std::span<const std::uint32_t> asked) const;

    // Has the CPU load what order() compares of this pod.
    void prefetch(std::uint32_t asked) const;

    // What decided between each of `ordered`, positions in `all` in the order of order(), and the one after it.
    [[nodiscard]] std::vector<ScaleDownStep> steps(std::span<const std::uint32_t> ordered) const;

private:
    // As uid_order(pods), which are those asked for.
    [[nodiscard]] std::vector<std::uint32_t> order_by_uid(std::span<const std::uint32_t> asked,
                                                          std::span<const Pod* const> pods) const;

    std::vector<const Pod*> all_;
    std::vector<std::uint32_t> doubled_up_;
    bool come_by_uid_;
    WallTime now_;
};

// The same for one question: `asked` in victim order.
[[nodiscard]] std::vector<std::uint32_t> scale_down_order(const std::vector<PodPtr>& all,
                                                          std::vector<std::uint32_t> asked, WallTime now);

// The active pods of a look in that order, each with the reason for its place.
[[nodiscard]] std::vector<ScaleDownPlace> scale_down_places(const Observation& observation);

}  // namespace evictd::policy
