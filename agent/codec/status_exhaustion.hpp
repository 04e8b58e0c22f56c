// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The part of the status document on what runs out: when memory has, and when each signal on disk reaches a threshold.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "evictd/model/record.hpp"
#include "text_style.hpp"

namespace evictd::codec {

// "exhaustion", of memory, and "disk_exhaustion": one for each signal on disk that reaches a threshold within the hour,
// the soonest first. Where nothing runs out, there is no such key.
void add_exhaustion(const Tick& tick, nlohmann::ordered_json& document);

// A line for each of them; empty: there is none.
[[nodiscard]] std::string exhaustion_lines(const nlohmann::ordered_json& document, const TextStyle& style);

}  // namespace evictd::codec
