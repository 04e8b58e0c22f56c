// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The status document as a page for people: `evictd status`. Reads what status_json wrote, of this version or another.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "evictd/model/result.hpp"
#include "text_style.hpp"

namespace evictd::codec {

enum class Detail { normal, wide };  // wide adds uid, cgroup, kinds of memory, processes, the next look

[[nodiscard]] Result<std::string> status_text(std::string_view json, Detail detail, const TextStyle& style);

// The rank document as a table: order, pod, and the reason for each place.
[[nodiscard]] Result<std::string> rank_text(std::string_view json, const TextStyle& style);

// The scale-down document as a table.
[[nodiscard]] Result<std::string> scale_down_text(std::string_view json, const TextStyle& style);

// How many lines the event log lacks since the agent started, by the status document.
[[nodiscard]] std::int64_t lost_event_lines(std::string_view json);

}  // namespace evictd::codec
