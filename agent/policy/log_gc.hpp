// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which log directories and links of pods are left over. Not for rotating or shortening logs.
#pragma once

#include <string>
#include <vector>

#include "container_gc.hpp"
#include "evictd/model/runtime.hpp"

namespace evictd::policy {

// containerGC.evictPodLogsDirectories with all sources ready: names of directories, then paths of links.
[[nodiscard]] std::vector<std::string> collect_logs(const Runtime& runtime, const PodFateOf& fate_of);

}  // namespace evictd::policy
