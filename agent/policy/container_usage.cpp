// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "container_usage.hpp"

#include <algorithm>

namespace evictd::policy {
namespace {

// The container whose figures are the pod's: the only one that can be running. With several, who uses what is not
// known, and unknown containers are left out, as the kubelet leaves out those without figures.
const Container* sole_container(const Pod& pod) {
    if (pod.containers.size() != 1) return nullptr;
    const bool sidecar = std::any_of(pod.init_containers.begin(), pod.init_containers.end(),
                                     [](const Container& container) { return container.restartable; });
    const bool initialized = pod.init_containers.empty() || pod.phase == PodPhase::running;
    return sidecar || !initialized ? nullptr : &pod.containers.front();
}

}  // namespace

std::optional<ContainerUsage> container_usage(const Container& container, const Pod& pod, const PodUsage& usage) {
    const auto own = std::find_if(usage.containers.begin(), usage.containers.end(),
                                  [&](const ContainerUsage& candidate) { return candidate.name == container.name; });
    if (own != usage.containers.end()) return *own;
    if (&container != sole_container(pod)) return std::nullopt;
    return ContainerUsage{container.name, usage.working_set, usage.disk.rootfs, usage.disk.logs};
}

}  // namespace evictd::policy
