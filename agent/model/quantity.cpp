// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// resource.Quantity: from text and back. What is accepted, rounded and refused follows ParseQuantity and
// CanonicalizeBytes of apimachinery/pkg/api/resource, oddities included ("k" is 0, "Pi" is refused).
#include "evictd/model/quantity.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <limits>
#include <optional>

#include "evictd/model/ascii.hpp"

namespace evictd {
namespace {

using Wide = UInt128;

constexpr Wide nano_per_unit = 1'000'000'000;
constexpr Wide int64_max = std::numeric_limits<std::int64_t>::max();
// maxAllowed of ParseQuantity, which only binary quantities are held to.
constexpr Wide binary_cap = int64_max * nano_per_unit;
// Decimal quantities have no bound upstream. Ours is what 128 bits hold, 10^29 units: more than any signal measures.
constexpr int cap_digits = 38;

constexpr std::string_view wrong_format =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
constexpr std::string_view wrong_suffix = "unable to parse quantity's suffix";
constexpr std::string_view wrong_number = "unable to parse numeric part of quantity";

constexpr Wide digit_of(char c) { return static_cast<Wide>(c - '0'); }

struct Suffix {
    std::string_view text;
    int exponent;  // of 10 in the decimal table, of 2 in the binary one
};
constexpr std::array<Suffix, 10> decimal_suffixes{
    {{"n", -9}, {"u", -6}, {"m", -3}, {"", 0}, {"k", 3}, {"M", 6}, {"G", 9}, {"T", 12}, {"P", 15}, {"E", 18}}};
constexpr std::array<Suffix, 6> binary_suffixes{
    {{"Ki", 10}, {"Mi", 20}, {"Gi", 30}, {"Ti", 40}, {"Pi", 50}, {"Ei", 60}}};

struct Parts {
    bool negative = false;
    std::string_view whole;  // without leading zeros
    std::string_view fraction;
    std::string_view suffix;
    bool has_digits = false;
};

std::string_view take_digits(std::string_view text, std::size_t& position) {
    const std::size_t begin = position;
    while (position < text.size() && is_digit(text[position])) ++position;
    return text.substr(begin, position - begin);
}

// parseQuantityString: nullopt where the text is not of the form at all.
std::optional<Parts> split(std::string_view text) {
    if (text.empty()) return std::nullopt;
    Parts parts;
    std::size_t position = text[0] == '-' || text[0] == '+' ? 1 : 0;
    parts.negative = text[0] == '-';
    parts.whole = take_digits(text, position);
    parts.has_digits = !parts.whole.empty();
    parts.whole.remove_prefix(std::min(parts.whole.find_first_not_of('0'), parts.whole.size()));
    if (position < text.size() && text[position] == '.') {
        parts.fraction = take_digits(text, ++position);
        parts.has_digits = parts.has_digits || !parts.fraction.empty();
    }
    const std::size_t suffix_begin = position;
    position = std::min(text.find_first_not_of("eEinumkKMGTP", position), text.size());
    if (position < text.size() && (text[position] == '-' || text[position] == '+')) ++position;
    take_digits(text, position);
    if (position != text.size()) return std::nullopt;
    parts.suffix = text.substr(suffix_begin);
    return parts;
}

struct Scale {
    Quantity::Format format;
    int exponent;
};

// suffixHandler.interpret.
std::optional<Scale> interpret(std::string_view suffix) {
    for (const Suffix& row : decimal_suffixes) {
        if (row.text == suffix) return Scale{Quantity::Format::decimal_si, row.exponent};
    }
    for (const Suffix& row : binary_suffixes) {
        if (row.text == suffix) return Scale{Quantity::Format::binary_si, row.exponent};
    }
    if (suffix.size() < 2 || (suffix[0] != 'e' && suffix[0] != 'E')) return std::nullopt;
    std::string_view digits = suffix.substr(suffix[1] == '+' ? 2 : 1);
    std::int64_t exponent = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
    // Beyond this every number is at the cap or rounds up to the smallest one, whatever its digits.
    constexpr std::int64_t far = 1 << 30;
    return Scale{Quantity::Format::decimal_exponent, static_cast<int>(std::clamp(exponent, -far, far))};
}

// Whether upstream reads the number as an int64, and so forgives that it has no digits; parseQuantity's `precision`.
bool fast_path_for_no_digits(const Scale& scale) {
    if (scale.format != Quantity::Format::binary_si) return scale.exponent >= -9;
    return 15 - 1 - scale.exponent * 3 / 10 - 1 >= 0;
}

// Whether upstream takes the text for canonical and repeats it as it was written: on its way through int64 only, for a
// binary number that is no multiple of eight, a decimal one whose digits start at no zero, do not end in 000, and stand
// at a power of a thousand.
bool keeps_spelling(const Parts& parts, const Scale& scale) {
    std::string digits = parts.whole.empty() ? "0" : std::string{parts.whole};
    const int whole = static_cast<int>(digits.size());
    if (scale.format == Quantity::Format::binary_si) {
        if (!parts.fraction.empty() || 15 - whole - scale.exponent * 3 / 10 - 1 < 0) return false;
        std::int64_t number = 0;
        std::from_chars(digits.data(), digits.data() + digits.size(), number);
        return number % 8 != 0 && number <= (std::numeric_limits<std::int64_t>::max() >> scale.exponent);
    }
    digits += parts.fraction;
    const std::int64_t exponent = std::int64_t{scale.exponent} - static_cast<std::int64_t>(parts.fraction.size());
    return digits.size() <= 18 && exponent >= -9 && exponent % 3 == 0 && digits[0] != '0' && !digits.ends_with("000");
}

Wide decimal_nano(const Parts& parts, int exponent) {
    std::string digits{parts.whole};
    digits += parts.fraction;
    const auto fraction_size = static_cast<std::int64_t>(parts.fraction.size());
    const std::size_t leading = std::min(digits.find_first_not_of('0'), digits.size());
    digits.erase(0, leading);
    if (digits.empty()) return 0;
    const std::int64_t shift = std::int64_t{exponent} + 9 - fraction_size;
    const std::int64_t size = static_cast<std::int64_t>(digits.size()) + shift;  // digits of the result
    Wide nano = 0;
    if (size > cap_digits) {
        nano = 1;
        for (int i = 0; i < cap_digits; ++i) nano *= 10;
        return nano;
    }
    const auto kept = static_cast<std::size_t>(std::max<std::int64_t>(0, size));
    for (std::size_t i = 0; i < kept; ++i) nano = nano * 10 + (i < digits.size() ? digit_of(digits[i]) : 0);
    const bool more = kept < digits.size() && digits.find_first_not_of('0', kept) != std::string::npos;
    return nano + (more ? 1 : 0);
}

Wide binary_nano(const Parts& parts, int exponent) {
    const Wide limit = (int64_max >> exponent) + 1;  // the first whole number that is beyond the cap
    Wide whole = 0;
    for (const char c : parts.whole) {
        whole = whole * 10 + digit_of(c);
        if (whole >= limit) return binary_cap;
    }
    // Long multiplication of the fraction, from its last digit: what passes the point stays in `carry`, exactly.
    const Wide factor = nano_per_unit << exponent;
    Wide carry = 0;
    bool more = false;
    for (std::size_t i = parts.fraction.size(); i > 0; --i) {
        carry += digit_of(parts.fraction[i - 1]) * factor;
        more = more || carry % 10 != 0;
        carry /= 10;
    }
    return std::min(whole * factor + carry + (more ? 1 : 0), binary_cap);
}

std::string digits_of(Wide number) {
    std::string text;
    do {
        text.insert(text.begin(), static_cast<char>('0' + static_cast<int>(number % 10)));
        number /= 10;
    } while (number != 0);
    return text;
}

// int64Amount.AsCanonicalBase1024Bytes.
std::string binary_text(Wide units) {
    std::size_t power = 0;
    while (units % 1024 == 0) {
        units /= 1024;
        ++power;
    }
    return digits_of(units) + std::string{power == 0 ? std::string_view{} : binary_suffixes.at(power - 1).text};
}

// AsCanonicalBytes: no zeros at the end beyond what an exponent that is a multiple of three needs.
std::string decimal_text(Wide nano, Quantity::Format format) {
    int exponent = -9;
    while (nano % 1000 == 0) {
        nano /= 1000;
        exponent += 3;
    }
    std::string text = digits_of(nano);
    if (exponent == 0) return text;
    // There is no suffix beyond E; upstream goes over to the exponent too.
    if (format == Quantity::Format::decimal_exponent || exponent > 18) return text + "e" + std::to_string(exponent);
    return text + std::string{decimal_suffixes.at(static_cast<std::size_t>(exponent + 9) / 3).text};
}

// Rounded up. What fits is divided by the processor: 128 bits are divided by a function, several times as slowly.
Wide quotient(Wide nano, Wide unit) {
    const auto small = static_cast<std::uint64_t>(nano);
    const auto divisor = static_cast<std::uint64_t>(unit);
    if (small == nano) return small / divisor + (small % divisor != 0 ? 1 : 0);
    const Wide whole = nano / unit;
    return whole + (whole * unit != nano ? 1 : 0);
}

std::int64_t scaled(const Quantity& quantity, Wide unit) {
    const bool negative = quantity.sign() < 0;
    const Wide nano = negative ? -static_cast<Wide>(quantity.nano()) : static_cast<Wide>(quantity.nano());
    const Wide rounded = quotient(nano, unit);
    const auto capped = static_cast<std::int64_t>(std::min(rounded, int64_max));
    return negative ? -capped : capped;
}

}  // namespace

Result<Quantity> parse_quantity(std::string_view text) {
    const auto refuse = [text](std::string_view why) {
        return fail(ErrorKind::invalid, "quantity \"" + std::string{text} + "\"", std::string{why});
    };
    const std::optional<Parts> parts = split(text);
    if (!parts) return refuse(wrong_format);
    const std::optional<Scale> scale = interpret(parts->suffix);
    if (!scale) return refuse(wrong_suffix);
    if (!parts->has_digits && !fast_path_for_no_digits(*scale)) return refuse(wrong_number);
    const bool binary = scale->format == Quantity::Format::binary_si;
    const Wide nano = binary ? binary_nano(*parts, scale->exponent) : decimal_nano(*parts, scale->exponent);
    // A binary quantity below one unit has no binary form: it counts as a decimal one from here on.
    const bool below_one = binary && nano > 0 && nano < nano_per_unit;
    const auto amount = static_cast<Int128>(nano);
    Quantity quantity{parts->negative ? -amount : amount, below_one ? Quantity::Format::decimal_si : scale->format};
    if (keeps_spelling(*parts, *scale)) quantity.spell(text);
    return quantity;
}

std::string to_string(const Quantity& quantity) {
    if (quantity.is_zero()) return "0";
    if (!quantity.spelling().empty()) return std::string{quantity.spelling()};
    const bool negative = quantity.sign() < 0;
    const Wide nano = negative ? -static_cast<Wide>(quantity.nano()) : static_cast<Wide>(quantity.nano());
    // Below 1024 and with a fraction the binary form would lose something: upstream shows the decimal one.
    const bool binary =
        quantity.format() == Quantity::Format::binary_si && nano >= 1024 * nano_per_unit && nano % nano_per_unit == 0;
    return (negative ? "-" : "") + (binary ? binary_text(nano / nano_per_unit) : decimal_text(nano, quantity.format()));
}

std::int64_t Quantity::value() const { return scaled(*this, nano_per_unit); }
std::int64_t Quantity::milli_value() const { return scaled(*this, nano_per_unit / 1000); }

}  // namespace evictd
