// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// One question to one filesystem, in the calling thread; and which of the node's filesystems are the same.
#pragma once

#include <array>
#include <optional>
#include <string>

#include <sys/vfs.h>

#include "evictd/model/filesystem.hpp"
#include "evictd/model/result.hpp"

namespace evictd::disk {

// getVfsStats of cAdvisor: f_bavail, f_blocks, f_files and f_ffree, in units of f_frsize. `id` and `at` are left alone.
[[nodiscard]] FilesystemReading reading_of(const struct statfs& status);

// Of the filesystem that `path` is on: statfs(2), and which it is. It waits for as long as the filesystem does not
// answer.
[[nodiscard]] Result<FilesystemReading> read_filesystem(const std::string& path);

struct Layout {
    FsLayout layout = FsLayout::unknown;
    std::string trouble{};
};

// HasDedicatedImageFs and IsContainerFsSeparateFromImageFs of the kubelet. `of`: what is known of each, by
// NodeFilesystem; `containers_apart`: the containers' filesystem was named apart from the images'.
[[nodiscard]] Layout layout_of(const std::array<std::optional<FilesystemId>, node_filesystem_count>& of,
                               bool containers_apart);

}  // namespace evictd::disk
