// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A JSON document as YAML, for `-o yaml`. Writes only; reading YAML is config's.
#pragma once

#include <string>
#include <string_view>

#include "evictd/model/result.hpp"

namespace evictd::codec {

[[nodiscard]] Result<std::string> yaml_text(std::string_view json);
// The same document, indented: `-o json` for people and jq alike.
[[nodiscard]] Result<std::string> pretty_json(std::string_view json);

}  // namespace evictd::codec
