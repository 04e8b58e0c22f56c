// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Amounts, times and exemptions as people read them: short and rounded. Never for anything that is parsed; that is
// to_string(Quantity) and to_string(Duration).
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "evictd/model/quantity.hpp"
#include "evictd/model/units.hpp"

namespace evictd::policy {

// "1.2Gi", "96Mi", "512" for bytes; the plain number for what is only counted. Cut off, so that less than a threshold
// never reads as the threshold.
[[nodiscard]] std::string say_amount(Amount amount, Quantity::Format format);

// "0.3s", "12s", "1m30s".
[[nodiscard]] std::string say_duration(Duration duration);

// By Exemption.
inline constexpr std::array<std::string_view, 9> exemption_words{
    "evictable",        "critical",          "static",
    "mirror",           "being evicted",     "failed before",
    "without a cgroup", "without a process", "without a process and with memory that was not returned",
};

}  // namespace evictd::policy
