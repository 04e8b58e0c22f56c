// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The text of a file that a person named. What is in it is not known here.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "document/node.hpp"

namespace evictd::document {

// What this process was started with: "-", /dev/stdin, /dev/fd/N. Reading it may block until its writer closes it, and
// a second time nothing is left to read.
[[nodiscard]] bool is_inherited(const std::string& path);

// Regular files, and what is_inherited(). Of a file that is too large, one byte more than parse() takes. A file that
// cannot be read is a fault on line 0, of kind `not_permitted` where that is why.
[[nodiscard]] tl::expected<std::string, Fault> read_text_file(const std::string& path, const Limits& limits);

}  // namespace evictd::document
