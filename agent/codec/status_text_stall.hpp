// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Stalls as a table, for status: the node's resources first, then the pods whose tasks stalled. Takes the status
// document, or a part of it.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "text_style.hpp"

namespace evictd::codec {

// Empty: nothing is measured.
[[nodiscard]] std::string stalls_table(const nlohmann::ordered_json& document, const TextStyle& style);
// Why a pod was evicted: "memory stall 45% of 1s >= 10%". Takes the eviction's `stall` object.
[[nodiscard]] std::string stall_because(const nlohmann::ordered_json& stall);

}  // namespace evictd::codec
