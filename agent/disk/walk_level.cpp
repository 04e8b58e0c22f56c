// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "disk/walk_level.hpp"

#include <cerrno>
#include <cstdint>
#include <utility>

#include <fcntl.h>
#include <linux/stat.h>
#include <unistd.h>

#include "sys/open_below.hpp"

namespace evictd::disk {
namespace {

// True: it is the directory that it was.
bool take_back(Level& level, sys::Fd directory) {
    struct statx status {};
    if (!directory || status_of(directory.get(), "", status) != 0 || inode_of(status) != level.id) return false;
    if (::lseek(directory.get(), level.position, SEEK_SET) < 0) return false;
    level.directory = std::move(directory);
    return true;
}

}  // namespace

InodeId inode_of(const struct statx& status) {
    return {(std::uint64_t{status.stx_dev_major} << 32U) | status.stx_dev_minor, status.stx_ino};
}

int status_of(int directory, const char* name, struct statx& status) {
    constexpr int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC | AT_EMPTY_PATH;
    constexpr unsigned mask = STATX_TYPE | STATX_NLINK | STATX_INO | STATX_BLOCKS;
    return ::statx(directory, name, flags, mask, &status) == 0 ? 0 : errno;
}

bool reopen_from_below(Level& level, int below, std::size_t steps) {
    sys::Fd directory;
    for (; steps > 0; --steps) {
        auto up = sys::open_directory_below(directory ? directory.get() : below, "..", sys::Mounts::refuse);
        if (!up) return false;
        directory = std::move(up);
    }
    return take_back(level, std::move(directory));
}

bool reopen_by_name(const Level& above, Level& level) {
    if (level.path.empty()) return false;
    return take_back(level, sys::open_directory_below(above.directory.get(), level.path.c_str(), sys::Mounts::refuse));
}

}  // namespace evictd::disk
