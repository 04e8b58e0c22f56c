// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which pod does a cgroup's name speak of? Both of the kubelet's drivers, every QoS class, also nested (kind).
#pragma once

#include <optional>
#include <string_view>

#include "evictd/model/ids.hpp"

namespace evictd::kernel {

// The last component of a cgroup's path: "pod<uid>" (cgroupfs) or "...-pod<uid with _ for ->.slice" (systemd), as
// podContainerManagerImpl.GetPodContainerName makes them. None for containers and for anything else.
[[nodiscard]] std::optional<PodUid> pod_uid_of(std::string_view directory_name);

}  // namespace evictd::kernel
