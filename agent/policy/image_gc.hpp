// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which images to remove: the kubelet's image GC. Removes nothing, and does not measure the disk.
#pragma once

#include <string>
#include <vector>

#include "evictd/model/config.hpp"
#include "evictd/model/runtime.hpp"

namespace evictd::policy {

struct ImageGcResult {
    std::vector<std::string> removed;  // in the order of removal
    Bytes freed;                       // their sizes together
    std::string error;                 // in the kubelet's words; empty: none
};

// StartGarbageCollection's image GC, off with a high water mark of 100 and no maximum age, and
// realImageGCManager.GarbageCollect: once the manager is `running_for` longer than the maximum age, what is too old
// goes; then what is needed to get from the high water mark down to the low one. Runtime::sandbox_image always stays.
[[nodiscard]] ImageGcResult collect_images(const ImageGcPolicy& policy, const Runtime& runtime, Bytes capacity,
                                           Bytes available, WallTime now, Duration running_for);

// realImageGCManager.DeleteUnusedImages: the node is short of disk, and water marks do not count.
[[nodiscard]] ImageGcResult delete_unused_images(const ImageGcPolicy& policy, const Runtime& runtime, WallTime now);

}  // namespace evictd::policy
