// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kube/timestamp.hpp"

#include <gtest/gtest.h>

namespace evictd::kube {
namespace {

using namespace std::chrono_literals;

constexpr auto noon = std::chrono::sys_days(std::chrono::year(2026) / 1 / 31) + 12h;

TEST(Timestamp, ReadsWhatKubernetesWrites) {
    EXPECT_EQ(parse_rfc3339("2026-01-31T12:00:00Z"), WallTime(noon));
    EXPECT_EQ(parse_rfc3339("2026-01-31T12:00:00.000001Z"), WallTime(noon) + 1us);
    EXPECT_EQ(parse_rfc3339("2026-01-31T14:30:00+02:30"), WallTime(noon));
    EXPECT_EQ(parse_rfc3339("2026-01-31T09:00:00-03:00"), WallTime(noon));
    EXPECT_EQ(parse_rfc3339("1969-12-31T23:59:59.999999999999Z"), WallTime(-1ns));
}

TEST(Timestamp, RefusesEverythingElse) {
    for (const char* text :
         {"", "2026-01-31", "2026-02-30T12:00:00Z", "2026-13-01T12:00:00Z", "2026-01-31T24:00:00Z",
          "2026-01-31T12:00:00", "2026-01-31T12:00:00Zx", "2026-01-31T12:00:00.Z", "9999-01-31T12:00:00Z",
          "2026-01-31 12:00:00Z", "2026-01-31T12:00:00+24:00", "0000-00-00T00:00:00Z"})
        EXPECT_FALSE(parse_rfc3339(text)) << text;
}

}  // namespace
}  // namespace evictd::kube
