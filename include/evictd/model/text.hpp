// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Numbers, times and foreign text as people and JSON read them: one formatter for each, for every human text. Pure: no
// locale, no time zone database, no clock. What Kubernetes parses is to_string(Quantity) and to_string(Duration).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "evictd/model/signal.hpp"
#include "evictd/model/units.hpp"

namespace evictd {

// "512Mi", "1.24Gi", "0": three significant digits, cut off and never rounded up, so that less than a threshold never
// reads as the threshold.
[[nodiscard]] std::string bytes_text(std::int64_t bytes);
// In the unit of the signal: bytes as above, inodes and process IDs as plain numbers.
[[nodiscard]] std::string amount_text(Signal signal, Amount amount);
// Kubernetes' canonical text, exact: "97412Ki". What the event stream and the status document hold.
[[nodiscard]] std::string quantity_text(Signal signal, Amount amount);

// A measured latency, three significant digits: "870 ns", "41.2 us", "1.21 ms", "3.4 s".
[[nodiscard]] std::string latency_text(Duration duration);
// A time that a person waits, two units at most and cut off: "0.3s", "12s", "4m30s", "2h13m", "3d4h".
[[nodiscard]] std::string span_text(Duration duration);

// "2026-01-01T00:00:00.123456789Z": always nine digits, so that times sort as text.
[[nodiscard]] std::string rfc3339(WallTime time);
// Any RFC 3339 time from 1900 to 2189, so that the difference of any two fits a Duration; a fraction and an offset if
// need be. nullopt if it is none.
[[nodiscard]] std::optional<WallTime> parse_rfc3339(std::string_view text);
// "18:02:11.123456" at `utc_offset` from UTC, with `digits` of the second.
[[nodiscard]] std::string time_of_day(WallTime time, Duration utc_offset, int digits = 6);

// "1 process", "2 processes"
[[nodiscard]] std::string processes_text(int count);

// Foreign text, safe for a terminal, a log and one line of it: whatever is not printable ASCII as \xNN.
[[nodiscard]] std::string printable(std::string_view text);
// The same, cut off with "...". A key or value longer than 80 is not recognised by its tail.
[[nodiscard]] std::string excerpt(std::string_view text, std::size_t longest = 80);
// An excerpt between double quotes.
[[nodiscard]] std::string in_quotes(std::string_view text);

}  // namespace evictd
