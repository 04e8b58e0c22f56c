// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "sys/open_below.hpp"

#include <cerrno>
#include <string_view>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace evictd::sys {
namespace {

int openat2_retrying(int directory, const char* path, const open_how& how) {
    long fd = -1;
    do {
        fd = ::syscall(SYS_openat2, directory, path, &how, sizeof how);  // glibc has no wrapper
    } while (fd < 0 && (errno == EINTR || errno == EAGAIN));             // EAGAIN: something was renamed meanwhile
    return static_cast<int>(fd);
}

}  // namespace

Fd open_below(int directory, const char* path, int flags, Mounts mounts) {
    open_how how{};
    how.flags = static_cast<decltype(how.flags)>(flags | O_CLOEXEC | O_NOFOLLOW);
    const bool goes_up = std::string_view(path) == "..";
    how.resolve =
        (goes_up ? 0U : RESOLVE_BENEATH) | RESOLVE_NO_SYMLINKS | (mounts == Mounts::refuse ? RESOLVE_NO_XDEV : 0U);
    return Fd(openat2_retrying(directory, path, how));
}

Fd open_directory_below(int directory, const char* path, Mounts mounts) {
    constexpr int flags = O_RDONLY | O_DIRECTORY;
    auto fd = open_below(directory, path, flags | O_NOATIME, mounts);
    // It belongs to somebody else, and evictd lacks CAP_FOWNER.
    if (!fd && errno == EPERM) fd = open_below(directory, path, flags, mounts);
    return fd;
}

}  // namespace evictd::sys
