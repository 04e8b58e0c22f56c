// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A log file that stays below its size. One writer; readers may open it at any time.
#include "publish/rotating_file.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/file.hpp"

namespace evictd::publish {

std::string rotated_name(const std::string& path, int n) { return n == 0 ? path : path + "." + std::to_string(n); }

Status RotatingFile::append(std::string_view line) {
    if (auto room = make_room(line.size()); !room) return tl::unexpected(room.error());
    buffer_.assign(torn_ ? "\n" : "");
    buffer_.append(line).push_back('\n');
    return write_line(buffer_);
}

Result<bool> RotatingFile::make_room(std::size_t length) {
    if (auto open = reopen_if_moved(); !open) return tl::unexpected(open.error());
    struct stat now {};
    if (::fstat(file_.get(), &now) != 0) return sys::fail_errno(options_.path, errno);
    const auto size = now.st_size + static_cast<off_t>(length) + (torn_ ? 2 : 1);
    if (!regular_ || now.st_size == 0 || size <= options_.max_size.value) return now.st_size == 0;
    rotate();
    if (auto open = reopen_if_moved(); !open) return tl::unexpected(open.error());
    if (::fstat(file_.get(), &now) != 0) return sys::fail_errno(options_.path, errno);
    return now.st_size == 0;
}

Status RotatingFile::reopen_if_moved() {
    struct stat named {};
    const bool there = ::stat(options_.path.c_str(), &named) == 0;
    if (file_ && there && named.st_dev == device_ && named.st_ino == inode_) return {};
    return open();
}

Status RotatingFile::open() {
    file_.reset();
    const auto slash = options_.path.rfind('/');
    if (slash != std::string::npos && slash > 0) {
        if (auto made = sys::make_directories(options_.path.substr(0, slash), 0750); !made) return made;
    }
    // Non-blocking, so that a FIFO without a reader is an error and not a wait; regular files do not care.
    auto file = sys::open(options_.path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY, options_.mode);
    if (!file) return tl::unexpected(file.error());
    struct stat opened {};
    if (::fstat(file->get(), &opened) != 0) return sys::fail_errno(options_.path, errno);
    device_ = opened.st_dev;
    inode_ = opened.st_ino;
    regular_ = S_ISREG(opened.st_mode);
    torn_ = false;
    file_ = std::move(*file);
    return {};
}

// The oldest goes, every other moves up by one. A rename that fails leaves the file growing, which loses nothing.
void RotatingFile::rotate() const {
    const int last = options_.max_files - 1;
    if (last <= 0) {
        ::unlink(options_.path.c_str());
        return;
    }
    for (int n = last - 1; n >= 0; --n) {
        ::rename(rotated_name(options_.path, n).c_str(), rotated_name(options_.path, n + 1).c_str());
    }
}

Status RotatingFile::write_line(const std::string& line) {
    ssize_t written = 0;
    do {
        written = ::write(file_.get(), line.data(), line.size());
    } while (written < 0 && errno == EINTR);
    if (written == static_cast<ssize_t>(line.size())) {
        torn_ = false;
        return {};
    }
    if (written < 0) return sys::fail_errno(options_.path, errno);
    struct stat now {};
    const bool taken_back =
        regular_ && ::fstat(file_.get(), &now) == 0 && ::ftruncate(file_.get(), now.st_size - written) == 0;
    torn_ = torn_ || !taken_back;
    return sys::fail_errno(options_.path, ENOSPC);
}

}  // namespace evictd::publish
