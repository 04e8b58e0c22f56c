// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The victim order as a table, for status and rank. Takes the document's `ranking` object.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "status_text.hpp"
#include "text_style.hpp"

namespace evictd::codec {

[[nodiscard]] std::string pods_table(const nlohmann::ordered_json& ranking, Detail detail, const TextStyle& style);
// What runs and is in no row of that table; empty: nothing.
[[nodiscard]] std::string without_manifest(const nlohmann::ordered_json& document, Detail detail,
                                           const TextStyle& style);

}  // namespace evictd::codec
