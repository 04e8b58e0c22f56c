// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// RFC 3339 by hand: this compiler's chrono does not parse.
#include "kube/timestamp.hpp"

#include <chrono>

#include "evictd/model/ascii.hpp"

namespace evictd::kube {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

bool take(std::string_view& text, char expected) {
    if (!text.starts_with(expected)) return false;
    text.remove_prefix(1);
    return true;
}

// Exactly `digits` digits, at most `limit`; -1 if not.
int take_number(std::string_view& text, std::size_t digits, int limit) {
    if (text.size() < digits) return -1;
    int number = 0;
    for (std::size_t i = 0; i < digits; ++i) {
        if (text[i] < '0' || text[i] > '9') return -1;
        number = number * 10 + (text[i] - '0');
    }
    text.remove_prefix(digits);
    return number <= limit ? number : -1;
}

std::optional<Duration> take_fraction(std::string_view& text) {
    Duration fraction{0};
    if (!take(text, '.')) return fraction;
    Duration unit = std::chrono::milliseconds(100);
    std::size_t digits = 0;
    for (; !text.empty() && is_digit(text[0]); text.remove_prefix(1), ++digits) {
        fraction += unit * (text[0] - '0');
        unit /= 10;
    }
    return digits > 0 ? std::optional(fraction) : std::nullopt;
}

std::optional<minutes> take_offset(std::string_view& text) {
    if (take(text, 'Z') || take(text, 'z')) return minutes(0);
    const bool west = text.starts_with('-');
    if (!take(text, '-') && !take(text, '+')) return std::nullopt;
    const int hour = take_number(text, 2, 23);
    if (hour < 0 || !take(text, ':')) return std::nullopt;
    const int minute = take_number(text, 2, 59);
    if (minute < 0) return std::nullopt;
    const minutes offset = hours(hour) + minutes(minute);
    return west ? -offset : offset;
}

std::optional<std::chrono::sys_days> take_date(std::string_view& text) {
    const int year = take_number(text, 4, 2261);
    if (year < 1678 || !take(text, '-')) return std::nullopt;
    const int month = take_number(text, 2, 12);
    if (month < 0 || !take(text, '-')) return std::nullopt;
    const int day = take_number(text, 2, 31);
    const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day < 0 ? 0 : day))};
    if (!date.ok()) return std::nullopt;
    return std::chrono::sys_days(date);
}

std::optional<seconds> take_time_of_day(std::string_view& text) {
    const int hour = take_number(text, 2, 23);
    if (hour < 0 || !take(text, ':')) return std::nullopt;
    const int minute = take_number(text, 2, 59);
    if (minute < 0 || !take(text, ':')) return std::nullopt;
    const int second = take_number(text, 2, 60);  // 60 is a leap second
    if (second < 0) return std::nullopt;
    return hours(hour) + minutes(minute) + seconds(second);
}

}  // namespace

std::optional<WallTime> parse_rfc3339(std::string_view text) {
    const auto date = take_date(text);
    if (!date || !(take(text, 'T') || take(text, 't'))) return std::nullopt;
    const auto time = take_time_of_day(text);
    if (!time) return std::nullopt;
    const auto fraction = take_fraction(text);
    if (!fraction) return std::nullopt;
    const auto offset = take_offset(text);
    if (!offset || !text.empty()) return std::nullopt;
    return WallTime(*date) + *time + *fraction - *offset;
}

}  // namespace evictd::kube
