// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Foreign text in our messages: short, and nothing a terminal, a log or a JSON reader could trip over.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace evictd::kube {

// Anything but printable ASCII becomes `?`; beyond `limit` it is cut off with `...`.
[[nodiscard]] std::string printable(std::string_view text, std::size_t limit = 64);
// The same between double quotes.
[[nodiscard]] std::string in_quotes(std::string_view text);

}  // namespace evictd::kube
