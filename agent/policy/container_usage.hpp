// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What one container of a pod uses, as far as that is known. Not for what a pod uses.
#pragma once

#include <optional>

#include "evictd/model/observation.hpp"
#include "evictd/model/pod.hpp"

namespace evictd::policy {

// Its own figures, or the pod's where no other container can have used anything. `container` is one of the pod's.
[[nodiscard]] std::optional<ContainerUsage> container_usage(const Container& container, const Pod& pod,
                                                            const PodUsage& usage);

}  // namespace evictd::policy
