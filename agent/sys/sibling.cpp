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

Result<std::string> running_path() {
    std::array<char, PATH_MAX> path{};
    const ssize_t size = ::readlink(running, path.data(), path.size());
    if (size <= 0 || static_cast<std::size_t>(size) == path.size()) {
        return fail_errno(running, size < 0 ? errno : ENAMETOOLONG);
    }
    return std::string(path.data(), static_cast<std::size_t>(size));
}

bool others_can_change(const struct stat& status, uid_t owner, mode_t mode) {
    const bool foreign = status.st_uid != 0 && status.st_uid != owner;
    return foreign || (status.st_mode & ~mode & (S_IWGRP | S_IWOTH)) != 0;
}

struct Running {
    std::string path;
    struct stat status {};
};

Result<Running> running_program() {
    Running own;
    auto path = running_path();
    if (!path) {
        return tl::unexpected(path.error());
    }
    own.path = std::move(*path);
    if (::stat(running, &own.status) != 0) {
        return fail_errno(own.path, errno);
    }
    return own;
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
    if (others_can_change(status, owner, mode)) {
        return fail(ErrorKind::not_permitted, path, "other users can change it, so it is not executed",
                    "make root its only writer");
    }
    return {};
}

Result<std::string> sibling_program(const std::string& name) {
    const auto own = running_program();
    if (!own) {
        return tl::unexpected(own.error());
    }
    std::string path = own->path.substr(0, own->path.rfind('/') + 1) + name;
    if (auto safe = check_program(path, own->status.st_uid, own->status.st_mode); !safe) {
        return tl::unexpected(safe.error());
    }
    return path;
}

Result<std::string> source_program(const std::string& path) {
    const auto own = running_program();
    if (!own) {
        return tl::unexpected(own.error());
    }
    const std::string build = own->path.substr(0, own->path.rfind('/'));
    std::string program = build.substr(0, build.rfind('/') + 1) + path;
    if (auto safe = check_program(program, own->status.st_uid, own->status.st_mode); !safe) {
        return tl::unexpected(safe.error());
    }
    const std::string directory = program.substr(0, program.rfind('/'));
    struct stat status {};
    if (::stat(directory.c_str(), &status) != 0) {
        return fail_errno(directory, errno);
    }
    if (others_can_change(status, own->status.st_uid, own->status.st_mode)) {
        return fail(ErrorKind::not_permitted, directory, "other users can change it, so nothing in it is executed",
                    "make root its only writer");
    }
    return program;
}

}  // namespace evictd::sys
