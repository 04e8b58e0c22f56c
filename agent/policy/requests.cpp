// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// GetResourceRequestQuantity and PodLimits.
#include "requests.hpp"

namespace evictd::policy {
namespace {

// Of what is counted here, pod-level resources hold for cpu and memory alone.
bool can_be_pod_level(ResourceMember resource) { return resource != &ResourceList::ephemeral_storage; }

}  // namespace

Quantity pod_request(const Pod& pod, ResourceMember resource) {
    std::optional<Quantity> asked;
    if (!has_pod_level_resources(pod)) {
        asked = aggregate(pod, &Container::requests, resource);
    } else if (can_be_pod_level(resource)) {
        asked = pod.requests.*resource;
    }
    Quantity request = asked.value_or(Quantity{});
    if (pod.overhead.*resource && !request.is_zero()) request = request + *(pod.overhead.*resource);
    return request;
}

std::optional<Quantity> pod_limit(const Pod& pod, ResourceMember resource) {
    auto limit = can_be_pod_level(resource) ? pod.limits.*resource : std::nullopt;
    if (!limit) limit = aggregate(pod, &Container::limits, resource);
    if (limit && !limit->is_zero() && pod.overhead.*resource) limit = *limit + *(pod.overhead.*resource);
    return limit;
}

}  // namespace evictd::policy
