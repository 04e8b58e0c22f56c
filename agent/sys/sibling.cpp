// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "sys/sibling.hpp"

#include <array>
#include <cerrno>
#include <climits>

#include <sys/stat.h>
#include <unistd.h>

#include "sys/fd.hpp"

namespace evictd::sys {
namespace {

constexpr const char* running = "/proc/self/exe";

Result<std::string> running_program() {
    std::array<char, PATH_MAX> path{};
    const ssize_t size = ::readlink(running, path.data(), path.size());
    if (size <= 0 || static_cast<std::size_t>(size) == path.size()) {
        return fail_errno(running, size < 0 ? errno : ENAMETOOLONG);
    }
    return std::string(path.data(), static_cast<std::size_t>(size));
}

}  // namespace

Status check_program(const std::string& path, uid_t owner, mode_t mode) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) {
        if (errno == ENOENT) {
            return fail(ErrorKind::failed, path, "not installed", "install it there; 'make install' does");
        }
        return fail_errno(path, errno);
    }
    if (!S_ISREG(status.st_mode) || (status.st_mode & S_IXUSR) == 0) {
        return fail(ErrorKind::failed, path, "not a program", "install it again");
    }
    const bool foreign = status.st_uid != 0 && status.st_uid != owner;
    const bool more_writable = (status.st_mode & ~mode & (S_IWGRP | S_IWOTH)) != 0;
    if (foreign || more_writable) {
        return fail(ErrorKind::not_permitted, path, "other users can change it, so it is not executed",
                    "make root its only writer");
    }
    return {};
}

Result<std::string> sibling_program(const std::string& name) {
    auto own = running_program();
    if (!own) {
        return own;
    }
    struct stat status {};
    if (::stat(running, &status) != 0) {
        return fail_errno(*own, errno);
    }
    std::string path = own->substr(0, own->rfind('/') + 1) + name;
    if (auto safe = check_program(path, status.st_uid, status.st_mode); !safe) {
        return tl::unexpected(safe.error());
    }
    return path;
}

}  // namespace evictd::sys
