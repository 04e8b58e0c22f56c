// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A directory that a walk is in, and how it is opened again after it was closed for those below it.
#pragma once

#include <cstddef>
#include <string>

#include <sys/stat.h>
#include <sys/types.h>

#include "disk/inode_set.hpp"
#include "disk/pending_names.hpp"
#include "sys/fd.hpp"

namespace evictd::disk {

[[nodiscard]] InodeId inode_of(const struct statx& status);

// 0, or errno. `name` may be empty: the descriptor itself. What is known of a remote file is enough: a server that does
// not answer is not waited for.
[[nodiscard]] int status_of(int directory, const char* name, struct statx& status);

// A directory on the way down that has more to be read, or more to be entered.
struct Level {
    sys::Fd directory;  // invalid: closed for those below; `position` is where it was
    InodeId id;
    std::size_t above = 0;  // how many ".." lead to the level above it
    std::string path;       // from there; empty: not needed, or longer than a path may be
    off_t position = 0;
    bool at_end = false;
    PendingNames names;  // of directories to be entered

    [[nodiscard]] bool has_more() const { return !at_end || !names.empty(); }
};

// By ".." from `below`, so many steps. True: it is the directory that it was.
[[nodiscard]] bool reopen_from_below(Level& level, int below, std::size_t steps);
// By its path from the level above it, which is open. Likewise.
[[nodiscard]] bool reopen_by_name(const Level& above, Level& level);

}  // namespace evictd::disk
