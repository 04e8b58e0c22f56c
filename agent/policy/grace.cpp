// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "grace.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace evictd::policy {
namespace {

using std::chrono::seconds;

// What a Duration can hold; pods may ask for more.
constexpr auto longest_grace_period = std::chrono::duration_cast<seconds>(Duration::max());

// calculateEffectiveGracePeriod of pod_workers.go: every wish may only shorten, and 0 stands for none yet.
seconds effective_grace_period(const Pod& pod, seconds asked) {
    seconds granted{0};
    for (const auto& wish : std::array{pod.deletion_grace_period, std::optional(asked)}) {
        if (wish && (granted == seconds::zero() || *wish < granted)) granted = *wish;
    }
    if (granted == seconds::zero()) granted = pod.termination_grace_period;
    return std::clamp(granted, immediate_grace_period, longest_grace_period);
}

}  // namespace

Duration grace_period_of(const Pod& pod, const Threshold& threshold, const EvictionConfig& config) {
    if (threshold.hard()) return effective_grace_period(pod, immediate_grace_period);
    return effective_grace_period(pod, std::min(config.max_pod_grace_period, pod.termination_grace_period));
}

}  // namespace evictd::policy
