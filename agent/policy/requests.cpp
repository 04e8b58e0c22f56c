// SPDX-License-Identifier: Apache-2.0
// AggregateContainerRequests (KEP-753 for sidecars), IsPodLevelRequestsSet and GetResourceRequestQuantity.
#include "requests.hpp"

#include <algorithm>

namespace evictd::policy {
namespace {

Quantity request_of(const Container& container, ResourceMember resource) {
    return (container.requests.*resource).value_or(Quantity{});
}

Quantity aggregate(const Pod& pod, ResourceMember resource) {
    Quantity running;
    for (const auto& container : pod.containers) running = running + request_of(container, resource);
    Quantity sidecars;
    Quantity starting;
    for (const auto& container : pod.init_containers) {
        const Quantity own = request_of(container, resource);
        if (container.restartable) {
            running = running + own;
            sidecars = sidecars + own;
            starting = std::max(starting, sidecars);
        } else {
            starting = std::max(starting, sidecars + own);
        }
    }
    return std::max(running, starting);
}

}  // namespace

Quantity pod_request(const Pod& pod, ResourceMember resource) {
    Quantity request = pod.requests.*resource ? *(pod.requests.*resource) : aggregate(pod, resource);
    if (pod.overhead.*resource && !request.is_zero()) request = request + *(pod.overhead.*resource);
    return request;
}

}  // namespace evictd::policy
