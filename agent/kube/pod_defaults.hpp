// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the API server fills in before anybody sees a pod, as far as it concerns resources and priority.
#pragma once

#include "evictd/model/pod.hpp"

namespace evictd::kube {

void apply_defaults(Pod& pod);

}  // namespace evictd::kube
