// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "document/scalar.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <string>

namespace evictd::document {
namespace {

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), text) != words.end();
}

std::optional<double> fraction(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    // from_chars also knows words such as inf, which YAML writes .inf and JSON does not have.
    if (text.empty() || text.find_first_not_of("+-.0123456789eE") != std::string_view::npos) return std::nullopt;
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// 1e3 and 30.0: sigs.k8s.io/yaml makes JSON of YAML, and writes such a number as 1000 and 30.
std::optional<std::int64_t> whole_fraction(std::string_view text) {
    constexpr double exact = 9007199254740992;  // 2^53: beyond it a double is not every integer
    const auto value = fraction(text);
    if (!value || std::trunc(*value) != *value || std::abs(*value) > exact) return std::nullopt;
    return static_cast<std::int64_t>(*value);
}

std::optional<std::int64_t> whole_digits(std::string_view text) {
    std::string digits;
    std::copy_if(text.begin(), text.end(), std::back_inserter(digits), [](char c) { return c != '_'; });
    const bool negative = digits.starts_with('-');
    if (negative || digits.starts_with('+')) digits.erase(0, 1);
    int base = 10;
    if (digits.size() > 1 && digits[0] == '0') {
        const char mark = digits[1];
        base = mark == 'x' || mark == 'X' ? 16 : mark == 'b' || mark == 'B' ? 2 : 8;
        const bool has_letter = base != 8 || mark == 'o' || mark == 'O';
        digits.erase(0, has_letter ? 2 : 1);
    }
    if (digits.empty() || digits[0] == '-') return std::nullopt;
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
    return negative ? -value : value;
}

}  // namespace

std::optional<std::int64_t> whole_number(std::string_view text) {
    const auto digits = whole_digits(text);
    return digits ? digits : whole_fraction(text);
}

bool is_true(std::string_view text) {
    return is_one_of(text, {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"});
}

Node::Kind kind_of_plain(std::string_view text) {
    if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) return Node::Kind::null;
    if (is_true(text) || is_one_of(text, {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"}))
        return Node::Kind::boolean;
    const char first = text[0];
    if (first != '+' && first != '-' && first != '.' && (first < '0' || first > '9')) return Node::Kind::text;
    if (whole_number(text)) return Node::Kind::integer;
    return fraction(text) ? Node::Kind::fraction : Node::Kind::text;
}

}  // namespace evictd::document
