// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Numbers, times and foreign text as people read them, and RFC 3339 both ways.
#include "evictd/model/text.hpp"

#include <gtest/gtest.h>

namespace evictd {
namespace {

using namespace std::chrono_literals;

TEST(BytesText, HasThreeDigitsAndIsNeverRoundedUp) {
    EXPECT_EQ(bytes_text(0), "0");
    EXPECT_EQ(bytes_text(1023), "1023");
    EXPECT_EQ(bytes_text(1024), "1Ki");
    EXPECT_EQ(bytes_text(1536), "1.5Ki");
    EXPECT_EQ(bytes_text(1 << 20), "1Mi");
    EXPECT_EQ(bytes_text((95LL << 20) + (100 << 10)), "95Mi");
    EXPECT_EQ(bytes_text((95LL << 20) + (103 << 10)), "95.1Mi");
    EXPECT_EQ(bytes_text((100LL << 20) - 1), "99.9Mi");
    EXPECT_EQ(bytes_text(1000LL << 20), "1000Mi");
    EXPECT_EQ(bytes_text((1LL << 30) * 5 / 4), "1.25Gi");
    EXPECT_EQ(bytes_text(1331439862), "1.24Gi");
    EXPECT_EQ(bytes_text(-5LL << 20), "-5Mi");
    EXPECT_EQ(bytes_text(INT64_MAX), "7.99Ei");
    EXPECT_EQ(bytes_text(INT64_MIN), "-8Ei");
    EXPECT_EQ(amount_text(Signal::pid_available, {32768}), "32768");
}

TEST(ProcessesText, OneIsNoPlural) {
    EXPECT_EQ(processes_text(0), "0 processes");
    EXPECT_EQ(processes_text(1), "1 process");
    EXPECT_EQ(processes_text(2), "2 processes");
}

TEST(LatencyText, IsTheSameAfterRoundingToMicroseconds) {
    EXPECT_EQ(latency_text(16549600ns), "16.6 ms");
    EXPECT_EQ(latency_text(16550us), "16.6 ms");
}

TEST(LatencyText, PicksTheUnit) {
    EXPECT_EQ(latency_text(870ns), "870 ns");
    EXPECT_EQ(latency_text(41200ns), "41.2 us");
    EXPECT_EQ(latency_text(1207us), "1.21 ms");
    EXPECT_EQ(latency_text(3400ms), "3.4 s");
    EXPECT_EQ(latency_text(-1s), "0 ns");
}

TEST(SpanText, HasTenthsThenTwoUnitsAtMostAndIsNeverRoundedUp) {
    EXPECT_EQ(span_text(0s), "0s");
    EXPECT_EQ(span_text(-1s), "0s");
    EXPECT_EQ(span_text(300ms), "0.3s");
    EXPECT_EQ(span_text(1960ms), "1.9s");
    EXPECT_EQ(span_text(9900ms), "9.9s");
    EXPECT_EQ(span_text(12400ms), "12s");
    EXPECT_EQ(span_text(90s), "1m30s");
    EXPECT_EQ(span_text(59900ms), "59s");
    EXPECT_EQ(span_text(270s), "4m30s");
    EXPECT_EQ(span_text(2h + 13min + 5s), "2h13m");
    EXPECT_EQ(span_text(72h), "3d");
    EXPECT_EQ(span_text(Duration::max()), "106751d23h");
}

TEST(Rfc3339, RoundTripsWithNineDigits) {
    const WallTime time{std::chrono::nanoseconds(1767225600'123456789)};
    EXPECT_EQ(rfc3339(time), "2026-01-01T00:00:00.123456789Z");
    EXPECT_EQ(parse_rfc3339(rfc3339(time)), time);
    EXPECT_EQ(rfc3339(WallTime{-1ns}), "1969-12-31T23:59:59.999999999Z");
}

TEST(Rfc3339, ReadsOffsetsAndShortFractions) {
    EXPECT_EQ(parse_rfc3339("2026-01-01T01:00:00.5+01:00"), parse_rfc3339("2026-01-01T00:00:00.500Z"));
    EXPECT_EQ(parse_rfc3339("2026-01-31T09:00:00-03:00"), parse_rfc3339("2026-01-31t14:30:00+02:30"));
    EXPECT_EQ(parse_rfc3339("1969-12-31T23:59:59.999999999999Z"), WallTime(-1ns));
    EXPECT_EQ(parse_rfc3339("2025-12-31T23:59:60Z"), parse_rfc3339("2026-01-01T00:00:00Z"));
}

TEST(Rfc3339, RefusesEverythingElse) {
    for (const char* text :
         {"", "2026", "2026-02-30T00:00:00Z", "2026-01-01 00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:00:00",
          "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00Zx", "9999-01-01T00:00:00Z", "1899-12-31T23:59:59Z",
          "2190-01-01T00:00:00Z", "2026-13-01T12:00:00Z", "0000-00-00T00:00:00Z", "2026-01-31T12:00:00+24:00",
          "2026-01-01T00:00:00+1:00", "-026-01-01T00:00:00Z", "+026-01-01T00:00:00Z"}) {
        EXPECT_FALSE(parse_rfc3339(text)) << text;
    }
}

TEST(TimeOfDay, IsTheReadersTimeZone) {
    const WallTime time{std::chrono::nanoseconds(1767225600'123456789)};
    EXPECT_EQ(time_of_day(time, 0s), "00:00:00.123456");
    EXPECT_EQ(time_of_day(time, -1h, 3), "23:00:00.123");
    EXPECT_EQ(time_of_day(time, 2h, 0), "02:00:00");
}

TEST(Printable, IsOneLineOfAsciiAndCutOffInAnExcerpt) {
    EXPECT_EQ(printable("a\x1b[31m\n\xc2\x9b\x7f~"), "a\\x1b[31m\\x0a\\xc2\\x9b\\x7f~");
    EXPECT_EQ(excerpt("abcdef", 3), "abc...");
    EXPECT_EQ(excerpt("abc", 3), "abc");
    EXPECT_EQ(in_quotes("abc"), "\"abc\"");
    EXPECT_EQ(excerpt(std::string(100, 'x')).size(), 83U);
}

}  // namespace
}  // namespace evictd
