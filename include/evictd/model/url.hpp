// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Text as a part of a URL.
#pragma once

#include <string>
#include <string_view>

namespace evictd {

// As RFC 3986 escapes a part of a path or of a query: all but letters, digits, - . _ and ~.
[[nodiscard]] std::string url_escaped(std::string_view text);

}  // namespace evictd
