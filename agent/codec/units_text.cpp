// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Numbers and times as people and JSON read them. Not the parsing of Kubernetes' quantities: that is the model's.
#include "units_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include "evictd/model/ascii.hpp"
#include "evictd/model/quantity.hpp"

namespace evictd::codec {
namespace {

using std::chrono::days;
using std::chrono::hh_mm_ss;
using std::chrono::sys_days;
using std::chrono::year_month_day;

// At least `width` digits, zeros in front.
template <class Integer>
std::string zero_padded(Integer value, std::size_t width) {
    std::string text = std::to_string(value);
    return text.size() < width ? std::string(width - text.size(), '0') + text : text;
}

// Three significant digits without trailing zeros: 1.24, 51.2, 512, 2.
std::string three_digits(double value) {
    const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    std::array<char, 32> buffer{};  // callers scale to below 1000; the largest int64 in Ei is below 8
    const auto end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, decimals);
    std::string text(buffer.data(), end.ptr);
    if (text.find('.') != std::string::npos) {
        text.erase(text.find_last_not_of('0') + 1);
        if (text.back() == '.') text.pop_back();
    }
    return text;
}

std::string clock_text(Duration since_midnight) {
    const hh_mm_ss clock{since_midnight};
    return zero_padded(clock.hours().count(), 2) + ":" + zero_padded(clock.minutes().count(), 2) + ":" +
           zero_padded(clock.seconds().count(), 2) + "." + zero_padded(clock.subseconds().count(), 9);
}

// Eats `count` digits from the front of `text`.
std::optional<int> digits(std::string_view& text, std::size_t count) {
    int value = 0;
    if (text.size() < count) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data(), text.data() + count, value);
    if (error != std::errc{} || end != text.data() + count || value < 0) return std::nullopt;
    text.remove_prefix(count);
    return value;
}

bool eat(std::string_view& text, char expected) {
    if (text.empty() || text.front() != expected) return false;
    text.remove_prefix(1);
    return true;
}

// ".123", as nanoseconds; nothing there is 0.
std::optional<Duration> fraction(std::string_view& text) {
    if (!eat(text, '.')) return Duration::zero();
    std::int64_t nanos = 0;
    std::size_t count = 0;
    for (; count < text.size() && is_digit(text[count]); ++count) {
        if (count < 9) nanos = nanos * 10 + (text[count] - '0');
    }
    if (count == 0) return std::nullopt;
    for (std::size_t i = count; i < 9; ++i) nanos *= 10;
    text.remove_prefix(count);
    return Duration{nanos};
}

// "Z" or "+02:00", and nothing after it.
std::optional<Duration> zone(std::string_view text) {
    if (text == "Z" || text == "z") return Duration::zero();
    const bool west = !text.empty() && text.front() == '-';
    if (!eat(text, '+') && !eat(text, '-')) return std::nullopt;
    const auto hours = digits(text, 2);
    if (!hours || !eat(text, ':')) return std::nullopt;
    const auto minutes = digits(text, 2);
    if (!minutes || !text.empty() || *hours > 23 || *minutes > 59) return std::nullopt;
    const Duration offset = std::chrono::hours(*hours) + std::chrono::minutes(*minutes);
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
    constexpr std::string_view separators = "--T::";
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto part = digits(text, widths[i]);
        if (!part || (i < separators.size() && !eat(text, separators[i]))) return std::nullopt;
        parts[i] = *part;
    }
    const auto sub = fraction(text);
    const auto offset = sub ? zone(text) : std::nullopt;
    const year_month_day date{std::chrono::year{parts[0]}, std::chrono::month{static_cast<unsigned>(parts[1])},
                              std::chrono::day{static_cast<unsigned>(parts[2])}};
    // 290 years of nanoseconds: the difference of any two fits an int64. A leap second is the next second, as in POSIX.
    const bool in_range = parts[0] >= 1970 && parts[0] < 2260 && parts[3] < 24 && parts[4] < 60 && parts[5] <= 60;
    if (!sub || !offset || !date.ok() || !in_range) return std::nullopt;
    return WallTime{sys_days{date}} + std::chrono::hours(parts[3]) + std::chrono::minutes(parts[4]) +
           std::chrono::seconds(parts[5]) + *sub - *offset;
}

std::string time_of_day(WallTime time, Duration utc_offset, int digits) {
    time += utc_offset;
    std::string text = clock_text(time - std::chrono::floor<days>(time));
    constexpr std::size_t whole_seconds = 8;
    text.resize(digits <= 0 ? whole_seconds : whole_seconds + 1 + static_cast<std::size_t>(std::min(digits, 9)));
    return text;
}

std::string bytes_text(std::int64_t bytes) {
    constexpr std::array<const char*, 7> units{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    double value = bytes < 0 ? -static_cast<double>(bytes) : static_cast<double>(bytes);
    std::size_t unit = 0;
    // 999.5 would round to 1000: the next unit says it shorter.
    while (value >= 999.5 && unit + 1 < units.size()) {
        value /= 1024;
        ++unit;
    }
    return (bytes < 0 ? "-" : "") + three_digits(value) + units[unit];
}

std::string amount_text(Signal signal, Amount amount) {
    const bool is_bytes = traits(signal).resource == "memory" || traits(signal).resource == "ephemeral-storage";
    return is_bytes ? bytes_text(amount.value) : std::to_string(amount.value);
}

std::string quantity_text(Signal signal, Amount amount) {
    const bool is_bytes = traits(signal).resource == "memory" || traits(signal).resource == "ephemeral-storage";
    return to_string(Quantity::of(amount.value, is_bytes ? Quantity::Format::binary_si : Quantity::Format::decimal_si));
}

std::string latency_text(Duration duration) {
    constexpr std::array<const char*, 4> units{" ns", " us", " ms", " s"};
    double value = static_cast<double>(std::max(duration.count(), Duration::rep{0}));
    std::size_t unit = 0;
    while (value >= 999.5 && unit + 1 < units.size()) {
        value /= 1000;
        ++unit;
    }
    return three_digits(value) + units[unit];
}

std::string span_text(Duration duration) {
    const auto seconds = std::max<std::int64_t>(std::chrono::floor<std::chrono::seconds>(duration).count(), 0);
    struct Unit {
        std::int64_t seconds;
        const char* name;
    };
    constexpr std::array<Unit, 4> units{{{86400, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}}};
    for (std::size_t i = 0; i + 1 < units.size(); ++i) {
        if (seconds < units[i].seconds) continue;
        const auto rest = seconds % units[i].seconds / units[i + 1].seconds;
        return std::to_string(seconds / units[i].seconds) + units[i].name +
               (rest == 0 ? "" : std::to_string(rest) + units[i + 1].name);
    }
    return std::to_string(seconds) + "s";
}

std::string printable(std::string_view text) {
    std::string clean(text);
    for (char& c : clean) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f) c = '?';
    }
    // C1 controls (0x80..0x9f) travel as 0xc2 0x80..0x9f in UTF-8 and drive some terminals too.
    for (std::size_t i = 0; i + 1 < clean.size(); ++i) {
        const auto next = static_cast<unsigned char>(clean[i + 1]);
        if (static_cast<unsigned char>(clean[i]) == 0xc2 && next >= 0x80 && next <= 0x9f) clean.replace(i, 2, "?");
    }
    return clean;
}

}  // namespace evictd::codec
