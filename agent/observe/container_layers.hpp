// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The writable layers of the containers that run, as the runtime measured them last: the kubelet's rootfs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evictd/model/ids.hpp"
#include "evictd/model/runtime.hpp"
#include "evictd/port/container_runtime.hpp"

namespace evictd::observe {

struct ContainerLayer {
    PodUid pod;
    std::string name;                     // the container's in its pod
    std::optional<RuntimeUsage> usage{};  // none: the runtime has not measured it
};

struct ContainerLayers {
    std::vector<ContainerLayer> of;  // by pod and name; of each the newest attempt, dead ones only if there is no other
    MonotonicTime at;                // before the containers were listed
};
using ContainerLayersPtr = std::shared_ptr<const ContainerLayers>;

// For a thread that may block. Error: as of the port's lists.
[[nodiscard]] Result<ContainerLayersPtr> read_layers(port::ContainerRuntime& runtime, MonotonicTime now);

}  // namespace evictd::observe
