// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The evictions' part of the status page: those under way, what victims have not given back, and those that ended.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "text_style.hpp"

namespace evictd::codec {

// Takes the status document.
[[nodiscard]] std::string victims_sections(const nlohmann::ordered_json& document, const TextStyle& style);

}  // namespace evictd::codec
