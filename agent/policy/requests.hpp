// SPDX-License-Identifier: Apache-2.0
// A pod's request for one resource: resource.GetResourceRequestQuantity over component-helpers' PodRequests.
// Not for limits, and not for what a container alone asks for.
#pragma once

#include <optional>

#include "evictd/model/pod.hpp"
#include "evictd/model/quantity.hpp"

namespace evictd::policy {

using ResourceMember = std::optional<Quantity> ResourceList::*;

// Containers add up, sidecars included; an init container needs its own beside the sidecars started before it, and the
// larger of both counts. A pod-level request replaces all that. Overhead is added to what is not zero.
[[nodiscard]] Quantity pod_request(const Pod& pod, ResourceMember resource);

}  // namespace evictd::policy
