// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// One column of blocks for each moment, an eighth of a row the finest step; a threshold shows as a line through them.
#include "history_plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "evictd/model/text.hpp"

namespace evictd::codec {
namespace {

constexpr std::size_t plot_rows = 8;
constexpr std::size_t label_width = 8;
constexpr std::size_t frame = label_width + 2;  // the labels, a blank and the axis
constexpr std::size_t tail = 5;                 // " hard" behind a threshold's line
// Wider, a picture of half a minute says no more: samples are 200 ms apart.
constexpr std::size_t most_cells = 90;
constexpr std::size_t least_cells = 30;
constexpr std::size_t eighths = 8;

struct Glyphs {
    std::array<std::string_view, eighths + 1> level;  // nothing to a whole cell
    std::string_view line, axis, corner, floor, mark, earlier;
};
constexpr Glyphs unicode{{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}, "─", "│", "└", "─", "▲", "◀"};
constexpr Glyphs ascii{{" ", "_", "_", "_", "o", "o", "o", "#", "#"}, "-", "|", "+", "-", "^", "<"};

std::string padded_label(std::string_view text, std::size_t width) {
    const auto used = width_of(text);
    return std::string(width - std::min(width, used), ' ') + std::string(text);
}

class Picture {
public:
    Picture(const History& history, WallTime zero, const TextStyle& style)
        : history_(history), zero_(zero), style_(style), glyphs_(style.unicode ? unicode : ascii) {
        const std::size_t room =
            style.columns > 0 ? static_cast<std::size_t>(style.columns) : most_cells + frame + tail;
        cells_ = std::clamp(room > frame + tail ? room - frame - tail : 0, least_cells, most_cells);
        spread();
        for (const auto& value : values_) top_ = std::max(top_, value.value_or(0));
        for (const auto& line : history.lines) top_ = std::max(top_, line.value.value);
    }

    [[nodiscard]] std::string text() const {
        if (std::none_of(values_.begin(), values_.end(), [](const auto& value) { return value.has_value(); }))
            return {};
        std::string text;
        for (std::size_t row = plot_rows; row-- > 0;) text += line(row);
        return text + floor() + moments();
    }

private:
    // The samples over the cells: the least of those that share one, or one over several.
    void spread() {
        const std::size_t samples = history_.available.size();
        for (std::size_t cell = 0; cell < cells_ && samples > 0; ++cell) {
            const std::size_t begin = cell * samples / cells_;
            const std::size_t end = std::max(begin + 1, (cell + 1) * samples / cells_);
            auto& least = values_.emplace_back();
            for (std::size_t i = begin; i < end; ++i) {
                const auto& sample = history_.available[i];
                if (sample && (!least || *sample < *least)) least = sample;
            }
        }
    }

    [[nodiscard]] std::size_t height_of(std::int64_t value) const {
        const double share = std::clamp(static_cast<double>(value) / static_cast<double>(top_), 0.0, 1.0);
        return static_cast<std::size_t>(std::lround(share * static_cast<double>(plot_rows * eighths)));
    }

    [[nodiscard]] std::size_t row_of(std::int64_t value) const {
        return std::min(plot_rows - 1, height_of(value) / eighths);
    }

    // The hardest of the lines that lie in this row.
    [[nodiscard]] const History::Line* line_in(std::size_t row) const {
        const History::Line* found = nullptr;
        for (const auto& line : history_.lines) {
            if (row_of(line.value.value) == row && (found == nullptr || line.hard)) found = &line;
        }
        return found;
    }

    [[nodiscard]] Tone tone_of(std::int64_t value) const {
        Tone tone = Tone::green;
        for (const auto& line : history_.lines) {
            if (value >= line.value.value) continue;
            if (line.hard) return Tone::red;
            tone = Tone::yellow;
        }
        return tone;
    }

    [[nodiscard]] std::string line(std::size_t row) const {
        const auto* threshold = line_in(row);
        std::string label;
        if (threshold != nullptr)
            label = amount_text(history_.signal, threshold->value);
        else if (row + 1 == plot_rows)
            label = amount_text(history_.signal, Amount{top_});
        else if (row == 0)
            label = "0";
        std::string text = padded_label(label, label_width) + " " + std::string(glyphs_.axis);
        std::string run;
        Tone tone = Tone::plain;
        const auto flush = [&] {
            text += toned(run, tone, style_);
            run.clear();
        };
        for (const auto& value : values_) {
            const auto height = value ? height_of(*value) : 0;
            const auto level = std::min(eighths, height - std::min(height, row * eighths));
            const bool ruled = threshold != nullptr && (level == 0 || level == eighths);
            const Tone next = ruled ? Tone::bold : level == 0 ? Tone::plain : tone_of(*value);
            if (next != tone) flush();
            tone = next;
            run += ruled ? glyphs_.line : glyphs_.level.at(level);
        }
        if (threshold == nullptr) run.erase(run.find_last_not_of(' ') + 1);
        flush();
        return text + (threshold != nullptr ? toned(threshold->hard ? " hard" : " soft", Tone::dim, style_) : "") +
               "\n";
    }

    [[nodiscard]] std::string relative(Duration from_zero) const {
        const auto size = from_zero < Duration::zero() ? -from_zero : from_zero;
        if (size < std::chrono::microseconds(1)) return "0";  // the same moment, rounded twice
        return (from_zero < Duration::zero() ? "-" : "+") + latency_text(size);
    }

    [[nodiscard]] std::string floor() const {
        const auto end = history_.start + history_.step * static_cast<std::int64_t>(history_.available.size());
        const auto left = relative(history_.start - zero_);
        const auto right = relative(end - zero_);
        std::string text = padded_label("", label_width) + " " + std::string(glyphs_.corner);
        for (std::size_t cell = 0; cell < cells_; ++cell) text += glyphs_.floor;
        text += "\n" + padded_label("", frame) + left;
        return text + padded_label(right, cells_ - std::min(cells_, left.size())) + "\n";
    }

    // A mark under the cell in which it was, and its name where there is room for it.
    [[nodiscard]] std::string mark(const std::optional<WallTime>& at, const std::string& what) const {
        if (!at) return {};
        const std::string name =
            what + " " + time_of_day(*at, style_.utc_offset, 3) + " (" + relative(*at - zero_) + ")";
        if (*at < history_.start) return padded_label("", frame) + std::string(glyphs_.earlier) + " " + name + "\n";
        const auto width =
            history_.step * static_cast<std::int64_t>(std::max<std::size_t>(1, history_.available.size()));
        const double share = static_cast<double>((*at - history_.start).count()) / static_cast<double>(width.count());
        const auto cell =
            std::min(cells_ - 1, static_cast<std::size_t>(std::max(0.0, share) * static_cast<double>(cells_)));
        const std::string sign(glyphs_.mark);
        if (cell + 2 + name.size() <= cells_) return padded_label("", frame + cell) + sign + " " + name + "\n";
        return padded_label(name + " " + sign, frame + cell + 1) + "\n";
    }

    [[nodiscard]] std::string moments() const {
        return mark(history_.crossed, "crossed") + mark(history_.asked, "SIGTERM") + mark(history_.killed, "SIGKILL") +
               mark(history_.emptied, "empty");
    }

    const History& history_;
    WallTime zero_;
    const TextStyle& style_;
    const Glyphs& glyphs_;
    std::size_t cells_ = 0;
    std::int64_t top_ = 1;
    std::vector<std::optional<std::int64_t>> values_;
};

}  // namespace

std::string plot(const History& history, WallTime zero, const TextStyle& style) {
    return Picture(history, zero, style).text();
}

}  // namespace evictd::codec
