// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The thresholds of the container filesystem, which nobody sets: they are those of the filesystem it lies on.
#pragma once

#include <string>
#include <vector>

#include "evictd/model/config.hpp"
#include "evictd/model/observation.hpp"

namespace evictd::policy {

// UpdateContainerFsThresholds: containerfs.* take the values of nodefs.*, or of imagefs.* where only images and
// writable layers lie apart. What was set for containerfs.* itself is overruled, and said in `notes` in the kubelet's
// words. The kubelet does not use the new thresholds in the very look that derives them; here they hold from the first
// look on. With an unknown layout nothing changes.
[[nodiscard]] EvictionConfig with_containerfs(const EvictionConfig& config, FsLayout layout,
                                              std::vector<std::string>& notes);

}  // namespace evictd::policy
