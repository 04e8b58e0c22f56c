// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Follows ComputePodQOS (pkg/apis/core/v1/helper/qos) and IsCriticalPod (pkg/kubelet/types).
#include "qos.hpp"

#include <array>

#include "requests.hpp"

namespace evictd::policy {
namespace {

constexpr std::array<ResourceMember, 2> compute_resources{&ResourceList::cpu, &ResourceList::memory};

// One resource over the whole pod.
struct Total {
    Quantity request;
    Quantity limit;
    bool limited_everywhere = true;

    void add(const ResourceList& requests, const ResourceList& limits, ResourceMember resource) {
        if (const auto& own = requests.*resource; own && own->sign() > 0) request = request + *own;
        if (const auto& own = limits.*resource; own && own->sign() > 0) {
            limit = limit + *own;
        } else {
            limited_everywhere = false;
        }
    }
};

Total total_of(const Pod& pod, ResourceMember resource) {
    Total total;
    if (has_pod_level_resources(pod)) {
        total.add(pod.requests, pod.limits, resource);
        return total;
    }
    for (const auto& container : pod.containers) total.add(container.requests, container.limits, resource);
    for (const auto& container : pod.init_containers) total.add(container.requests, container.limits, resource);
    return total;
}

}  // namespace

QosClass qos_class(const Pod& pod) {
    bool best_effort = true;
    bool guaranteed = true;
    for (const ResourceMember resource : compute_resources) {
        const Total total = total_of(pod, resource);
        if (!total.request.is_zero() || !total.limit.is_zero()) best_effort = false;
        if (!total.limited_everywhere || total.limit.is_zero() || total.request != total.limit) guaranteed = false;
    }
    if (best_effort) return QosClass::best_effort;
    return guaranteed ? QosClass::guaranteed : QosClass::burstable;
}

std::int32_t priority_of(const Pod& pod) { return pod.priority.value_or(0); }

bool is_critical_pod(const Pod& pod) {
    return pod.origin != PodOrigin::api || priority_of(pod) >= system_critical_priority;
}

}  // namespace evictd::policy
