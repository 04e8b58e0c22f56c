// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "command/usage.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>

namespace evictd::command {
namespace {

// CLI11's texts begin so. What is not here is shown as it is.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> beginnings{{
    {"The following argument was not expected: ", "unexpected argument: "},
    {"The following arguments were not expected: ", "unexpected arguments: "},
    {"A subcommand is required", "no command given"},
    {"Could not convert: ", "invalid value: "},
}};

}  // namespace

std::string usage_fault(const CLI::ParseError& error) {
    std::string text = error.what();
    std::replace(text.begin(), text.end(), '\n', ' ');
    for (const auto& [theirs, ours] : beginnings) {
        if (text.starts_with(theirs)) return std::string(ours) + text.substr(theirs.size());
    }
    // "--config: 1 required FILE missing"
    const bool is_missing = dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && text.ends_with(" missing");
    return is_missing ? text.substr(0, text.find(':')) + ": needs a value" : text;
}

}  // namespace evictd::command
