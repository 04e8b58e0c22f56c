// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kube/pod_allocation.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/pod_spec.hpp"

namespace evictd::kube {
namespace {

// As a whole, or not at all: of an allocation that is equal by value the spec's spelling stays.
bool overlay(const ResourceList& allocated, ResourceList& requests) {
    constexpr std::array resources{&ResourceList::cpu, &ResourceList::memory, &ResourceList::ephemeral_storage};
    const bool differs = std::any_of(resources.begin(), resources.end(), [&](const auto resource) {
        return allocated.*resource && allocated.*resource != requests.*resource;
    });
    if (!differs) return false;
    for (const auto resource : resources)
        if (allocated.*resource) requests.*resource = allocated.*resource;
    return true;
}

bool overlay_containers(const Value& statuses, std::vector<Container>& containers) {
    bool differs = false;
    for (const Value& status : statuses.elements()) {
        const Value allocated = status["allocatedResources"];
        if (!allocated.present()) continue;
        const ResourceList list = read_resources(allocated);
        const auto name = status["name"].text();
        for (auto& container : containers)
            if (container.name == name && overlay(list, container.requests)) differs = true;
    }
    return differs;
}

std::optional<QosClass> read_qos(const Value& field) {
    constexpr std::array<std::pair<std::string_view, QosClass>, 3> classes{
        {{name(QosClass::guaranteed), QosClass::guaranteed},
         {name(QosClass::burstable), QosClass::burstable},
         {name(QosClass::best_effort), QosClass::best_effort}}};
    return field.text() == "" ? std::nullopt : field.one_of(classes);
}

}  // namespace

void apply_allocation(const Value& status, Pod& pod) {
    const auto of_status = read_qos(status["qosClass"]);
    const QosClass of_spec = compute_qos(pod);
    bool differs = overlay_containers(status["containerStatuses"], pod.containers);
    differs |= overlay_containers(status["initContainerStatuses"], pod.init_containers);
    // Without pod-level resources it is only the containers' sum.
    if (has_pod_level_resources(pod)) differs |= overlay(read_resources(status["allocatedResources"]), pod.requests);
    if (of_status || differs) pod.qos = of_status.value_or(of_spec);
}

}  // namespace evictd::kube
