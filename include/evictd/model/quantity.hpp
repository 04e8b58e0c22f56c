// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Kubernetes' resource.Quantity and Go's time.Duration: their text forms, to the letter. Pure; no locale.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "evictd/model/result.hpp"
#include "evictd/model/units.hpp"

namespace evictd {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

// apimachinery/pkg/api/resource.Quantity. Held in nano units, its smallest: finer digits round away from zero. Binary
// quantities are capped at 2^63-1 as upstream does, decimal ones at 10^29, where upstream has no bound.
class Quantity {
public:
    enum class Format { decimal_si, binary_si, decimal_exponent };

    constexpr Quantity() = default;
    constexpr Quantity(Int128 nano, Format format) : nano_(nano), format_(format) {}
    static constexpr Quantity of(std::int64_t value, Format format = Format::decimal_si) {
        return {static_cast<Int128>(value) * 1'000'000'000, format};
    }

    // Quantity.Value() and MilliValue(): rounded up (away from zero), capped to int64.
    [[nodiscard]] std::int64_t value() const;
    [[nodiscard]] std::int64_t milli_value() const;
    [[nodiscard]] constexpr Int128 nano() const { return nano_; }
    [[nodiscard]] constexpr Format format() const { return format_; }
    // How it was written, where upstream repeats that instead of its canonical form (a Quantity's cached string).
    // Empty: it does not, or the text is longer than anybody writes. What is computed has none.
    [[nodiscard]] constexpr std::string_view spelling() const { return {spelling_.data(), spelled_}; }
    constexpr void spell(std::string_view text) {
        if (text.size() > spelling_.size()) return;
        std::copy(text.begin(), text.end(), spelling_.begin());
        spelled_ = static_cast<std::uint8_t>(text.size());
    }
    [[nodiscard]] constexpr bool is_zero() const { return nano_ == 0; }
    [[nodiscard]] constexpr int sign() const { return nano_ < 0 ? -1 : nano_ > 0 ? 1 : 0; }

    friend constexpr bool operator==(const Quantity& a, const Quantity& b) { return a.nano_ == b.nano_; }
    friend constexpr auto operator<=>(const Quantity& a, const Quantity& b) { return a.nano_ <=> b.nano_; }
    // Quantity.Add. Saturates where 128 bits end.
    friend constexpr Quantity operator+(const Quantity& a, const Quantity& b) {
        constexpr auto max = static_cast<Int128>(~static_cast<UInt128>(0) >> 1);
        Int128 sum = 0;
        if (__builtin_add_overflow(a.nano_, b.nano_, &sum)) sum = a.nano_ < 0 ? -max : max;
        return {sum, a.is_zero() ? b.format_ : a.format_};
    }

private:
    Int128 nano_ = 0;
    Format format_ = Format::decimal_si;
    // 18 digits, the most upstream caches, with sign, point, suffix and a few zeros in front; it fills the padding.
    std::array<char, 27> spelling_{};
    std::uint8_t spelled_ = 0;
};

// resource.ParseQuantity; the error's `why` is its text.
[[nodiscard]] Result<Quantity> parse_quantity(std::string_view text);
// Quantity.String(): the canonical form, or how it was written where upstream keeps that ("007", "1.250k").
[[nodiscard]] std::string to_string(const Quantity& quantity);

// time.ParseDuration; the error's `why` is its text.
[[nodiscard]] Result<Duration> parse_duration(std::string_view text);
// time.Duration.String(), such as "1m30s" or "1.5ms".
[[nodiscard]] std::string to_string(Duration duration);

}  // namespace evictd
