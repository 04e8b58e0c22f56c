// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which container a cgroup is of, by its name.
#pragma once

#include <string_view>

namespace evictd {

// Runtimes name a container's cgroup after its ID, "cri-containerd-ID.scope". `id`: without a scheme. False where it is
// shorter than any runtime's: that could stand in any name by chance.
[[nodiscard]] bool is_cgroup_of_container(std::string_view cgroup_name, std::string_view id);

}  // namespace evictd
