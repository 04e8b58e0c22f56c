// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "log_gc.hpp"

#include "evictd/model/log_names.hpp"

namespace evictd::policy {

std::vector<std::string> collect_logs(const Runtime& runtime, const PodFateOf& fate_of) {
    std::vector<std::string> result;
    for (const LogDirectory& directory : runtime.log_directories) {
        if (fate_of(pod_of_log_directory(directory.name)) == PodFate::deleted) result.push_back(directory.name);
    }
    for (const LogLink& link : runtime.log_links) {
        // While a log is rotated its link dangles for a moment: only a dead container's link goes.
        const bool dead = !link.container || *link.container == ContainerState::exited;
        if (link.dangling && dead) result.push_back(link.path);
    }
    return result;
}

}  // namespace evictd::policy
