// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Follows component-helpers' resource package, the rule of KEP-753 for sidecars included, and
// pkg/apis/core/v1/helper/qos.
#include "evictd/model/pod.hpp"

#include <array>

#include "evictd/model/container_cgroup.hpp"

namespace evictd {
namespace {

void add(std::optional<Quantity>& sum, const std::optional<Quantity>& more) {
    if (more) sum = sum ? *sum + *more : *more;
}

void raise(std::optional<Quantity>& peak, const std::optional<Quantity>& other) {
    if (other && (!peak || *other > *peak)) peak = other;
}

bool goes_with(const Container& container, std::string_view cgroup_name) {
    const std::string_view full = container.id;
    const auto scheme = full.find("://");
    const auto id = scheme == std::string_view::npos ? full : full.substr(scheme + 3);
    return cgroup_name == container.name || is_cgroup_of_container(cgroup_name, id);
}

using Resource = std::optional<Quantity> ResourceList::*;

// One resource over the whole pod.
struct Total {
    Quantity request;
    Quantity limit;
    bool limited_everywhere = true;

    void add(const ResourceList& requests, const ResourceList& limits, Resource resource) {
        if (const auto& own = requests.*resource; own && own->sign() > 0) request = request + *own;
        if (const auto& own = limits.*resource; own && own->sign() > 0) {
            limit = limit + *own;
        } else {
            limited_everywhere = false;
        }
    }
};

Total total_of(const Pod& pod, Resource resource) {
    Total total;
    if (pod.has_resources || has_pod_level_resources(pod)) {
        total.add(pod.requests, pod.limits, resource);
        return total;
    }
    for (const auto& container : pod.containers) total.add(container.requests, container.limits, resource);
    for (const auto& container : pod.init_containers) total.add(container.requests, container.limits, resource);
    return total;
}

}  // namespace

bool has_pod_level_resources(const Pod& pod) {
    const auto has_any = [](const ResourceList& list) { return list.cpu || list.memory || list.hugepages; };
    return has_any(pod.requests) || has_any(pod.limits);
}

QosClass compute_qos(const Pod& pod) {
    bool best_effort = true;
    bool guaranteed = true;
    for (const Resource resource : std::array{&ResourceList::cpu, &ResourceList::memory}) {
        const Total total = total_of(pod, resource);
        if (!total.request.is_zero() || !total.limit.is_zero()) best_effort = false;
        if (!total.limited_everywhere || total.limit.is_zero() || total.request != total.limit) guaranteed = false;
    }
    if (best_effort) return QosClass::best_effort;
    return guaranteed ? QosClass::guaranteed : QosClass::burstable;
}

const Container* container_in(const Pod& pod, std::string_view cgroup_name) {
    for (const auto* list : {&pod.containers, &pod.init_containers})
        for (const auto& container : *list)
            if (goes_with(container, cgroup_name)) return &container;
    return nullptr;
}

std::optional<Quantity> aggregate(const Pod& pod, ResourceList Container::*list,
                                  std::optional<Quantity> ResourceList::*resource) {
    std::optional<Quantity> running;
    for (const auto& container : pod.containers) add(running, container.*list.*resource);
    std::optional<Quantity> sidecars;
    std::optional<Quantity> starting;
    for (const auto& container : pod.init_containers) {
        auto at_once = container.*list.*resource;
        if (container.restartable) {
            add(running, at_once);
            add(sidecars, at_once);
            at_once = sidecars;
        } else {
            add(at_once, sidecars);
        }
        raise(starting, at_once);
    }
    raise(running, starting);
    return running;
}

}  // namespace evictd
