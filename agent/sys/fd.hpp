// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// One owner for each file descriptor, and the few ways we open, read and write one. Whole files by path are in
// file.hpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <sys/types.h>

#include "evictd/model/result.hpp"

namespace evictd::sys {

class Fd {
public:
    Fd() = default;
    explicit Fd(int fd) : fd_(fd) {}
    Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Fd& operator=(Fd&& other) noexcept;
    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;
    ~Fd() { reset(); }

    [[nodiscard]] int get() const { return fd_; }
    [[nodiscard]] bool valid() const { return fd_ >= 0; }
    explicit operator bool() const { return valid(); }
    [[nodiscard]] int release() { return std::exchange(fd_, -1); }
    void reset();

private:
    int fd_ = -1;
};

// An errno as an Error: ENOENT, ENODEV, ESRCH and ENXIO are `vanished`, EACCES and EPERM `not_permitted`.
[[nodiscard]] tl::unexpected<Error> fail_errno(std::string what, int error_number, std::string remedy = {});

// Always O_CLOEXEC.
[[nodiscard]] Result<Fd> open(const std::string& path, int flags, mode_t mode = 0);
[[nodiscard]] Result<Fd> openat(int directory, const std::string& name, int flags, mode_t mode = 0);

// What a control file of the kernel is at most; more is an error (kind invalid), so that nothing grows without bound.
inline constexpr std::size_t control_file_limit = std::size_t{1} << 20U;

// The whole text from offset 0, by pread: the fd may stay open and be read again. `into` keeps its memory, so a reader
// that passes the same string allocates only when the text outgrows it. On failure `into` is empty.
[[nodiscard]] Status read_text(int fd, std::string& into, std::size_t limit = control_file_limit);
[[nodiscard]] Result<std::string> read_all(int fd, std::size_t limit);
// All of it, from the fd's position; control files get it in one write(2).
[[nodiscard]] Status write_text(int fd, std::string_view text);

}  // namespace evictd::sys
