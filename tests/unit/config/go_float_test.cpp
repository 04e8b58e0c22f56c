// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// parse_go_float against what Go's strconv.ParseFloat(text, 32) gives.
#include "config/go_float.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace evictd::config {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

struct Good {
    std::string text;
    float value;
};

TEST(GoFloat, IsTheNearestFloat32) {
    const std::string long_tail = std::string(10'000, '0') + "1";
    const std::vector<Good> rows{
        {"0", 0},
        {"+7", 7},
        {"-12.5", -12.5F},
        {"1.", 1},
        {".5", .5F},
        {"007", 7},
        {"14.5", 14.5F},
        {"1e2", 100},
        {"1E+2", 100},
        {"1e-2", .01F},
        {"1e0000000002", 100},
        {"16777217", 16777216},
        {"1.000000059604644775390625", 1},
        {"1.000000059604644775390625" + long_tail, 1.0000001F},
        {"3.402823567e38", std::numeric_limits<float>::max()},
        {"1e-45", std::numeric_limits<float>::denorm_min()},
        {"7e-46", 0},
        {"1e-46", 0},
        {"-1e-400", 0},
        {"1e-99999999999999999999", 0},
        {"0e99999999999999999999", 0},
        {"0.0000e500", 0},
        {"0." + std::string(500, '0') + "1e501", 1},
        {"1" + std::string(500, '0') + "e-500", 1},
        // hexadecimal, with an exponent of 2
        {"0x1p0", 1},
        {"0X1.8P+3", 12},
        {"0x.8p1", 1},
        {"-0x2p3", -16},
        {"0x1fFe2.p0", 131042},
        {"0x1.000001p0", 1},
        {"0x1.0000011p0", 1.0000001F},
        {"0x1.000001" + long_tail + "p0", 1.0000001F},
        {"0x1p-149", std::numeric_limits<float>::denorm_min()},
        {"0x1p-200", 0},
        {"0x0p99999", 0},
        {"0x.ffffff7fp128", std::numeric_limits<float>::max()},
        // an underscore between two digits
        {"1_0", 10},
        {"1_23.50_0_0e+0_2", 12350},
        {"0x_1_0p0", 16},
        {"inf", infinity},
        {"+INF", infinity},
        {"-Infinity", -infinity},
    };
    for (const Good& row : rows) {
        SCOPED_TRACE(row.text.substr(0, 60));
        const auto value = parse_go_float(row.text);
        ASSERT_TRUE(value) << value.error();
        EXPECT_EQ(*value, row.value);
    }
    EXPECT_TRUE(std::isnan(*parse_go_float("nan")) && std::isnan(*parse_go_float("NaN")));
}

TEST(GoFloat, WhatIsNoNumberIsQuotedInGosWords) {
    for (const std::string text :
         {"",     " 1",   "1 ",   "ten",    "+",       "-",      ".",     "e5",    "1e",   "1e+",   "1.2.3",
          "1,5",  "--1",  "+-1",  "1p2",    "1e2.5",   "0x",     "0x1",   "0x.p0", "0x1p", "0xgp0", "0x1e2",
          "1f",   "+nan", "-nan", "infi",   "infinit", "in",     "_1",    "1_",    "1__0", "1_.5",  "1._5",
          "1e_5", "1_e5", "1e5_", "0_x1p0", "0x1_p0",  "0x1p_1", "1e60x", "0b11",  "0o7",  "1e5e5"}) {
        const auto value = parse_go_float(text);
        ASSERT_FALSE(value) << text;
        EXPECT_EQ(value.error(), "strconv.ParseFloat: parsing \"" + text + "\": invalid syntax");
    }
    EXPECT_EQ(parse_go_float("a\"\\\n\t\x01").error(),
              R"(strconv.ParseFloat: parsing "a\"\\\n\t\x01": invalid syntax)");
    EXPECT_LT(parse_go_float(std::string(100'000, 'x')).error().size(), 500U);
}

TEST(GoFloat, WhatIsTooLargeIsOutOfRange) {
    for (const std::string text : {"3.4028236e38", "-3.4028236e38", "1e39", "1e60", "1e99999999999999999999", "0x1p128",
                                   "0x.ffffff8p128", "0x1p+99999999999"}) {
        const auto value = parse_go_float(text);
        ASSERT_FALSE(value) << text;
        EXPECT_EQ(value.error(), "strconv.ParseFloat: parsing \"" + text + "\": value out of range");
    }
}

}  // namespace
}  // namespace evictd::config
