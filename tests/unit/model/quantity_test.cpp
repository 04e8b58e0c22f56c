// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// parse_quantity and to_string against tables of what resource.ParseQuantity and Quantity.String() give.
#include "evictd/model/quantity.hpp"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace evictd {
namespace {

using Format = Quantity::Format;
constexpr std::int64_t max64 = std::numeric_limits<std::int64_t>::max();
constexpr auto wrong_format =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
constexpr auto wrong_suffix = "unable to parse quantity's suffix";
constexpr auto wrong_number = "unable to parse numeric part of quantity";

struct GoodQuantity {
    std::string text;
    std::int64_t value;
    std::int64_t milli;
    Format format;
    std::string canonical;
};

const std::vector<GoodQuantity> good{
    {"0", 0, 0, Format::decimal_si, "0"},
    {"0Ki", 0, 0, Format::binary_si, "0"},
    {"0e9", 0, 0, Format::decimal_exponent, "0"},
    {"-0", 0, 0, Format::decimal_si, "0"},
    {"1", 1, 1000, Format::decimal_si, "1"},
    {"+7", 7, 7000, Format::decimal_si, "+7"},
    {"-7", -7, -7000, Format::decimal_si, "-7"},
    {"007", 7, 7000, Format::decimal_si, "007"},
    // every decimal suffix
    {"1n", 1, 1, Format::decimal_si, "1n"},
    {"1u", 1, 1, Format::decimal_si, "1u"},
    {"1m", 1, 1, Format::decimal_si, "1m"},
    {"1k", 1000, 1000000, Format::decimal_si, "1k"},
    {"1M", 1000000, 1000000000, Format::decimal_si, "1M"},
    {"1G", 1000000000, 1000000000000, Format::decimal_si, "1G"},
    {"1T", 1000000000000, 1000000000000000, Format::decimal_si, "1T"},
    {"1P", 1000000000000000, 1000000000000000000, Format::decimal_si, "1P"},
    {"1E", 1000000000000000000, max64, Format::decimal_si, "1E"},
    // every binary suffix
    {"1Ki", 1LL << 10, 1024000, Format::binary_si, "1Ki"},
    {"1Mi", 1LL << 20, (1LL << 20) * 1000, Format::binary_si, "1Mi"},
    {"1Gi", 1LL << 30, (1LL << 30) * 1000, Format::binary_si, "1Gi"},
    {"1Ti", 1LL << 40, (1LL << 40) * 1000, Format::binary_si, "1Ti"},
    {"1Pi", 1LL << 50, (1LL << 50) * 1000, Format::binary_si, "1Pi"},
    {"1Ei", 1LL << 60, max64, Format::binary_si, "1Ei"},
    // exponents
    {"1e3", 1000, 1000000, Format::decimal_exponent, "1e3"},
    {"1E3", 1000, 1000000, Format::decimal_exponent, "1E3"},
    {"12e+6", 12000000, 12000000000, Format::decimal_exponent, "12e+6"},
    {"1e2", 100, 100000, Format::decimal_exponent, "100"},
    {"1e4", 10000, 10000000, Format::decimal_exponent, "10e3"},
    {"1e-3", 1, 1, Format::decimal_exponent, "1e-3"},
    {"5e-1", 1, 500, Format::decimal_exponent, "500e-3"},
    // fractions
    {"1.5", 2, 1500, Format::decimal_si, "1500m"},
    {"1.", 1, 1000, Format::decimal_si, "1."},
    {".5", 1, 500, Format::decimal_si, "500m"},
    {"1.G", 1000000000, 1000000000000, Format::decimal_si, "1.G"},
    {"1.5Gi", 1536LL << 20, (1536LL << 20) * 1000, Format::binary_si, "1536Mi"},
    {"0.5Ki", 512, 512000, Format::binary_si, "512"},
    {"1.2345", 2, 1235, Format::decimal_si, "1234500u"},
    {"100m", 1, 100, Format::decimal_si, "100m"},
    {"-1.5", -2, -1500, Format::decimal_si, "-1500m"},
    {"-1.5Gi", -(1536LL << 20), -(1536LL << 20) * 1000, Format::binary_si, "-1536Mi"},
    // finer than nano: away from zero
    {"0.1n", 1, 1, Format::decimal_si, "1n"},
    {"-0.1n", -1, -1, Format::decimal_si, "-1n"},
    {"1.0000000001", 2, 1001, Format::decimal_si, "1000000001n"},
    {"1.0000000000", 1, 1000, Format::decimal_si, "1"},
    {"1e-400", 1, 1, Format::decimal_exponent, "1e-9"},
    {"0.0000000000000000000000001Ei", 1, 1, Format::decimal_si, "116n"},
    // no binary form below 1024, nor with a fraction; nothing is lost
    {"0.0001Mi", 105, 104858, Format::binary_si, "104857600u"},
    {"0.0000001Ki", 1, 1, Format::decimal_si, "102400n"},
    {"1.0004Ki", 1025, 1024410, Format::binary_si, "1024409600u"},
    {"0.9765625Ki", 1000, 1000000, Format::binary_si, "1k"},
    {"1000Ki", 1024000, 1024000000, Format::binary_si, "1000Ki"},
    {"1024Ki", 1048576, 1048576000, Format::binary_si, "1Mi"},
    {"1025Ki", 1049600, 1049600000, Format::binary_si, "1025Ki"},
    // the canonical suffix is the largest that leaves no fraction
    {"1000", 1000, 1000000, Format::decimal_si, "1k"},
    {"1500000", 1500000, 1500000000, Format::decimal_si, "1500k"},
    {"1000m", 1, 1000, Format::decimal_si, "1"},
    {"1000000n", 1, 1, Format::decimal_si, "1m"},
    {"100E", max64, max64, Format::decimal_si, "100E"},
    {"1000E", max64, max64, Format::decimal_si, "1e21"},
    // the end of int64: binary quantities are capped, decimal ones are not (their int64 is)
    {"8Ei", max64, max64, Format::binary_si, "9223372036854775807"},
    {"7.9999999999999999999999Ei", max64, max64, Format::binary_si, "9223372036854775807"},
    {"-8Ei", -max64, -max64, Format::binary_si, "-9223372036854775807"},
    {"99999999999999999999999999Ki", max64, max64, Format::binary_si, "9223372036854775807"},
    {"18446744073709551616", max64, max64, Format::decimal_si, "18446744073709551616"},
    {"1e28", max64, max64, Format::decimal_exponent, "10e27"},
    {"1e99999999999", max64, max64, Format::decimal_exponent, "100e27"},
    // what upstream takes for canonical already it repeats as it was written, and nothing else
    {"1.250k", 1250, 1250000, Format::decimal_si, "1.250k"},
    {"1.25k", 1250, 1250000, Format::decimal_si, "1250"},
    {"1.000k", 1000, 1000000, Format::decimal_si, "1k"},
    {"0.125", 1, 125, Format::decimal_si, "125m"},
    {"+0100Mi", 100LL << 20, (100LL << 20) * 1000, Format::binary_si, "+0100Mi"},
    {"+0104Mi", 104LL << 20, (104LL << 20) * 1000, Format::binary_si, "104Mi"},
    {"+100.Mi", 100LL << 20, (100LL << 20) * 1000, Format::binary_si, "+100.Mi"},
    {"00000000000000000000000000001", 1, 1000, Format::decimal_si, "1"},
    // upstream's scanner takes these for zero
    {"-", 0, 0, Format::decimal_si, "0"},
    {".", 0, 0, Format::decimal_si, "0"},
    {"k", 0, 0, Format::decimal_si, "0"},
    {"Ti", 0, 0, Format::binary_si, "0"},
};

TEST(ParseQuantity, GivesValueFormatAndCanonicalText) {
    for (const GoodQuantity& row : good) {
        SCOPED_TRACE(row.text);
        const auto quantity = parse_quantity(row.text);
        ASSERT_TRUE(quantity) << quantity.error().text();
        EXPECT_EQ(quantity->value(), row.value);
        EXPECT_EQ(quantity->milli_value(), row.milli);
        EXPECT_EQ(quantity->format(), row.format);
        EXPECT_EQ(to_string(*quantity), row.canonical);
    }
}

TEST(ParseQuantity, WhatIsComputedIsCanonicalAgain) {
    const Quantity sum = parse_quantity("0100Mi").value() + Quantity{};
    EXPECT_EQ(to_string(sum), "100Mi");
    EXPECT_EQ(sum, parse_quantity("100Mi").value());
}

TEST(ParseQuantity, CanonicalTextGivesTheSameQuantityAgain) {
    for (const GoodQuantity& row : good) {
        SCOPED_TRACE(row.text);
        const auto again = parse_quantity(row.canonical);
        ASSERT_TRUE(again) << again.error().text();
        EXPECT_EQ(*again, parse_quantity(row.text).value());
        EXPECT_EQ(to_string(*again), row.canonical);
    }
}

struct BadQuantity {
    std::string text;
    std::string why;
};

TEST(ParseQuantity, RefusesWithUpstreamsText) {
    const std::vector<BadQuantity> bad{
        {"", wrong_format},
        {" 1", wrong_format},
        {"1 ", wrong_format},
        {"aoeu", wrong_format},
        {"1.1.M", wrong_format},
        {"1+1.0M", wrong_format},
        {"0.1am", wrong_format},
        {"1GB", wrong_format},
        {"1,5", wrong_format},
        {"0x10", wrong_format},
        {"1_000", wrong_format},
        {"1e3.5", wrong_format},
        {"10%", wrong_format},
        {"1.5.5", wrong_format},
        {"1\n", wrong_format},
        {"\xc2\xb5", wrong_format},
        {"0.1mi", wrong_suffix},
        {"1i", wrong_suffix},
        {".5i", wrong_suffix},
        {"-3.01i", wrong_suffix},
        {"1e", wrong_suffix},
        {"-3.01e-", wrong_suffix},
        {"1e+", wrong_suffix},
        {"1K", wrong_suffix},
        {"1gi", wrong_format},
        {"1mi", wrong_suffix},
        {"1KiKi", wrong_suffix},
        {"--5", wrong_suffix},
        {"1Ei5", wrong_suffix},
        {"5-", wrong_suffix},
        {"1M3", wrong_suffix},
        {"1e+-5", wrong_format},
        {"Pi", wrong_number},
        {"e-10", wrong_number},
        {".e-10", wrong_number},
        {"-Ei", wrong_number},
        {"1e99999999999999999999", wrong_suffix},
    };
    for (const BadQuantity& row : bad) {
        SCOPED_TRACE(row.text);
        const auto quantity = parse_quantity(row.text);
        ASSERT_FALSE(quantity);
        EXPECT_EQ(quantity.error().why, row.why);
        EXPECT_EQ(quantity.error().kind, ErrorKind::invalid);
    }
}

TEST(ParseQuantity, TakesEveryDigitIntoAccountHoweverMany) {
    const std::string zeros(100'000, '0');
    EXPECT_EQ(to_string(parse_quantity("0." + zeros + "1").value()), "1n");
    EXPECT_EQ(to_string(parse_quantity("1." + zeros + "Gi").value()), "1Gi");
    EXPECT_EQ(parse_quantity("1." + zeros + "1Gi").value().value(), (1LL << 30) + 1);
    EXPECT_EQ(to_string(parse_quantity("1" + zeros + "e-100000").value()), "1");
    EXPECT_EQ(to_string(parse_quantity(zeros + "42").value()), "42");
}

TEST(Quantity, ComparesByAmountWhateverTheFormat) {
    EXPECT_EQ(parse_quantity("1024").value(), parse_quantity("1Ki").value());
    EXPECT_LT(parse_quantity("1000").value(), parse_quantity("1Ki").value());
    EXPECT_LT(parse_quantity("-1").value(), Quantity{});
    EXPECT_EQ(Quantity::of(1536LL << 20, Format::binary_si), parse_quantity("1.5Gi").value());
}

TEST(Quantity, AddingToZeroTakesTheOthersFormat) {
    EXPECT_EQ(to_string(Quantity{} + parse_quantity("1Gi").value()), "1Gi");
    EXPECT_EQ(to_string(parse_quantity("1Gi").value() + parse_quantity("1024").value()), "1048577Ki");
}

TEST(Quantity, SumsSaturate) {
    const Quantity most = parse_quantity("1e29").value();
    EXPECT_GE(most + most, most);
    EXPECT_EQ((most + most).value(), max64);
}

}  // namespace
}  // namespace evictd
