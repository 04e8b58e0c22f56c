// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Tables and bars. What stands in them is the caller's.
#include "text_table.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace evictd::codec {
namespace {

constexpr std::size_t column_margin = 2;
constexpr std::size_t gap = 2;
// A bar of 28 cells shows 4 % steps; below 8 cells it says nothing that the numbers do not.
constexpr std::size_t bar_width = 28;
constexpr std::size_t bar_minimum = 8;
constexpr std::size_t clip_minimum = 12;

std::size_t cell_at(double share, std::size_t width) {
    const double place = std::clamp(share, 0.0, 1.0) * static_cast<double>(width);
    return std::min(width, static_cast<std::size_t>(std::lround(place)));
}

std::string repeated(std::string_view text, std::size_t count) {
    std::string result;
    for (std::size_t i = 0; i < count; ++i) result += text;
    return result;
}

}  // namespace

std::string draw(const Bar& bar, std::size_t width, const TextStyle& style) {
    const std::string_view full = style.unicode ? "█" : "#";
    const std::string_view rest = style.unicode ? "░" : ".";
    const std::string_view mark = style.unicode ? "┃" : "|";
    std::vector<bool> marked(width, false);
    for (const double share : bar.marks) {
        if (width > 0) marked[std::min(width - 1, cell_at(share, width))] = true;
    }
    // What is not empty shows: a sliver of use is one cell.
    const std::size_t filled = bar.filled > 0 && width > 0 ? std::max<std::size_t>(1, cell_at(bar.filled, width)) : 0;
    std::string text;
    for (std::size_t i = 0; i < width;) {
        std::size_t end = i + 1;
        while (end < width && marked[end] == marked[i] && (end < filled) == (i < filled)) ++end;
        const std::string_view glyph = marked[i] ? mark : i < filled ? full : rest;
        const Tone tone = marked[i] ? Tone::bold : i < filled ? bar.tone : Tone::dim;
        text += toned(repeated(glyph, end - i), tone, style);
        i = end;
    }
    return text;
}

std::vector<std::size_t> Table::widths(const TextStyle& style) const {
    std::vector<std::size_t> widths(columns_.size());
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        widths[c] = width_of(columns_[c].title);
        for (const auto& row : rows_) {
            if (c < row.size() && !row[c].bar) widths[c] = std::max(widths[c], width_of(row[c].text));
        }
        if (columns_[c].fit == Fit::bar) widths[c] = std::max(widths[c], bar_width);
    }
    if (style.columns <= 0 || widths.empty()) return widths;
    const std::size_t needed = std::accumulate(widths.begin(), widths.end(), column_margin + gap * (widths.size() - 1));
    const auto room = static_cast<std::size_t>(style.columns);
    std::size_t over = needed > room ? needed - room : 0;
    // Bars give way first, then words from the right: names and numbers are what a person reads.
    const auto shrink = [&](Fit fit, std::size_t minimum) {
        for (std::size_t c = widths.size(); c-- > 0 && over > 0;) {
            if (columns_[c].fit != fit || widths[c] <= minimum) continue;
            const std::size_t give = std::min(over, widths[c] - minimum);
            widths[c] -= give;
            over -= give;
        }
    };
    shrink(Fit::bar, bar_minimum);
    shrink(Fit::clip, clip_minimum);
    return widths;
}

std::string Table::line(const std::vector<Cell>& row, const std::vector<std::size_t>& widths,
                        const TextStyle& style) const {
    std::string text(column_margin, ' ');
    std::size_t pending = 0;  // blanks owed before the next text, so that no line ends in blanks
    for (std::size_t c = 0; c < row.size() && c < widths.size(); ++c) {
        const bool right = columns_[c].fit == Fit::right;
        const std::string plain = row[c].bar                     ? draw(*row[c].bar, widths[c], style)
                                  : columns_[c].fit == Fit::clip ? clipped(row[c].text, widths[c], style)
                                                                 : row[c].text;
        const std::size_t width = width_of(plain);
        const std::size_t blanks = widths[c] - std::min(widths[c], width);
        if (!plain.empty()) {
            text.append(pending + (right ? blanks : 0), ' ');
            text += toned(plain, row[c].tone, style);
            pending = right ? 0 : blanks;
        } else {
            pending += widths[c];
        }
        pending += gap;
    }
    return text + "\n";
}

std::string Table::text(const TextStyle& style) const {
    const auto fitted = widths(style);
    std::vector<Cell> titles;
    titles.reserve(columns_.size());
    for (const auto& column : columns_) titles.push_back({column.title, Tone::dim, std::nullopt});
    std::string text = line(titles, fitted, style);
    for (const auto& row : rows_) text += line(row, fitted, style);
    return text;
}

}  // namespace evictd::codec
