// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The filesystems that the kubelet's disk signals are about, and what is free on each. Not what any pod uses of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "evictd/model/names.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/units.hpp"

namespace evictd {

enum class NodeFilesystem : std::uint8_t { nodefs, imagefs, containerfs };
inline constexpr std::size_t node_filesystem_count = 3;
template <>
struct Names<NodeFilesystem> {
    static constexpr Words<node_filesystem_count> words{"nodefs", "imagefs", "containerfs"};
};

// Paths whose ids are equal share their space: bind mounts, directories of one filesystem, subvolumes of one btrfs.
// Not an identity beyond a reboot.
struct FilesystemId {
    std::uint64_t high = 0;  // with `low` the UUID of a btrfs; else 0
    std::uint64_t low = 0;   // the device, st_dev
    friend bool operator==(const FilesystemId&, const FilesystemId&) = default;
};

struct FilesystemReading {
    FilesystemId id;
    Bytes available;  // to who is not root, as the kubelet counts
    Bytes capacity;
    // None: the filesystem makes inodes as they are needed, and reports no number (btrfs).
    std::optional<std::int64_t> inodes_free;
    std::optional<std::int64_t> inodes;
    MonotonicTime at;  // before it was asked
};

struct FilesystemView {
    std::optional<FilesystemReading> reading;  // the newest; none: unknown, which is never nothing
    std::string trouble{};                     // why there is none
};

struct FilesystemsView {
    std::array<FilesystemView, node_filesystem_count> of;
    FsLayout layout = FsLayout::unknown;
    std::string layout_trouble{};  // why it is unknown
};

}  // namespace evictd
