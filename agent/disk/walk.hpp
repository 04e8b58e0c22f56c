// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a tree of directories uses: one walk by one thread, by getdents64(2) and statx(2) below open directories. Trees
// of any depth and width, with bounded descriptors and memory. It does not choose what to walk, and starts no thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "evictd/model/survey.hpp"
#include "sys/fd.hpp"

namespace evictd::disk {

// What one walk may hold, some 25 MiB in all. Beyond one of these the figure is not complete, except where it says
// otherwise.
struct WalkLimits {
    // Directories that have more to be read; those above are closed and opened again by "..". Half of it costs more
    // openat() in deep trees, and a quarter of it is deeper than what people make.
    std::size_t open_directories = 64;
    // Bytes held for names of directories that are still to be entered; beyond that each is entered as soon as it is
    // read, so that a level holds one name.
    std::size_t names = std::size_t{1} << 20U;
    // The same, and never more: directories beyond it are not entered.
    std::size_t most_names = std::size_t{4} << 20U;
    // Directories on the way down that have more to be read, some 100 bytes each.
    std::size_t levels = std::size_t{1} << 16U;
    // Directories remembered, 21 to 43 bytes each. Beyond that one that is renamed meanwhile may be counted twice; the
    // figure counts as complete.
    std::size_t directories = std::size_t{1} << 16U;
    // Files with several links remembered, as much each. Of one beyond that each link counts as a part of it: exact if
    // all are in the tree, too little if not.
    std::size_t linked = std::size_t{1} << 17U;
    // Entries: a pod may move directories about for as long as it is walked. Above what a node's filesystem holds: XFS
    // and ext4 of 2 TiB have inodes for as many.
    std::uint64_t entries = std::uint64_t{1} << 27U;
};

enum class Depth : std::uint8_t { whole_tree, one_directory };

struct WalkOptions {
    Depth depth = Depth::whole_tree;
    WalkLimits limits{};
};

// Called at least every 64 entries, with the number of entries since it was called last. It may wait. False: the walk
// ends at once, and its figure is not complete.
using GoOn = std::function<bool(std::uint64_t entries)>;

// `root` is a directory that is open for reading, or anything else, which is counted itself. Not followed and not
// entered: symbolic links (they are counted), mount points, bind mounts included (they are not counted). Subvolumes of
// btrfs are entered, though they have devices of their own: a pod can make them, and hide in them. What vanishes
// meanwhile is no error; what cannot be read makes the figure incomplete. Sets everything but `began` and `ended`.
[[nodiscard]] TreeUsage walk(sys::Fd root, const WalkOptions& options, const GoOn& go_on);

}  // namespace evictd::disk
