// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// GetResourceRequestQuantity and PodLimits.
#include "evictd/model/pod_requests.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace evictd {
namespace {

// Of what is counted here, pod-level resources hold for cpu and memory alone.
bool can_be_pod_level(ResourceMember resource) { return resource != &ResourceList::ephemeral_storage; }

bool has_storage_limit(const Pod& pod) {
    const auto is_limited = [](const Container& one) { return one.limits.ephemeral_storage.has_value(); };
    const auto is_sized = [](const Volume& one) { return one.size_limit.has_value(); };
    return std::any_of(pod.containers.begin(), pod.containers.end(), is_limited) ||
           std::any_of(pod.init_containers.begin(), pod.init_containers.end(), is_limited) ||
           std::any_of(pod.volumes.begin(), pod.volumes.end(), is_sized);
}

}  // namespace

Quantity pod_request(const Pod& pod, ResourceMember resource) {
    if (const ComputedResources* computed = pod.computed.known()) {
        if (resource == &ResourceList::memory) return computed->memory_request;
        if (resource == &ResourceList::ephemeral_storage) return computed->ephemeral_storage_request;
    }
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

PodPtr make_pod(Pod pod) {
    pod.computed = {};
    const ComputedResources computed{.qos = pod.qos ? *pod.qos : compute_qos(pod),
                                     .memory_request = pod_request(pod, &ResourceList::memory),
                                     .ephemeral_storage_request = pod_request(pod, &ResourceList::ephemeral_storage),
                                     .has_storage_limit = has_storage_limit(pod)};
    auto made = std::make_shared<Pod>(std::move(pod));
    made->computed = ComputedOnce(computed);
    return made;
}

std::optional<Quantity> pod_limit(const Pod& pod, ResourceMember resource) {
    auto limit = can_be_pod_level(resource) ? pod.limits.*resource : std::nullopt;
    if (!limit) limit = aggregate(pod, &Container::limits, resource);
    if (limit && !limit->is_zero() && pod.overhead.*resource) limit = *limit + *(pod.overhead.*resource);
    return limit;
}

}  // namespace evictd
