// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Whole lines appended to a file that is rotated by size: `log`, `log.1` (newer) to `log.N`. Follows the path when
// logrotate moves or deletes the file. Not for counting what was lost: that is event_log's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "evictd/model/result.hpp"
#include "evictd/model/units.hpp"
#include "sys/fd.hpp"

namespace evictd::publish {

struct RotatingFileOptions {
    std::string path;
    Bytes max_size = 16_MiB;
    int max_files = 4;  // the current one included
    mode_t mode = 0640;
};

class RotatingFile {
public:
    explicit RotatingFile(RotatingFileOptions options) : options_(std::move(options)) {}

    // One write(2). After an error nothing of the line is in the file, and the next call tries anew.
    Status append(std::string_view line);
    // Rotates now if a line of this length would make append() do so. True: the file is empty, and what is appended
    // next is its first line.
    Result<bool> make_room(std::size_t length);

private:
    Status reopen_if_moved();
    Status open();
    void rotate() const;
    Status write_line(const std::string& line);

    RotatingFileOptions options_;
    sys::Fd file_;
    dev_t device_ = 0;
    ino_t inode_ = 0;
    bool regular_ = false;  // only a regular file is rotated: never rename a device
    bool torn_ = false;     // a part of a line could not be taken back: the next one starts on a new line
    std::string buffer_;
};

// The name of the n-th file, 0 being the current one.
[[nodiscard]] std::string rotated_name(const std::string& path, int n);

}  // namespace evictd::publish
