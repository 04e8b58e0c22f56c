// SPDX-License-Identifier: Apache-2.0
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

}  // namespace

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
