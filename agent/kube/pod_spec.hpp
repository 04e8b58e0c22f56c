// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// spec of a v1 Pod: what it asked for and what it tolerates. What is left out is filled in later, by pod_defaults.
#pragma once

#include "evictd/model/pod.hpp"
#include "kube/field.hpp"
#include "kube/pod_json.hpp"

namespace evictd::kube {

void read_spec(const Field& spec, const PodRules& rules, Pod& pod);

}  // namespace evictd::kube
