// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The part of the status document on disks that fill up: when each signal reaches its next threshold.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "evictd/model/record.hpp"
#include "text_style.hpp"

namespace evictd::codec {

// "disk_exhaustion": one for each signal on disk that reaches a threshold within the hour, the soonest first.
void add_disk_exhaustion(const Tick& tick, nlohmann::ordered_json& document);

// A line for each of them; empty: there is none.
[[nodiscard]] std::string disk_exhaustion_lines(const nlohmann::ordered_json& document, const TextStyle& style);

// "2.3 s", "12m5s": a time that is left.
[[nodiscard]] std::string time_left_text(const nlohmann::ordered_json& exhaustion);
[[nodiscard]] bool is_soon(const nlohmann::ordered_json& exhaustion);

}  // namespace evictd::codec
