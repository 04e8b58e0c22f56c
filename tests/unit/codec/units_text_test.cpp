// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Numbers and times as people read them, and RFC 3339 both ways.
#include "units_text.hpp"

#include <gtest/gtest.h>

namespace evictd::codec {
namespace {

using namespace std::chrono_literals;

TEST(BytesText, HasThreeDigitsAndTheNextUnitFromAThousand) {
    EXPECT_EQ(bytes_text(0), "0");
    EXPECT_EQ(bytes_text(999), "999");
    EXPECT_EQ(bytes_text(1000), "0.98Ki");
    EXPECT_EQ(bytes_text(1 << 20), "1Mi");
    EXPECT_EQ(bytes_text((95LL << 20) + (100 << 10)), "95.1Mi");
    EXPECT_EQ(bytes_text(1331439862), "1.24Gi");
    EXPECT_EQ(bytes_text(-5LL << 20), "-5Mi");
    EXPECT_EQ(bytes_text(INT64_MAX), "8Ei");
}

TEST(LatencyText, PicksTheUnit) {
    EXPECT_EQ(latency_text(870ns), "870 ns");
    EXPECT_EQ(latency_text(41200ns), "41.2 us");
    EXPECT_EQ(latency_text(1207us), "1.21 ms");
    EXPECT_EQ(latency_text(3400ms), "3.4 s");
    EXPECT_EQ(latency_text(-1s), "0 ns");
}

TEST(SpanText, HasTwoUnitsAtMost) {
    EXPECT_EQ(span_text(0s), "0s");
    EXPECT_EQ(span_text(59900ms), "59s");
    EXPECT_EQ(span_text(270s), "4m30s");
    EXPECT_EQ(span_text(2h + 13min + 5s), "2h13m");
    EXPECT_EQ(span_text(72h), "3d");
}

TEST(Rfc3339, RoundTripsWithNineDigits) {
    const WallTime time{std::chrono::nanoseconds(1767225600'123456789)};
    EXPECT_EQ(rfc3339(time), "2026-01-01T00:00:00.123456789Z");
    EXPECT_EQ(parse_rfc3339(rfc3339(time)), time);
    EXPECT_EQ(rfc3339(WallTime{-1ns}), "1969-12-31T23:59:59.999999999Z");
}

TEST(Rfc3339, ReadsOffsetsAndShortFractions) {
    EXPECT_EQ(parse_rfc3339("2026-01-01T01:00:00.5+01:00"), parse_rfc3339("2026-01-01T00:00:00.500Z"));
    EXPECT_EQ(parse_rfc3339("2025-12-31T23:59:60Z"), parse_rfc3339("2026-01-01T00:00:00Z"));
}

TEST(Rfc3339, RefusesEverythingElse) {
    for (const char* text :
         {"", "2026", "2026-02-30T00:00:00Z", "2026-01-01 00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:00:00",
          "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00Zx", "9999-01-01T00:00:00Z", "2026-01-01T00:00:00+1:00",
          "-026-01-01T00:00:00Z", "+026-01-01T00:00:00Z"}) {
        EXPECT_FALSE(parse_rfc3339(text)) << text;
    }
}

TEST(TimeOfDay, IsTheReadersTimeZone) {
    const WallTime time{std::chrono::nanoseconds(1767225600'123456789)};
    EXPECT_EQ(time_of_day(time, 0s), "00:00:00.123456");
    EXPECT_EQ(time_of_day(time, -1h, 3), "23:00:00.123");
    EXPECT_EQ(time_of_day(time, 2h, 0), "02:00:00");
}

}  // namespace
}  // namespace evictd::codec
