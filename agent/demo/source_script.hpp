// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The scenarios that are scripts of the source tree that this program was built in: cluster, with a real API server,
// kubelet and containerd, disk, with a small filesystem and a real containerd, and forkbomb. Not the demo's own pods:
// those are the other scenarios.
#pragma once

#include <string>

#include "evictd/model/result.hpp"

namespace evictd::demo {

// Replaces this process with the script of `scenario`, which runs the evictd beside this program. Returns only if it
// could not be started: without a source tree (kind failed) and without root (not_permitted).
[[nodiscard]] Error become_script(const std::string& scenario);

}  // namespace evictd::demo
