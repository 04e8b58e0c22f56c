// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "demo/line_reader.hpp"

#include <array>

#include <unistd.h>

namespace evictd::demo {

bool LineReader::read(int fd, const std::function<void(const std::string& line)>& on_line) {
    std::array<char, 16384> chunk{};
    ssize_t got = 0;
    while ((got = ::read(fd, chunk.data(), chunk.size())) > 0) {
        text_.append(chunk.data(), static_cast<std::size_t>(got));
    }
    std::size_t start = 0;
    for (auto end = text_.find('\n'); end != std::string::npos; end = text_.find('\n', start)) {
        on_line(text_.substr(start, end - start));
        start = end + 1;
    }
    text_.erase(0, start);
    return got != 0;
}

}  // namespace evictd::demo
