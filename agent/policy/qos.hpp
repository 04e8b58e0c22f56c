// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What class a pod belongs to: its quality of service, and whether it must never be evicted. The eviction order never
// consults the QoS class; admission, oom_score_adj and people do.
#pragma once

#include "evictd/model/pod.hpp"

namespace evictd::policy {

// scheduling.SystemCriticalPriority.
inline constexpr std::int32_t system_critical_priority = 2'000'000'000;

// qos.GetPodQOS: what the pod's status says, else what its requests and limits come to.
[[nodiscard]] QosClass qos_class(const Pod& pod);

// A pod without a priority has 0: corev1helpers.PodPriority.
[[nodiscard]] std::int32_t priority_of(const Pod& pod);

// types.IsCriticalPod: static, mirror, or of a priority that is reserved for the system.
[[nodiscard]] bool is_critical_pod(const Pod& pod);

}  // namespace evictd::policy
