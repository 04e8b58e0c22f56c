// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// status of a v1 Pod, the part that decisions depend on.
#pragma once

#include "document/value.hpp"
#include "evictd/model/pod.hpp"

namespace evictd::kube {

using document::Value;

// Which containers are sidecars is known by the spec: it has been read before.
void read_status(const Value& status, Pod& pod);

}  // namespace evictd::kube
