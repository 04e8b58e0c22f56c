// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "grace.hpp"

#include <algorithm>

namespace evictd::policy {
namespace {

using std::chrono::seconds;

// What a Duration can hold; pods may ask for more.
constexpr auto longest_grace_period = std::chrono::duration_cast<seconds>(Duration::max());

// calculateEffectiveGracePeriod of pod_workers.go: a deletion on its way is only ever shortened.
seconds effective_grace_period(const Pod& pod, seconds asked) {
    const seconds granted = std::min(asked, pod.deletion_grace_period.value_or(asked));
    return std::clamp(granted, immediate_grace_period, longest_grace_period);
}

}  // namespace

Duration grace_period_of(const Pod& pod, const Threshold& threshold, const EvictionConfig& config) {
    if (threshold.hard()) return effective_grace_period(pod, immediate_grace_period);
    const seconds own = pod.termination_grace_period;
    const bool is_unlimited =
        config.soft_eviction_grace == SoftEvictionGrace::pod && config.max_pod_grace_period <= seconds::zero();
    return effective_grace_period(pod, is_unlimited ? own : std::min(config.max_pod_grace_period, own));
}

}  // namespace evictd::policy
