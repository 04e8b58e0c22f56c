// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the kubelet has allocated to a pod, which differs from the spec while a resize is pending. Not what the
// containers run with: status...resources is not read.
#pragma once

#include "document/value.hpp"
#include "evictd/model/pod.hpp"

namespace evictd::kube {

using document::Value;

// updatePodFromAllocation, for a defaulted pod: allocatedResources of `status` replace requests of containers, and
// pod-level requests where the pod has pod-level resources. Sets the class: the status's, or the spec's if that
// differs.
void apply_allocation(const Value& status, Pod& pod);

}  // namespace evictd::kube
