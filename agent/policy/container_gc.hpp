// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which dead containers and sandboxes to remove: kuberuntime's containerGC. Removes nothing, and knows nothing of the
// disk they are on.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "evictd/model/config.hpp"
#include "evictd/model/runtime.hpp"

namespace evictd::policy {

// What became of a pod. `deleted` is the kubelet's ShouldPodContentBeRemoved, `terminated` its
// ShouldPodRuntimeBeRemoved.
enum class PodFate : std::uint8_t { known, terminated, deleted };
using PodFateOf = std::function<PodFate(const std::string& uid)>;

struct ContainerGcResult {  // in the order of removal
    std::vector<std::string> containers;
    std::vector<std::string> sandboxes;
};

// containerGC.GarbageCollect with all sources ready. Where the kubelet walks a Go map, whose order is random, units and
// pods come in the order in which they first appear.
[[nodiscard]] ContainerGcResult collect_containers(const ContainerGcPolicy& policy, const Runtime& runtime,
                                                   const PodFateOf& fate_of, WallTime now);

}  // namespace evictd::policy
