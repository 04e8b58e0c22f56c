// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The oom_score_adj a kubelet gives to a container's processes. Writes nothing to /proc.
#pragma once

#include <string_view>

#include "evictd/model/oom_score.hpp"
#include "evictd/model/pod.hpp"
#include "evictd/model/units.hpp"

namespace evictd::policy {

// qos.GetContainerOOMScoreAdjust, pod-level requests and sidecars included. `container` is one of the pod's, init
// containers too; `guaranteed_oom_score_adj` is what Guaranteed and node-critical pods have: -997; older kubelets:
// -998.
[[nodiscard]] int oom_score_adj(const Pod& pod, const Container& container, Bytes node_memory,
                                int guaranteed_oom_score_adj);

// What processes in the container cgroup `cgroup_name` of the pod may have: one value where the container is known by
// it (container_in), else the range of the pod's containers. Node-critical pods may go down to -999, which kube-proxy
// gives itself (qos.KubeProxyOOMScoreAdj).
[[nodiscard]] ScoreRange oom_score_adj_range(const Pod& pod, std::string_view cgroup_name, Bytes node_memory,
                                             int guaranteed_oom_score_adj);

}  // namespace evictd::policy
