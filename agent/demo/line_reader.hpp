// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Whole lines from a pipe that does not block.
#pragma once

#include <functional>
#include <string>

namespace evictd::demo {

class LineReader {
public:
    // Calls `on_line` for each line that arrived since the last call, without its newline. False: the other end is
    // closed, so no more lines arrive.
    bool read(int fd, const std::function<void(const std::string& line)>& on_line);

private:
    std::string text_;  // up to the next newline
};

}  // namespace evictd::demo
