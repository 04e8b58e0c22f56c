// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How long to wait before what failed is tried again: twice as long after each failure in a row.
#pragma once

#include <algorithm>
#include <cstdint>

#include "evictd/model/units.hpp"

namespace evictd {

inline constexpr std::int32_t most_doublings = 6;  // more of them change nothing

// `failures`: in a row, at least 1. After the first it waits for `first`.
[[nodiscard]] constexpr Duration back_off(Duration first, Duration longest, std::int32_t failures) {
    return std::min(longest, first * (1 << std::clamp(failures - 1, 0, most_doublings)));
}

}  // namespace evictd
