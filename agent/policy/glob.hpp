// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Patterns for names of images: `*` for any characters, also none and also "/", and `?` for one. No brackets, no
// escape.
#pragma once

#include <string_view>

namespace evictd::policy {

// Of the whole name. Takes the product of both lengths at most.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view name);

}  // namespace evictd::policy
