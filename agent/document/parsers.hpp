// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The two parsers behind parse(). Their libraries' exceptions stop in them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/node.hpp"

namespace evictd::document {

[[nodiscard]] std::vector<Document> parse_yaml(std::string_view text, const std::string& file, const Limits& limits);

struct JsonOutcome {
    Document document;
    bool is_json = true;  // false: `document` has the one fault that says why not
};
[[nodiscard]] JsonOutcome parse_json(std::string_view text, const std::string& file, const Limits& limits);

}  // namespace evictd::document
