// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Directories that only this program (as root) may change: locks, ledgers, pins. Other users must not be able to put a
// file or a link in, to replace the directory, or to lock what is in it.
#pragma once

#include <string>

#include "evictd/model/result.hpp"
#include "sys/fd.hpp"

namespace evictd::sys {

enum class Access {
    only_ours,  // 0700: nobody else may even enter; this is how it is made
    readable,   // others may enter and read, as in a directory that a package or systemd made with 0755
};

// Opens the directory, made with mode 0700 if it is not there (not its parents: see make_own_directories()). The path
// is walked component by component from the root: each must belong to root or to this user and must not be writable by
// others (a sticky directory such as /tmp may be), a symbolic link must be root's, and the last component must be no
// link at all. Anything else is an error that names the component and the remedy.
[[nodiscard]] Result<Fd> open_own_directory(const std::string& path, Access access, bool make = true);

// The same for one component below a directory that was opened so. `path`: of the parent, for messages.
[[nodiscard]] Result<Fd> open_own_directory_at(const Fd& parent, const std::string& path, const std::string& name,
                                               Access access, bool make = true);

// As open_own_directory(), and makes the parents that are missing, too.
[[nodiscard]] Result<Fd> make_own_directories(const std::string& path, Access access);

}  // namespace evictd::sys
