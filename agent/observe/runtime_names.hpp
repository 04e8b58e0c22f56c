// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Names of pods and containers from the runtime's lists.
#pragma once

#include <cstddef>
#include <vector>

#include "evictd/model/result.hpp"
#include "evictd/model/runtime.hpp"
#include "evictd/model/runtime_names.hpp"
#include "evictd/port/container_runtime.hpp"

namespace evictd::observe {

// As many are kept, the newest first. Ten times as many pods as a large node has; some 5 MiB at most.
inline constexpr std::size_t most_named_pods = 5'000;
inline constexpr std::size_t most_named_containers = 20'000;

// Of several sandboxes with one uid the one that is ready names the pod, else the newest attempt; containers of all of
// them are its. A name, uid or ID that Kubernetes or a runtime could not have made is left out.
[[nodiscard]] RuntimeNames runtime_names(const std::vector<RuntimeSandbox>& sandboxes,
                                         const std::vector<RuntimeContainer>& containers);

// For a thread that may block. Error: as of the port's lists.
[[nodiscard]] Result<RuntimeNamesPtr> read_names(port::ContainerRuntime& runtime);

}  // namespace evictd::observe
