// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Numbers and times as people and JSON read them. Pure: no locale, no time zone database, no clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "evictd/model/signal.hpp"
#include "evictd/model/units.hpp"

namespace evictd::codec {

// "2026-01-01T00:00:00.123456789Z": always nine digits, so that times sort as text.
[[nodiscard]] std::string rfc3339(WallTime time);
// Reads any RFC 3339 time (up to nine digits, Z or an offset); nullopt when it is not one.
[[nodiscard]] std::optional<WallTime> parse_rfc3339(std::string_view text);

// "18:02:11.123456" at `utc_offset` from UTC, with `digits` of the second.
[[nodiscard]] std::string time_of_day(WallTime time, Duration utc_offset, int digits = 6);

// Three significant digits at most: "512Mi", "1.24Gi", "0".
[[nodiscard]] std::string bytes_text(std::int64_t bytes);
// In the unit of the signal: bytes as above, inodes and process IDs as plain numbers.
[[nodiscard]] std::string amount_text(Signal signal, Amount amount);
// Kubernetes' canonical text, exact: "97412Ki". What the event stream and the status document hold.
[[nodiscard]] std::string quantity_text(Signal signal, Amount amount);

// Three significant digits at most: "870 ns", "41.2 us", "1.21 ms", "3.4 s".
[[nodiscard]] std::string latency_text(Duration duration);
// Two units at most, for times a person waits: "12s", "4m30s", "2h13m", "3d4h".
[[nodiscard]] std::string span_text(Duration duration);

// `text` with control characters replaced by '?': names that come from outside must not drive a terminal.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace evictd::codec
