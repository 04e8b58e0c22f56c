// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Amounts, durations and foreign text as people read them.
#include "evictd/model/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "evictd/model/quantity.hpp"

namespace evictd {
namespace {

// A number and what comes after its point, without zeros at the end: 1 and "20" are "1.2".
std::string with_point(const std::string& number, std::string fraction) {
    fraction.erase(fraction.find_last_not_of('0') + 1);
    return fraction.empty() ? number : number + "." + fraction;
}

// Three significant digits, rounded: 1.24, 51.2, 512, 2. Callers scale to below 1000.
std::string three_digits(double value) {
    const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    std::array<char, 32> buffer{};
    const auto end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, decimals);
    const std::string text(buffer.data(), end.ptr);
    const auto point = std::min(text.find('.'), text.size());
    return with_point(text.substr(0, point), text.substr(std::min(point + 1, text.size())));
}

bool is_bytes(Signal signal) {
    return traits(signal).resource == "memory" || traits(signal).resource == "ephemeral-storage";
}

}  // namespace

std::string bytes_text(std::int64_t bytes) {
    constexpr std::array<const char*, 7> units{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    const auto value = static_cast<std::uint64_t>(bytes);
    const std::uint64_t magnitude = bytes < 0 ? ~value + 1 : value;
    std::size_t unit = 0;
    while (unit + 1 < units.size() && (magnitude >> (10 * (unit + 1))) != 0) ++unit;
    const auto hundredths = static_cast<std::uint64_t>((static_cast<UInt128>(magnitude) * 100) >> (10 * unit));
    const std::size_t decimals = hundredths < 1000 ? 2 : hundredths < 10'000 ? 1 : 0;
    const std::string fraction = std::to_string(hundredths % 100 + 100).substr(1, decimals);
    return (bytes < 0 ? "-" : "") + with_point(std::to_string(hundredths / 100), fraction) + units[unit];
}

std::string amount_text(Signal signal, Amount amount) {
    return is_bytes(signal) ? bytes_text(amount.value) : std::to_string(amount.value);
}

std::string quantity_text(Signal signal, Amount amount) {
    const auto format = is_bytes(signal) ? Quantity::Format::binary_si : Quantity::Format::decimal_si;
    return to_string(Quantity::of(amount.value, format));
}

std::string latency_text(Duration duration) {
    constexpr std::array<const char*, 4> units{" ns", " us", " ms", " s"};
    // JSON has latencies in microseconds: rounded once more, the same one must not read 16.5 ms here and 16.6 ms there.
    if (duration >= std::chrono::milliseconds(1)) duration = std::chrono::round<std::chrono::microseconds>(duration);
    double value = static_cast<double>(std::max(duration.count(), Duration::rep{0}));
    std::size_t unit = 0;
    // 999.5 would round to 1000: the next unit says it shorter.
    while (value >= 999.5 && unit + 1 < units.size()) {
        value /= 1000;
        ++unit;
    }
    return three_digits(value) + units[unit];
}

std::string span_text(Duration duration) {
    const std::int64_t tenths = std::max<std::int64_t>(duration / std::chrono::milliseconds(100), 0);
    const std::int64_t seconds = tenths / 10;
    if (seconds < 10) return with_point(std::to_string(seconds), std::to_string(tenths % 10)) + "s";
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

std::string printable(std::string_view text) { return excerpt(text, text.size()); }

std::string excerpt(std::string_view text, std::size_t longest) {
    constexpr std::string_view hex = "0123456789abcdef";
    std::string out;
    for (const char c : text.substr(0, longest)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= ' ' && byte < 0x7f) {
            out += c;
        } else {
            out += {'\\', 'x', hex[byte >> 4], hex[byte & 0xf]};
        }
    }
    return text.size() > longest ? out + "..." : out;
}

std::string processes_text(int count) { return std::to_string(count) + (count == 1 ? " process" : " processes"); }

std::string in_quotes(std::string_view text) { return '"' + excerpt(text) + '"'; }

}  // namespace evictd
