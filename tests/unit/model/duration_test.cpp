// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// parse_duration and to_string(Duration) against tables of what Go's time.ParseDuration and Duration.String() give.
#include <chrono>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "evictd/model/quantity.hpp"

namespace evictd {
namespace {

using namespace std::chrono_literals;
constexpr Duration longest{std::numeric_limits<std::int64_t>::max()};
constexpr Duration most_negative{std::numeric_limits<std::int64_t>::min()};

struct GoodDuration {
    std::string text;
    Duration duration;
};

TEST(ParseDuration, SumsNumbersWithUnits) {
    const std::vector<GoodDuration> good{
        {"0", 0s},
        {"-0", 0s},
        {"+0", 0s},
        {"0s", 0s},
        {"5s", 5s},
        {"+5s", 5s},
        {"-5s", -5s},
        {"5m", 5min},
        {"1m30s", 90s},
        {"30s1m", 90s},
        {"1h1h", 2h},
        {"1.5h", 90min},
        {"1.s", 1s},
        {".5s", 500ms},
        {"10ns", 10ns},
        {"11us", 11us},
        {"12\xc2\xb5s", 12us},
        {"12\xce\xbcs", 12us},
        {"13ms", 13ms},
        {"-2m3.4s", -(123s + 400ms)},
        {"1h2m3s4ms5us6ns", 1h + 2min + 3s + 4ms + 5us + 6ns},
        {"0.999999ns", 0ns},
        {"0.100000000000000000000h", 6min},
        {"0.3333333333333333333h", 20min},
        {"9007199254.740993ms", 9007199254740993ns},
        {"9223372036854775807ns", longest},
        {"-9223372036854775808ns", most_negative},
        {"0.9223372036854775807h", 3320413933267ns},
    };
    for (const GoodDuration& row : good) {
        SCOPED_TRACE(row.text);
        const auto duration = parse_duration(row.text);
        ASSERT_TRUE(duration) << duration.error().text();
        EXPECT_EQ(duration->count(), row.duration.count());
    }
}

struct BadDuration {
    std::string text;
    std::string why;
};

TEST(ParseDuration, RefusesWithGosText) {
    const std::vector<BadDuration> bad{
        {"", "time: invalid duration \"\""},
        {"-", "time: invalid duration \"-\""},
        {"3", "time: missing unit in duration \"3\""},
        {"1h3", "time: missing unit in duration \"1h3\""},
        {"1.2.3s", "time: missing unit in duration \"1.2.3s\""},
        {"s", "time: invalid duration \"s\""},
        {".", "time: invalid duration \".\""},
        {".s", "time: invalid duration \".s\""},
        {"+.s", "time: invalid duration \"+.s\""},
        {" 1s", "time: invalid duration \" 1s\""},
        {"1 s", "time: unknown unit \" s\" in duration \"1 s\""},
        {"1s ", "time: unknown unit \"s \" in duration \"1s \""},
        {"1d", "time: unknown unit \"d\" in duration \"1d\""},
        {"5M", "time: unknown unit \"M\" in duration \"5M\""},
        {"1\"", "time: unknown unit \"\\\"\" in duration \"1\\\"\""},
        {"1\xc2\xb5", "time: unknown unit \"\\xc2\\xb5\" in duration \"1\\xc2\\xb5\""},
        {"--5s", "time: invalid duration \"--5s\""},
        {"9223372036854775808ns", "time: invalid duration \"9223372036854775808ns\""},
        {"9223372036854775.808us", "time: invalid duration \"9223372036854775.808us\""},
        {"-9223372036854775809ns", "time: invalid duration \"-9223372036854775809ns\""},
        {"3000000h", "time: invalid duration \"3000000h\""},
        {"2562047h48m", "time: invalid duration \"2562047h48m\""},
        {"99999999999999999999s", "time: invalid duration \"99999999999999999999s\""},
    };
    for (const BadDuration& row : bad) {
        SCOPED_TRACE(row.text);
        const auto duration = parse_duration(row.text);
        ASSERT_FALSE(duration) << duration->count();
        EXPECT_EQ(duration.error().why, row.why);
        EXPECT_EQ(duration.error().kind, ErrorKind::invalid);
    }
}

TEST(DurationText, IsGosAndParsesBack) {
    const std::vector<GoodDuration> rows{
        {"0s", 0ns},
        {"1ns", 1ns},
        {"1.1\xc2\xb5s", 1100ns},
        {"2.2ms", 2200us},
        {"3.3s", 3300ms},
        {"4m5s", 245s},
        {"4m5.001s", 245001ms},
        {"5h6m7.001s", 5h + 6min + 7001ms},
        {"8m0.000000001s", 8min + 1ns},
        {"5m0s", 5min},
        {"1h0m0s", 1h},
        {"-1m30s", -90s},
        {"2562047h47m16.854775807s", longest},
        {"-2562047h47m16.854775808s", most_negative},
    };
    for (const GoodDuration& row : rows) {
        EXPECT_EQ(to_string(row.duration), row.text);
        EXPECT_EQ(parse_duration(row.text).value(), row.duration) << row.text;
    }
}

}  // namespace
}  // namespace evictd
