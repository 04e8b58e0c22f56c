// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Tables and bars for a terminal: columns aligned, and shrunk until they fit its width.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "text_style.hpp"

namespace evictd::codec {

// A share of something, 0 to 1, with marks on the scale (a threshold, a request).
struct Bar {
    double filled = 0;
    std::vector<double> marks;
    Tone tone = Tone::plain;
};
[[nodiscard]] std::string draw(const Bar& bar, std::size_t width, const TextStyle& style);

struct Cell {
    std::string text;
    Tone tone = Tone::plain;
    std::optional<Bar> bar;  // instead of the text, as wide as the column
};

enum class Fit { left, right, clip, bar };  // clip: left, and may be cut when the terminal is narrow

struct Column {
    std::string title;
    Fit fit = Fit::left;
};

class Table {
public:
    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
    void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
    [[nodiscard]] bool empty() const { return rows_.empty(); }
    // Every line begins with two blanks and ends with a newline; the titles come first.
    [[nodiscard]] std::string text(const TextStyle& style) const;

private:
    [[nodiscard]] std::vector<std::size_t> widths(const TextStyle& style) const;
    [[nodiscard]] std::string line(const std::vector<Cell>& row, const std::vector<std::size_t>& widths,
                                   const TextStyle& style) const;

    std::vector<Column> columns_;
    std::vector<std::vector<Cell>> rows_;
};

}  // namespace evictd::codec
