// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Characters, whatever the locale.
#pragma once

namespace evictd {

[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace evictd
