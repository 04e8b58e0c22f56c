// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "evictd/model/runtime_names.hpp"

#include <algorithm>

#include "evictd/model/container_cgroup.hpp"

namespace evictd {

const NamedPod* named_pod(const RuntimeNames* names, const PodUid& uid) {
    if (names == nullptr) return nullptr;
    const auto before = [](const NamedPod& pod, const PodUid& wanted) { return pod.uid < wanted; };
    const auto found = std::lower_bound(names->pods.begin(), names->pods.end(), uid, before);
    return found != names->pods.end() && found->uid == uid ? &*found : nullptr;
}

std::string named_container(const NamedPod& pod, std::string_view cgroup_name) {
    for (const auto& container : pod.containers) {
        if (is_cgroup_of_container(cgroup_name, container.id)) return container.name;
    }
    return {};
}

}  // namespace evictd
