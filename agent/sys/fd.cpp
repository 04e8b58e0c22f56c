// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Plain system calls turned into Results. No policy about paths: callers choose the flags.
#include "sys/fd.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace evictd::sys {
namespace {

// A first read this big takes nearly every cgroup and proc file in one system call; they are a page or less.
constexpr std::size_t first_read = 4096;

ErrorKind kind_of(int error_number) {
    switch (error_number) {
        case ENOENT:
        case ENODEV:
        case ESRCH:
        case ENXIO:
            return ErrorKind::vanished;
        case EACCES:
        case EPERM:
            return ErrorKind::not_permitted;
        case EMFILE:
        case ENFILE:
        case ENOMEM:
        case EAGAIN:
            return ErrorKind::exhausted;
        default:
            return ErrorKind::failed;
    }
}

// The path behind an fd, for messages only.
std::string path_of(int fd) {
    std::array<char, 512> path{};
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    const ssize_t length = ::readlink(link.c_str(), path.data(), path.size());
    return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : "fd " + std::to_string(fd);
}

ssize_t pread_retrying(int fd, char* buffer, std::size_t size, std::size_t offset) {
    ssize_t got = 0;
    do {
        got = ::pread(fd, buffer, size, static_cast<off_t>(offset));
    } while (got < 0 && errno == EINTR);
    return got;
}

}  // namespace

Fd& Fd::operator=(Fd&& other) noexcept {
    if (this != &other) {
        reset();
        fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
}

void Fd::reset() {
    // Never retried: Linux has released the number even when close() reports EINTR.
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

tl::unexpected<Error> fail_errno(std::string what, int error_number, std::string remedy) {
    const char* text = ::strerrordesc_np(error_number);
    return fail(kind_of(error_number), std::move(what),
                text != nullptr ? text : "errno " + std::to_string(error_number), std::move(remedy));
}

Result<Fd> open(const std::string& path, int flags, mode_t mode) { return openat(AT_FDCWD, path, flags, mode); }

Result<Fd> openat(int directory, const std::string& name, int flags, mode_t mode) {
    Fd fd(::openat(directory, name.c_str(), flags | O_CLOEXEC, mode));
    if (fd) return fd;
    const int error_number = errno;
    const bool relative = directory != AT_FDCWD && !name.starts_with('/');
    return fail_errno(relative ? path_of(directory) + "/" + name : name, error_number);
}

Status read_text(int fd, std::string& into, std::size_t limit) {
    into.resize(std::max(into.capacity(), first_read));
    std::size_t length = 0;
    while (true) {
        const ssize_t got = pread_retrying(fd, into.data() + length, into.size() - length, length);
        if (got < 0) {
            const int error_number = errno;
            into.clear();
            return fail_errno(path_of(fd), error_number);
        }
        length += static_cast<std::size_t>(got);
        if (length > limit) {
            into.clear();
            return fail(ErrorKind::invalid, path_of(fd), "bigger than " + std::to_string(limit) + " bytes");
        }
        if (got == 0) break;
        if (length == into.size()) into.resize(into.size() * 2);
    }
    into.resize(length);
    return {};
}

Result<std::string> read_all(int fd, std::size_t limit) {
    std::string text;
    if (auto read = read_text(fd, text, limit); !read) return tl::unexpected(read.error());
    return text;
}

Status write_text(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) {
            const int error_number = errno;
            return fail_errno(path_of(fd), error_number);
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

}  // namespace evictd::sys
