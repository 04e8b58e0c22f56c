// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The key `history` of an event, both ways. Only for codec's own .cpp files: it brings nlohmann-json with it.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "evictd/model/history.hpp"

namespace evictd::codec {

// Some 4 KiB: it stands in a log that is rotated by size, and other programs read that log line by line.
[[nodiscard]] nlohmann::ordered_json history_json(const History& history);

// Null where there is none to be read; what is odd in it is left out. `id` is that of the event it stands in.
[[nodiscard]] HistoryPtr history_from(const nlohmann::ordered_json& json, std::string id);

}  // namespace evictd::codec
