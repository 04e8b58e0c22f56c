// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A pod's request and limit for one resource: resource.GetResourceRequestQuantity over component-helpers' PodRequests,
// and PodLimits. Not for what a container alone asks for.
#pragma once

#include <optional>

#include "evictd/model/pod.hpp"
#include "evictd/model/quantity.hpp"

namespace evictd {

using ResourceMember = std::optional<Quantity> ResourceList::*;

// Containers add up, sidecars included; an init container needs its own beside the sidecars started before it, and the
// larger of both counts. Overhead is added to what is not zero. With any pod-level resource, huge pages too, only the
// pod-level request counts: what is not requested there is 0, whatever the containers request.
[[nodiscard]] Quantity pod_request(const Pod& pod, ResourceMember resource);

// Added up like requests; none where nobody sets one. A pod-level limit of cpu or memory replaces the containers'.
[[nodiscard]] std::optional<Quantity> pod_limit(const Pod& pod, ResourceMember resource);

}  // namespace evictd
