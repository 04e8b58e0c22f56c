// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The entries of a directory, a buffer at a time, by getdents64(2): readdir(3) would make a copy of each and ask for
// less at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace evictd::disk {

enum class IsDirectory : std::uint8_t { yes, no, unknown };

struct Entry {
    const char* name = nullptr;  // any bytes but '/' and NUL; valid until the next read()
    std::uint64_t inode = 0;
    IsDirectory may_be_directory = IsDirectory::unknown;
};

class EntryReader {
public:
    EntryReader();
    // The next of them, from the descriptor's position, without "." and "..". `until_directory`: those after the first
    // directory are left to the next read(). 0, or errno. No entries and no error: that was all.
    [[nodiscard]] int read(int directory, bool until_directory);
    // Of the last read(), in the order of their inodes: on disk they lie beside each other.
    [[nodiscard]] std::span<const Entry> entries() const { return entries_; }

private:
    [[nodiscard]] int take(int directory, std::size_t size, bool until_directory);

    std::vector<char> buffer_;
    std::vector<Entry> entries_;
};

}  // namespace evictd::disk
