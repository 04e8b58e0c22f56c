// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// status of a v1 Pod, as far as somebody decides by it.
#pragma once

#include "evictd/model/pod.hpp"
#include "kube/field.hpp"

namespace evictd::kube {

// Which containers are sidecars is known by the spec: it has been read before.
void read_status(const Field& status, Pod& pod);

}  // namespace evictd::kube
