// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// evictd demo --scenario cluster: tests/kube/demo.sh of the source tree that this program was built in, with a real API
// server, kubelet and containerd. Not the demo's own pods: those are the other scenarios.
#pragma once

#include "evictd/model/result.hpp"

namespace evictd::demo {

// Replaces this process with the script, which runs the evictd beside this program. Returns only if it could not be
// started: without a source tree (kind failed) and without root (not_permitted).
[[nodiscard]] Error become_cluster_demo();

}  // namespace evictd::demo
