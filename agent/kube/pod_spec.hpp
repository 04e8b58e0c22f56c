// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// spec of a v1 Pod: its requests and limits and what it tolerates. What is left out is filled in later, by
// pod_defaults.
#pragma once

#include "document/value.hpp"
#include "evictd/model/pod.hpp"
#include "kube/pod_object.hpp"

namespace evictd::kube {

using document::Value;

// Quantities by resource name, as of requests, limits and allocatedResources.
[[nodiscard]] ResourceList read_resources(const Value& list);

void read_spec(const Value& spec, const PodRules& rules, Pod& pod);

}  // namespace evictd::kube
