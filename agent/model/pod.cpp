// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Follows component-helpers' resource package, the rule of KEP-753 for sidecars included, and
// pkg/apis/core/v1/helper/qos.
#include "evictd/model/pod.hpp"

#include <algorithm>
#include <array>

#include "evictd/model/container_cgroup.hpp"

namespace evictd {
namespace {

void add(std::optional<Quantity>& sum, const std::optional<Quantity>& more) {
    if (!more) return;
    if (sum) {
        *sum = *sum + *more;
    } else {
        sum = more;
    }
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

// Adds what is positive; false: that is nothing. Saturates as Quantity does.
bool add_positive(Int128& sum, const std::optional<Quantity>& more) {
    constexpr auto most = static_cast<Int128>(~static_cast<UInt128>(0) >> 1);
    if (!more || more->sign() <= 0) return false;
    if (__builtin_add_overflow(sum, more->nano(), &sum)) sum = most;
    return true;
}

// ComputePodQOS over one container after the other. It stops as soon as no other can change the class: with thousands
// of pods each that is not read is time.
class QosCount {
public:
    // False: the pod is Burstable.
    bool add(const Container& container) { return add(container.requests, container.limits); }
    bool add(const ResourceList& requests, const ResourceList& limits) {
        for (std::size_t i = 0; i < resources.size(); ++i) {
            if (add_positive(requests_.at(i), requests.*resources.at(i))) asks_ = true;
            if (asks_ && !limited_everywhere_) return false;
            if (add_positive(limits_.at(i), limits.*resources.at(i))) {
                asks_ = true;
            } else {
                limited_everywhere_ = false;
            }
            if (asks_ && !limited_everywhere_) return false;
        }
        return true;
    }

    [[nodiscard]] QosClass result() const {
        if (!asks_) return QosClass::best_effort;
        return limited_everywhere_ && requests_ == limits_ ? QosClass::guaranteed : QosClass::burstable;
    }

private:
    static constexpr std::array<Resource, 2> resources{&ResourceList::cpu, &ResourceList::memory};

    std::array<Int128, 2> requests_{};
    std::array<Int128, 2> limits_{};
    bool asks_ = false;  // for anything, or is limited in it
    bool limited_everywhere_ = true;
};

}  // namespace

bool has_pod_level_resources(const Pod& pod) {
    const auto has_any = [](const ResourceList& list) { return list.cpu || list.memory || list.hugepages; };
    return has_any(pod.requests) || has_any(pod.limits);
}

QosClass compute_qos(const Pod& pod) {
    QosCount count;
    const auto add = [&](const Container& container) { return count.add(container); };
    const bool is_open = pod.has_resources || has_pod_level_resources(pod)
                             ? count.add(pod.requests, pod.limits)
                             : std::all_of(pod.containers.begin(), pod.containers.end(), add) &&
                                   std::all_of(pod.init_containers.begin(), pod.init_containers.end(), add);
    return is_open ? count.result() : QosClass::burstable;
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
    if (pod.init_containers.empty()) return running;
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
