// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the container runtime calls the pods and containers it has. It names, for people, and is no source of pods: that
// a runtime lists one proves neither that it is to be there nor what it may use, so no pod is chosen, counted as known
// or spared by it. That is why it is no part of an Observation: decisions cannot see it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "evictd/model/ids.hpp"

namespace evictd {

struct NamedContainer {
    std::string id;  // as the runtime has it, without a scheme
    std::string name;
};

struct NamedPod {
    PodUid uid;
    std::string name_space;
    std::string name;
    std::vector<NamedContainer> containers{};  // running or not, the newest first

    [[nodiscard]] std::string full_name() const { return name_space + "/" + name; }
};

struct RuntimeNames {
    std::vector<NamedPod> pods;  // ordered by uid; each once
};

// Shared until there is a newer one; never changed. Null: none are known.
using RuntimeNamesPtr = std::shared_ptr<const RuntimeNames>;

// Null: not known. Good for as long as the names are.
[[nodiscard]] const NamedPod* named_pod(const RuntimeNames* names, const PodUid& uid);
// The name of the container whose cgroup has this name. Empty: not known, such as the pod's sandbox.
[[nodiscard]] std::string named_container(const NamedPod& pod, std::string_view cgroup_name);

}  // namespace evictd
