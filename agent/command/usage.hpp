// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What is wrong with a command line, in one line and in our words.
#pragma once

#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own name
class ParseError;
}

namespace evictd::command {

[[nodiscard]] std::string usage_fault(const CLI::ParseError& error);

}  // namespace evictd::command
