// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Go's time.Duration: from text and back, as time.ParseDuration and Duration.String do it, error texts included.
#include <array>
#include <cstdint>
#include <limits>
#include <optional>

#include "evictd/model/ascii.hpp"
#include "evictd/model/quantity.hpp"

namespace evictd {
namespace {

// The magnitude of the most negative duration, the bound of every intermediate step.
constexpr std::uint64_t bound = std::uint64_t{1} << 63;

struct Unit {
    std::string_view name;
    std::uint64_t nanoseconds;
};
constexpr std::array<Unit, 8> duration_units{{{"ns", 1},
                                              {"us", 1'000},
                                              {"\xc2\xb5s", 1'000},  // micro sign
                                              {"\xce\xbcs", 1'000},  // Greek small letter mu
                                              {"ms", 1'000'000},
                                              {"s", 1'000'000'000},
                                              {"m", 60'000'000'000},
                                              {"h", 3'600'000'000'000}}};

// time's own quote(): everything that is not printable ASCII as \xNN.
std::string quoted(std::string_view text) {
    constexpr std::string_view hex = "0123456789abcdef";
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x80 || byte < ' ') {
            out += {'\\', 'x', hex[byte >> 4], hex[byte & 0xf]};
            continue;
        }
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + "\"";
}

std::optional<std::uint64_t> take_whole(std::string_view& text) {
    std::uint64_t number = 0;
    for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1)) {
        if (number > bound / 10) return std::nullopt;
        number = number * 10 + static_cast<std::uint64_t>(text.front() - '0');
        if (number > bound) return std::nullopt;
    }
    return number;
}

struct Fraction {
    std::uint64_t digits = 0;
    double scale = 1;
};

// Digits beyond what 63 bits hold are too small to matter and are skipped.
Fraction take_fraction(std::string_view& text) {
    Fraction fraction;
    bool full = false;
    for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1)) {
        full = full || fraction.digits > (bound - 1) / 10;
        if (full) continue;
        const std::uint64_t next = fraction.digits * 10 + static_cast<std::uint64_t>(text.front() - '0');
        full = next > bound;
        if (full) continue;
        fraction.digits = next;
        fraction.scale *= 10;
    }
    return fraction;
}

const Unit* unit_named(std::string_view name) {
    for (const Unit& unit : duration_units) {
        if (unit.name == name) return &unit;
    }
    return nullptr;
}

// One "number unit" from the front of `rest`, in nanoseconds.
Result<std::uint64_t> take_term(std::string_view& rest, std::string_view all) {
    const auto refuse = [all](const std::string& what) {
        return fail(ErrorKind::invalid, "duration " + quoted(all), "time: " + what + quoted(all));
    };
    const std::size_t before = rest.size();
    const std::optional<std::uint64_t> whole = take_whole(rest);
    if (!whole) return refuse("invalid duration ");
    bool has_digits = rest.size() != before;
    Fraction fraction;
    if (!rest.empty() && rest.front() == '.') {
        rest.remove_prefix(1);
        const std::size_t at_point = rest.size();
        fraction = take_fraction(rest);
        has_digits = has_digits || rest.size() != at_point;
    }
    if (!has_digits) return refuse("invalid duration ");
    const std::string_view unit_name = rest.substr(0, rest.find_first_of(".0123456789"));
    if (unit_name.empty()) return refuse("missing unit in duration ");
    rest.remove_prefix(unit_name.size());
    const Unit* unit = unit_named(unit_name);
    if (unit == nullptr) return refuse("unknown unit " + quoted(unit_name) + " in duration ");
    if (*whole > bound / unit->nanoseconds) return refuse("invalid duration ");
    std::uint64_t term = *whole * unit->nanoseconds;
    if (fraction.digits > 0) {
        term += static_cast<std::uint64_t>(static_cast<double>(fraction.digits) *
                                           (static_cast<double>(unit->nanoseconds) / fraction.scale));
    }
    if (term > bound) return refuse("invalid duration ");
    return term;
}

// `digits` after the point, without zeros at the end: 1500 of 3 is "1.5".
std::string with_fraction(std::uint64_t number, int digits) {
    std::uint64_t one = 1;
    for (int i = 0; i < digits; ++i) one *= 10;
    std::string fraction = std::to_string(one + number % one).substr(1);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    return std::to_string(number / one) + (fraction.empty() ? "" : "." + fraction);
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
    const auto refuse = [text] {
        return fail(ErrorKind::invalid, "duration " + quoted(text), "time: invalid duration " + quoted(text));
    };
    std::string_view rest = text;
    const bool negative = !rest.empty() && rest.front() == '-';
    if (negative || (!rest.empty() && rest.front() == '+')) rest.remove_prefix(1);
    if (rest == "0") return Duration::zero();
    if (rest.empty()) return refuse();
    std::uint64_t sum = 0;
    while (!rest.empty()) {
        const Result<std::uint64_t> term = take_term(rest, text);
        if (!term) return tl::unexpected(term.error());
        sum += *term;
        if (sum > bound) return refuse();
    }
    if (!negative && sum == bound) return refuse();
    if (sum == bound) return Duration{std::numeric_limits<std::int64_t>::min()};
    const auto count = static_cast<std::int64_t>(sum);
    return Duration{negative ? -count : count};
}

std::string to_string(Duration duration) {
    const std::int64_t count = duration.count();
    if (count == 0) return "0s";
    const std::string sign = count < 0 ? "-" : "";
    const std::uint64_t ns =
        count < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(count) : static_cast<std::uint64_t>(count);
    if (ns < 1'000) return sign + std::to_string(ns) + "ns";
    if (ns < 1'000'000) return sign + with_fraction(ns, 3) + "\xc2\xb5s";
    if (ns < 1'000'000'000) return sign + with_fraction(ns, 6) + "ms";
    constexpr std::uint64_t minute = 60'000'000'000;
    const std::uint64_t minutes = ns / minute;
    std::string text = with_fraction(ns % minute, 9) + "s";
    if (minutes > 0) text = std::to_string(minutes % 60) + "m" + text;
    if (minutes >= 60) text = std::to_string(minutes / 60) + "h" + text;
    return sign + text;
}

}  // namespace evictd
