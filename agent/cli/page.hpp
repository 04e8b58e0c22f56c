// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A long story for stdout, printed a page at a time: not a write for every line, and not all of it in memory.
#pragma once

#include <string>
#include <utility>

#include "command/terminal.hpp"

namespace evictd::cli {

class Page {
public:
    [[nodiscard]] std::string& text() { return text_; }
    // Prints what is there if it is enough.
    Status turn() { return text_.size() < size ? Status{} : flush(); }
    Status flush() { return command::print(std::exchange(text_, {})); }

private:
    // Enough that writing costs nothing, little enough that a reader sees the story go by.
    static constexpr std::size_t size = std::size_t{256} << 10U;
    std::string text_;
};

}  // namespace evictd::cli
