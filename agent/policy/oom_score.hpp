// SPDX-License-Identifier: Apache-2.0
// The oom_score_adj a kubelet gives to a container's processes. Writes nothing to /proc.
#pragma once

#include "evictd/model/pod.hpp"
#include "evictd/model/units.hpp"

namespace evictd::policy {

// qos.GetContainerOOMScoreAdjust, pod-level requests and sidecars included. `container` is one of the pod's, init
// containers too; `guaranteed_oom_score_adj` is what Guaranteed and node-critical pods have: -997, formerly -998.
[[nodiscard]] int oom_score_adj(const Pod& pod, const Container& container, Bytes node_memory,
                                int guaranteed_oom_score_adj);

}  // namespace evictd::policy
