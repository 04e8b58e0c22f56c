// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What processes have of a pod, as /proc shows it: who is in its cgroup, and where something of it is mounted. By the
// pod's UID, which no other thing is called by: paths differ between the node and a container.
#pragma once

#include <string>

#include "evictd/model/ids.hpp"
#include "evictd/model/result.hpp"

namespace evictd::disk {

struct RemainsPlaces {
    std::string pods = "/var/lib/kubelet/pods";
    std::string proc = "/proc";
};

// "process 12 is in its cgroup", of any hierarchy and both ways to write a UID; empty: none is. A zombie counts.
// Error of kind `invalid`: the node's processes cannot be seen.
[[nodiscard]] Result<std::string> process_in_pod(const RemainsPlaces& places, const PodUid& pod);

// Whether a mount of any process's namespace is of that pod: its place or what is mounted there. A directory that is
// removed takes the mounts on it with it, also those that only other namespaces have. Error of kind `invalid`: there is
// one, or the node's processes cannot be seen (a container without hostPID); `failed`: not all could be looked at.
[[nodiscard]] Status check_unmounted(const RemainsPlaces& places, const PodUid& pod);

}  // namespace evictd::disk
