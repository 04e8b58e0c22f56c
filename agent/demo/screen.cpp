// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// ECMA-48 as every terminal since the VT100 knows it. No alternate screen: the last picture stays for its reader.
#include "demo/screen.hpp"

#include <algorithm>

#include <unistd.h>

#include "sys/fd.hpp"

namespace evictd::demo {
namespace {

constexpr const char* hide_cursor = "\033[?25l";
constexpr const char* show_cursor = "\033[?25h";
constexpr const char* clear_to_end_of_line = "\033[K";
constexpr const char* reset_colour = "\033[0m";
constexpr const char* clear_below = "\033[J";

// Cut at the terminal's width: a line that wraps would take two, and the next picture would miss its place.
std::string cut(const std::string& line, int columns) {
    if (columns <= 0 || codec::width_of(line) <= static_cast<std::size_t>(columns)) {
        return line;
    }
    std::size_t end = 0;
    int cells = 0;
    while (end < line.size()) {
        if (line[end] == '\033') {
            end = std::min(line.find('m', end), line.size() - 1);
        } else if ((static_cast<unsigned char>(line[end]) & 0xc0U) != 0x80U && ++cells > columns) {
            break;
        }
        end++;
    }
    return line.substr(0, end) + (line.find('\033') == std::string::npos ? "" : reset_colour);
}

}  // namespace

Screen::Screen(std::function<codec::TextStyle()> style, std::function<int()> rows)
    : style_(std::move(style)), rows_(std::move(rows)) {}

Screen::~Screen() {
    if (cursor_hidden_) {
        write(show_cursor);
    }
}

void Screen::draw(const std::vector<std::string>& lines) {
    std::string text;
    if (!cursor_hidden_) {
        text += hide_cursor;
        cursor_hidden_ = true;
    }
    if (drawn_ > 0) {
        text += "\033[" + std::to_string(drawn_) + "F";  // to the start of the picture's first line
    }
    const int columns = style_().columns;
    for (const auto& line : lines) {
        text += cut(line, columns) + clear_to_end_of_line + "\n";
    }
    text += clear_below;
    drawn_ = lines.size();
    write(text);
}

void Screen::print(const std::vector<std::string>& lines) {
    std::string text;
    for (const auto& line : lines) {
        text += line + "\n";
    }
    drawn_ = 0;
    write(text);
}

void Screen::write(const std::string& text) {
    if (!closed_ && !sys::write_text(STDOUT_FILENO, text)) {
        closed_ = true;
    }
}

}  // namespace evictd::demo
