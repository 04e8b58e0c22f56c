// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The cgroup that a container's OCI specification names (linux.cgroupsPath), as a path.
#pragma once

#include <string>
#include <string_view>

namespace evictd::cri {

// Below the cgroup root, "/kubepods/podUID/ID". Of systemd's driver ("kubepods-podUID.slice:cri-containerd:ID"):
// "/kubepods.slice/kubepods-podUID.slice/cri-containerd-ID.scope", as runc makes it (cgroups/systemd, expandSlice).
// Empty: it is neither, or leads out of the root.
[[nodiscard]] std::string cgroup_of(std::string_view cgroups_path);

}  // namespace evictd::cri
