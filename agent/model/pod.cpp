// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Follows component-helpers' resource package: the rule of KEP-753 for sidecars.
#include "evictd/model/pod.hpp"

namespace evictd {
namespace {

void add(std::optional<Quantity>& sum, const std::optional<Quantity>& more) {
    if (more) sum = sum ? *sum + *more : *more;
}

void raise(std::optional<Quantity>& peak, const std::optional<Quantity>& other) {
    if (other && (!peak || *other > *peak)) peak = other;
}

// Shorter ones are no runtime's, and could stand in any name by chance.
constexpr std::size_t shortest_id = 12;

bool goes_with(const Container& container, std::string_view cgroup_name) {
    const std::string_view full = container.id;
    const auto scheme = full.find("://");
    const auto id = scheme == std::string_view::npos ? full : full.substr(scheme + 3);
    return cgroup_name == container.name ||
           (id.size() >= shortest_id && cgroup_name.find(id) != std::string_view::npos);
}

}  // namespace

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
