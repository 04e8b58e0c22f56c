// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A file line by line, of any length but with lines of a bounded one. What is in them is not known here.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "evictd/model/result.hpp"
#include "sys/fd.hpp"

namespace evictd::replay {

class LineFile {
public:
    // Regular files only.
    [[nodiscard]] static Result<LineFile> open(const std::string& path, std::size_t longest_line);

    // The next line without its end, good until the next call; none: the file is over.
    Result<std::optional<std::string_view>> next();
    [[nodiscard]] std::size_t number() const { return number_; }  // of the line that next() gave, from 1
    [[nodiscard]] bool has_end() const { return has_end_; }       // false: the file stopped within it

private:
    LineFile(std::string path, sys::Fd file, std::size_t longest_line)
        : path_(std::move(path)), file_(std::move(file)), longest_line_(longest_line) {}

    std::string path_;
    sys::Fd file_;
    std::size_t longest_line_;
    std::string buffer_;
    std::size_t begin_ = 0;  // of what was not given yet
    std::size_t number_ = 0;
    bool has_end_ = true;
    bool is_over_ = false;
};

}  // namespace evictd::replay
