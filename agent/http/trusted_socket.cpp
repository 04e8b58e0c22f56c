// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "http/trusted_socket.hpp"

#include <cerrno>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/fd.hpp"
#include "sys/own_directory.hpp"

namespace evictd::http {
namespace {

constexpr auto name_it = "name the server's own socket";

}  // namespace

Result<std::optional<SocketIdentity>> find_trusted_socket(const std::string& path) {
    const auto slash = path.rfind('/');
    if (slash == std::string::npos || slash == 0) {
        return fail(ErrorKind::invalid, path, "not a path in a directory", "such as /run/NAME/NAME.sock");
    }
    const auto directory = sys::open_own_directory(path.substr(0, slash), sys::Access::readable, false);
    if (!directory) {
        auto error = directory.error();
        if (error.kind == ErrorKind::vanished) return std::nullopt;
        // The directory is not ours to change or to remove: it may be /tmp.
        if (error.kind == ErrorKind::invalid)
            error.remedy = "the socket must be in a directory that only root can write to";
        return tl::unexpected(std::move(error));
    }
    struct stat status {};
    if (::fstatat(directory->get(), path.c_str() + slash + 1, &status, AT_SYMLINK_NOFOLLOW) != 0) {
        const int error_number = errno;
        if (error_number == ENOENT) return std::nullopt;
        return sys::fail_errno(path, error_number);
    }
    if (!S_ISSOCK(status.st_mode)) return fail(ErrorKind::invalid, path, "is no socket", name_it);
    if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
        return fail(ErrorKind::invalid, path, "belongs to user " + std::to_string(status.st_uid), name_it);
    }
    constexpr std::int64_t second = 1'000'000'000;
    return SocketIdentity{.device = status.st_dev,
                          .inode = status.st_ino,
                          .changed_ns = status.st_ctim.tv_sec * second + status.st_ctim.tv_nsec};
}

Result<bool> has_trusted_socket(const std::string& path) {
    const auto found = find_trusted_socket(path);
    if (!found) return tl::unexpected(found.error());
    return found->has_value();
}

}  // namespace evictd::http
