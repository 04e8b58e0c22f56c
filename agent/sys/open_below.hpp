// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Opens what is below a directory that is open, by openat2(2): what a pod puts there (symbolic links, mounts) leads
// nowhere else.
#pragma once

#include <cstdint>

#include "sys/fd.hpp"

namespace evictd::sys {

enum class Mounts : std::uint8_t {
    enter,
    refuse,  // EXDEV at a mount point, bind mounts of the same filesystem included, without asking what is mounted
             // there
};

// Invalid: it failed, and errno says why: ELOOP or ENOTDIR at a symbolic link (with O_PATH and without O_DIRECTORY a
// last one is opened itself), ENOSYS before Linux 5.6. `path` may have several components; it leads out of the
// directory only as ".." alone.
// Always O_CLOEXEC and O_NOFOLLOW; O_NOATIME where that is allowed.
[[nodiscard]] Fd open_below(int directory, const char* path, int flags, Mounts mounts);

// A directory, to be listed.
[[nodiscard]] Fd open_directory_below(int directory, const char* path, Mounts mounts);

}  // namespace evictd::sys
