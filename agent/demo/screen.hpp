// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Where the demo shows itself: a picture drawn again in place on a terminal, lines as they come on a pipe.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "codec/text_style.hpp"

namespace evictd::demo {

class Screen {
public:
    // `style` and `rows` are asked anew for each picture: a window changes its size. rows() is 0 where it is no
    // terminal.
    Screen(std::function<codec::TextStyle()> style, std::function<int()> rows);
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;
    ~Screen();  // gives the cursor back

    [[nodiscard]] bool is_terminal() const { return rows_() > 0; }
    [[nodiscard]] codec::TextStyle style() const { return style_(); }
    [[nodiscard]] int rows() const { return rows_(); }

    // Replaces the last picture.
    void draw(const std::vector<std::string>& lines);
    // Below the last picture, for good.
    void print(const std::vector<std::string>& lines);
    // Nobody reads any more.
    [[nodiscard]] bool closed() const { return closed_; }

private:
    void write(const std::string& text);

    std::function<codec::TextStyle()> style_;
    std::function<int()> rows_;
    std::size_t drawn_ = 0;  // lines of the picture above the cursor
    bool cursor_hidden_ = false;
    bool closed_ = false;
};

}  // namespace evictd::demo
