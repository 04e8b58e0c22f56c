// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How long an evicted pod gets between SIGTERM and SIGKILL, in the kubelet's terms.
#pragma once

#include <chrono>

#include "evictd/model/config.hpp"
#include "evictd/model/pod.hpp"

namespace evictd::policy {

// immediateEvictionGracePeriodSeconds of hard thresholds and broken limits, and the least any pod gets.
inline constexpr std::chrono::seconds immediate_grace_period{1};

// What the eviction manager asks of the pod worker, and what calculateEffectiveGracePeriod makes of it. A soft
// threshold asks for the smaller of evictionMaxPodGracePeriod and the pod's own. A maximum of 0, the default, or below
// ends as 1 s in the kubelet; with SoftEvictionGrace::pod it is no maximum.
[[nodiscard]] Duration grace_period_of(const Pod& pod, const Threshold& threshold, const EvictionConfig& config);

}  // namespace evictd::policy
