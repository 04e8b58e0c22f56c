// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Go's strconv.ParseFloat(text, 32), by which the kubelet reads percentages. No locale.
#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace evictd::config {

// The nearest float32, ±Inf and NaN where they are written out; else what Go says.
[[nodiscard]] tl::expected<float, std::string> parse_go_float(std::string_view text);

// In quotes, as Go's strconv.Quote writes it, but for what is not ASCII.
[[nodiscard]] std::string go_quoted(std::string_view text);

}  // namespace evictd::config
