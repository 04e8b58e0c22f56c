// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Follows pkg/apis/core/v1/defaults.go (SetDefaults_Pod, defaultHugePagePodLimits, defaultPodRequests) and the Priority
// admission plugin.
#include "kube/pod_defaults.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "kube/pod_object.hpp"

namespace evictd::kube {
namespace {

using Resource = std::optional<Quantity> ResourceList::*;
constexpr std::array<Resource, 3> resources{&ResourceList::cpu, &ResourceList::memory,
                                            &ResourceList::ephemeral_storage};
// resourcehelper.IsSupportedPodLevelResource, but for huge pages, which may not be requested beyond their limit.
constexpr std::array<Resource, 2> pod_level_resources{&ResourceList::cpu, &ResourceList::memory};

void requests_from_limits(Container& container) {
    for (const Resource resource : resources)
        if (!(container.requests.*resource)) container.requests.*resource = container.limits.*resource;
}

bool has_any(const ResourceList& list) { return list.cpu || list.memory || list.ephemeral_storage || list.hugepages; }

void default_hugepage_limits(Pod& pod) {
    if (!has_any(pod.requests) && !has_any(pod.limits)) return;
    const auto is_limited = [](const Container& container) { return container.limits.hugepages; };
    for (const auto* list : {&pod.containers, &pod.init_containers})
        if (std::any_of(list->begin(), list->end(), is_limited)) pod.limits.hugepages = true;
}

void default_pod_requests(Pod& pod) {
    if (!has_any(pod.limits)) return;
    for (const Resource resource : pod_level_resources) {
        auto& request = pod.requests.*resource;
        if (!request) request = aggregate(pod, &Container::requests, resource);
        if (!request) request = pod.limits.*resource;
    }
}

}  // namespace

void apply_defaults(Pod& pod) {
    for (auto& container : pod.containers) requests_from_limits(container);
    for (auto& container : pod.init_containers) requests_from_limits(container);
    default_hugepage_limits(pod);
    default_pod_requests(pod);
    if (!pod.priority && pod.priority_class_name == "system-node-critical") pod.priority = system_node_critical;
    if (!pod.priority && pod.priority_class_name == "system-cluster-critical") pod.priority = system_cluster_critical;
}

}  // namespace evictd::kube
