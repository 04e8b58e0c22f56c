// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Integer arithmetic throughout: no locale, and the same text everywhere.
#include "phrases.hpp"

#include <algorithm>

namespace evictd::policy {
namespace {

std::string tenths_text(std::uint64_t tenths) {
    std::string text = std::to_string(tenths / 10);
    if (tenths % 10 != 0) text += "." + std::to_string(tenths % 10);
    return text;
}

}  // namespace

std::string say_amount(Amount amount, Quantity::Format format) {
    if (format != Quantity::Format::binary_si) return std::to_string(amount.value);
    constexpr std::array<std::string_view, 7> units{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    const bool negative = amount.value < 0;
    const auto value = static_cast<std::uint64_t>(amount.value);
    const std::uint64_t magnitude = negative ? ~value + 1 : value;
    std::size_t unit = 0;
    while (unit + 1 < units.size() && (magnitude >> (10 * (unit + 1))) != 0) ++unit;
    const std::uint64_t size = std::uint64_t{1} << (10 * unit);
    // Whole units first: ten times the amount would not fit.
    const std::uint64_t tenths =
        magnitude / size * 10 + (unit == 0 ? 0 : (magnitude % size) / (size / 1024) * 10 / 1024);
    return (negative ? "-" : "") + tenths_text(tenths) + std::string(units[unit]);
}

std::string say_duration(Duration duration) {
    using namespace std::chrono_literals;
    // The end of time rounds up to what a Duration cannot hold.
    duration = std::min(duration, Duration::max() - Duration(1s));
    if (duration >= 10s) return to_string(Duration(std::chrono::round<std::chrono::seconds>(duration)));
    const auto tenths = duration < Duration::zero() ? 0 : (duration + 50ms) / 100ms;
    return tenths_text(static_cast<std::uint64_t>(tenths)) + "s";
}

}  // namespace evictd::policy
