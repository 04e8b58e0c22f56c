// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// RFC 3339 by hand: this compiler's chrono does not parse.
#include <algorithm>
#include <array>
#include <chrono>

#include "evictd/model/ascii.hpp"
#include "evictd/model/text.hpp"

namespace evictd {
namespace {

using std::chrono::days;
using std::chrono::hh_mm_ss;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::sys_days;
using std::chrono::year_month_day;

// At least `width` digits, zeros in front.
template <class Integer>
std::string zero_padded(Integer value, std::size_t width) {
    std::string text = std::to_string(value);
    return text.size() < width ? std::string(width - text.size(), '0') + text : text;
}

std::string clock_text(Duration since_midnight) {
    const hh_mm_ss clock{since_midnight};
    return zero_padded(clock.hours().count(), 2) + ":" + zero_padded(clock.minutes().count(), 2) + ":" +
           zero_padded(clock.seconds().count(), 2) + "." + zero_padded(clock.subseconds().count(), 9);
}

bool take_any(std::string_view& text, std::string_view expected) {
    if (text.empty() || expected.find(text.front()) == std::string_view::npos) return false;
    text.remove_prefix(1);
    return true;
}

// Exactly `count` digits.
std::optional<int> take_number(std::string_view& text, std::size_t count) {
    if (text.size() < count || !std::all_of(text.begin(), text.begin() + count, is_digit)) return std::nullopt;
    int number = 0;
    for (const char c : text.substr(0, count)) number = number * 10 + (c - '0');
    text.remove_prefix(count);
    return number;
}

// ".123"; nothing there is 0. What is less than a nanosecond is cut off.
std::optional<Duration> take_second_fraction(std::string_view& text) {
    if (!take_any(text, ".")) return Duration::zero();
    if (text.empty() || !is_digit(text.front())) return std::nullopt;
    Duration fraction{0};
    for (Duration unit{100'000'000}; !text.empty() && is_digit(text.front()); unit /= 10) {
        fraction += unit * (text.front() - '0');
        text.remove_prefix(1);
    }
    return fraction;
}

// "Z" or "+02:00".
std::optional<minutes> take_offset(std::string_view& text) {
    if (take_any(text, "Zz")) return minutes(0);
    const bool west = text.starts_with('-');
    if (!take_any(text, "+-")) return std::nullopt;
    const auto hour = take_number(text, 2);
    if (!hour || *hour > 23 || !take_any(text, ":")) return std::nullopt;
    const auto minute = take_number(text, 2);
    if (!minute || *minute > 59) return std::nullopt;
    const minutes offset = hours(*hour) + minutes(*minute);
    return west ? -offset : offset;
}

}  // namespace

std::string rfc3339(WallTime time) {
    const auto day = std::chrono::floor<days>(time);
    const year_month_day date{day};
    return zero_padded(static_cast<int>(date.year()), 4) + "-" + zero_padded(static_cast<unsigned>(date.month()), 2) +
           "-" + zero_padded(static_cast<unsigned>(date.day()), 2) + "T" + clock_text(time - day) + "Z";
}

std::optional<WallTime> parse_rfc3339(std::string_view text) {
    std::array<int, 6> parts{};
    constexpr std::array<std::size_t, 6> widths{4, 2, 2, 2, 2, 2};
    constexpr std::array<std::string_view, 5> separators{"-", "-", "Tt", ":", ":"};
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto part = take_number(text, widths[i]);
        if (!part || (i < separators.size() && !take_any(text, separators[i]))) return std::nullopt;
        parts[i] = *part;
    }
    const auto fraction = take_second_fraction(text);
    const auto offset = fraction ? take_offset(text) : std::nullopt;
    const year_month_day date{std::chrono::year{parts[0]}, std::chrono::month{static_cast<unsigned>(parts[1])},
                              std::chrono::day{static_cast<unsigned>(parts[2])}};
    // A leap second is the next second, as in POSIX.
    const bool in_range = parts[0] >= 1900 && parts[0] < 2190 && parts[3] < 24 && parts[4] < 60 && parts[5] <= 60;
    if (!offset || !text.empty() || !date.ok() || !in_range) return std::nullopt;
    return WallTime{sys_days{date}} + hours(parts[3]) + minutes(parts[4]) + std::chrono::seconds(parts[5]) + *fraction -
           *offset;
}

std::string time_of_day(WallTime time, Duration utc_offset, int digits) {
    time += utc_offset;
    std::string text = clock_text(time - std::chrono::floor<days>(time));
    constexpr std::size_t whole_seconds = 8;
    text.resize(digits <= 0 ? whole_seconds : whole_seconds + 1 + static_cast<std::size_t>(std::min(digits, 9)));
    return text;
}

}  // namespace evictd
