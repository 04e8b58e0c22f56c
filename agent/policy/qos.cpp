// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Follows GetPodQOS (pkg/apis/core/v1/helper/qos) and IsCriticalPod (pkg/kubelet/types).
#include "qos.hpp"

namespace evictd::policy {

QosClass qos_class(const Pod& pod) {
    const ComputedResources* computed = pod.computed.known();
    if (computed != nullptr) return computed->qos;
    return pod.qos ? *pod.qos : compute_qos(pod);
}

std::int32_t priority_of(const Pod& pod) { return pod.priority.value_or(0); }

bool is_critical_pod(const Pod& pod) {
    return pod.origin != PodOrigin::api || priority_of(pod) >= system_critical_priority;
}

}  // namespace evictd::policy
