// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The node's filesystems, with what the container runtime says of its own.
#pragma once

#include <string>
#include <vector>

#include "evictd/model/runtime.hpp"
#include "evictd/port/filesystems.hpp"

namespace evictd::disk {

// What it does not say stays as it was known; but one that tells of images and of no containers has both in one place.
[[nodiscard]] inline port::FilesystemPaths with_runtime(port::FilesystemPaths known, const RuntimeFilesystems& said) {
    const auto take_first = [](const std::vector<RuntimeFilesystem>& from, std::string& into) {
        if (!from.empty() && !from.front().directory.empty()) into = from.front().directory;
    };
    take_first(said.images, known.imagefs);
    if (!said.images.empty() && said.containers.empty()) known.containerfs.clear();
    take_first(said.containers, known.containerfs);
    return known;
}

}  // namespace evictd::disk
