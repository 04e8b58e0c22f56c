// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "disk/entries.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <dirent.h>
#include <unistd.h>

namespace evictd::disk {
namespace {

// Some 1,000 names. readdir() of glibc asks for as much; more is not measurably faster, and each directory on the way
// down may keep that much of names.
constexpr std::size_t buffer_size = std::size_t{32} << 10U;

IsDirectory is_directory(unsigned char type) {
    if (type == DT_DIR) return IsDirectory::yes;
    return type == DT_UNKNOWN ? IsDirectory::unknown : IsDirectory::no;
}

}  // namespace

EntryReader::EntryReader() : buffer_(buffer_size) {}

int EntryReader::read(int directory, bool until_directory) {
    entries_.clear();
    while (entries_.empty()) {
        const ssize_t size = ::getdents64(directory, buffer_.data(), buffer_.size());
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return errno;
        if (size == 0) break;
        if (const int error = take(directory, static_cast<std::size_t>(size), until_directory); error != 0)
            return error;
    }
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.inode < b.inode; });
    return 0;
}

int EntryReader::take(int directory, std::size_t size, bool until_directory) {
    for (std::size_t at = 0; at < size;) {
        const auto* found = reinterpret_cast<const dirent64*>(buffer_.data() + at);
        at += found->d_reclen;
        const std::string_view name = found->d_name;
        if (name == "." || name == "..") continue;
        entries_.push_back({found->d_name, found->d_ino, is_directory(found->d_type)});
        if (!until_directory || entries_.back().may_be_directory == IsDirectory::no || at >= size) continue;
        return ::lseek(directory, found->d_off, SEEK_SET) < 0 ? errno : 0;
    }
    return 0;
}

}  // namespace evictd::disk
