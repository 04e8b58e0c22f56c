// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Reads the event log back, oldest line first, through its rotated files, a little at a time. In the thread that writes
// the log, so what it has not read when it says `end` does not exist yet.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>

#include "evictd/model/units.hpp"
#include "sys/fd.hpp"

namespace evictd::publish {

class EventLogReader {
public:
    // `since`: rotated files that were last written before are left out, which saves reading megabytes for the last
    // minutes; older lines may still come.
    EventLogReader(const std::string& path, int max_files, std::optional<WallTime> since = {});

    // The next line; nothing at the end of the log, or after `budget` bytes were read (then at_end() is false).
    std::optional<std::string> next(std::size_t& budget);
    [[nodiscard]] bool at_end() const { return files_.empty(); }

private:
    std::optional<std::string> buffered_line();
    void next_file();

    std::string path_;
    std::deque<sys::Fd> files_;  // the oldest first
    std::string buffer_;
    std::size_t start_ = 0;  // of what was not returned yet
};

}  // namespace evictd::publish
