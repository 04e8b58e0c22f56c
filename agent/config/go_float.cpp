// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What text is a number is Go's to say (readFloat, special and underscoreOK of strconv/atof.go); what number it is, the
// standard library's.
#include "config/go_float.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <optional>

#include "evictd/model/ascii.hpp"
#include "evictd/model/text.hpp"

namespace evictd::config {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }
bool is_hex_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'f'; }

bool is_word(std::string_view text, std::string_view word) {
    return std::equal(text.begin(), text.end(), word.begin(), word.end(), [](char a, char b) { return lower(a) == b; });
}

// special: only infinities may have a sign.
std::optional<float> special(std::string_view text) {
    if (is_word(text, "nan")) return std::numeric_limits<float>::quiet_NaN();
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    if (!is_word(text, "inf") && !is_word(text, "infinity")) return std::nullopt;
    return negative ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity();
}

// underscoreOK of an unsigned number: each stands between two digits, where the prefix counts as one.
bool underscores_stand_well(std::string_view text, bool hex) {
    char last = hex ? '0' : '^';
    for (const char c : text.substr(hex ? 2 : 0)) {
        const bool digit = is_digit(c) || (hex && is_hex_letter(c));
        if (c == '_' && last != '0') return false;
        if (last == '_' && !digit) return false;
        last = digit ? '0' : c == '_' ? '_' : '!';
    }
    return last != '_';
}

struct Number {
    bool hex = false;
    std::string digits;  // of the mantissa, without leading zeros and the point
    long exponent = 0;   // of 10, or of 2, that the digits as a whole number are to be multiplied by
};

// The mantissa from the front of `rest`; false where there are no digits.
bool take_mantissa(std::string_view& rest, Number& number) {
    bool any = false;
    bool point = false;
    for (; !rest.empty(); rest.remove_prefix(1)) {
        const char c = rest.front();
        if (c == '_') continue;
        if (c == '.' && !point) {
            point = true;
        } else if (is_digit(c) || (number.hex && is_hex_letter(c))) {
            any = true;
            if (c != '0' || !number.digits.empty()) number.digits += c;
            if (point) number.exponent -= number.hex ? 4 : 1;
        } else {
            break;
        }
    }
    return any;
}

// The exponent and nothing behind it. Go stops counting at five digits: no float is that large or small.
bool take_exponent(std::string_view rest, Number& number) {
    if (rest.empty()) return !number.hex;  // a hexadecimal number must have one
    if (lower(rest.front()) != (number.hex ? 'p' : 'e')) return false;
    rest.remove_prefix(1);
    const bool negative = rest.starts_with('-');
    if (negative || rest.starts_with('+')) rest.remove_prefix(1);
    if (rest.empty() || !is_digit(rest.front())) return false;
    long exponent = 0;
    for (const char c : rest) {
        if (c == '_') continue;
        if (!is_digit(c)) return false;
        if (exponent < 10'000) exponent = exponent * 10 + (c - '0');
    }
    number.exponent += negative ? -exponent : exponent;
    return true;
}

// readFloat of a number without sign.
std::optional<Number> read(std::string_view text) {
    Number number;
    number.hex = text.size() > 2 && text[0] == '0' && lower(text[1]) == 'x';
    std::string_view rest = text.substr(number.hex ? 2 : 0);
    if (!take_mantissa(rest, number) || !take_exponent(rest, number)) return std::nullopt;
    const bool underscores = text.find('_') != std::string_view::npos;
    if (underscores && !underscores_stand_well(text, number.hex)) return std::nullopt;
    return number;
}

// Nothing: too large.
std::optional<float> nearest_float(const Number& number) {
    if (number.digits.empty()) return 0.0F;
    const std::string text = number.digits + (number.hex ? "p" : "e") + std::to_string(number.exponent);
    float value = 0;
    const auto format = number.hex ? std::chars_format::hex : std::chars_format::scientific;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value, format);
    if (parsed.ec == std::errc{}) return value;
    // Out of range at one end or the other: too small is zero.
    const auto size = static_cast<long>(number.digits.size());
    return (number.hex ? 4 : 1) * size + number.exponent < 0 ? std::optional(0.0F) : std::nullopt;
}

}  // namespace

std::string go_quoted(std::string_view text) {
    constexpr std::size_t longest = 400;
    constexpr std::string_view named = "\a\b\f\n\r\t\v\"\\";
    constexpr std::string_view names = "abfnrtv\"\\";
    std::string out = "\"";
    for (const char c : text.substr(0, longest)) {
        const std::size_t at = named.find(c);
        if (at != std::string_view::npos) {
            out += {'\\', names[at]};
        } else {
            out += printable({&c, 1});
        }
    }
    return out + (text.size() > longest ? "...\"" : "\"");
}

tl::expected<float, std::string> parse_go_float(std::string_view text) {
    if (const auto word = special(text)) return *word;
    const std::string parsing = "strconv.ParseFloat: parsing " + go_quoted(text) + ": ";
    const bool negative = text.starts_with('-');
    const bool sign = negative || text.starts_with('+');
    const auto number = read(text.substr(sign ? 1 : 0));
    if (!number) return tl::unexpected(parsing + "invalid syntax");
    const auto value = nearest_float(*number);
    if (!value) return tl::unexpected(parsing + "value out of range");
    return negative ? -*value : *value;
}

}  // namespace evictd::config
