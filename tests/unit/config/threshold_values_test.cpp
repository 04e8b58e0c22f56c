// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Values of thresholds as people write them: each form of a percentage, a quantity and a duration, in each map that
// takes it.
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.hpp"
#include "evictd/model/quantity.hpp"

namespace evictd::config {
namespace {

using namespace std::chrono_literals;

std::string quoted(const std::string& value) { return "'" + value + "'"; }
std::string hard_value(const std::string& value) {
    return "enforceNodeAllocatable: []\nevictionHard: {pid.available: " + quoted(value) + "}\n";
}
std::string soft(const std::string& grace) {
    return "evictionHard: {}\nevictionSoft: {pid.available: 1}\nevictionSoftGracePeriod: {pid.available: " +
           quoted(grace) + "}\n";
}
std::string reclaim_value(const std::string& value) {
    return "enforceNodeAllocatable: []\nevictionHard: {pid.available: 1}\nevictionMinimumReclaim: {pid.available: " +
           quoted(value) + "}\n";
}

// The only threshold of a configuration that must be good.
Threshold only(const std::string& yaml) {
    const ConfigOutcome config = load(yaml, "f.yaml");
    if (!config || config->eviction.thresholds.size() != 1) {
        ADD_FAILURE() << yaml << (config ? "" : config.error()[0].text());
        return {};
    }
    return config->eviction.thresholds[0];
}

// The only fault, from the key on.
std::string fault(const std::string& yaml) {
    const ConfigOutcome config = load(yaml, "f.yaml");
    if (config) return "none";
    EXPECT_EQ(config.error().size(), 1U);
    return config.error()[0].what;
}

TEST(ThresholdValues, APercentageIsAFloat32AHundredth) {
    const std::vector<std::pair<std::string, float>> rows{{"10%", 10.0F / 100},
                                                          {"0.0%", 0},
                                                          {"-0%", 0},
                                                          {"0%%", 0},
                                                          {"100.0%", 1},
                                                          {"100%%", 1},
                                                          {"1e2%", 1},
                                                          {"100.000001%", 1},
                                                          {"5%%%", 5.0F / 100},
                                                          {"+5%", 5.0F / 100},
                                                          {".5%", .5F / 100},
                                                          {"0x1p-2%", .25F / 100},
                                                          {"1_0%", 10.0F / 100},
                                                          {"1e-60%", 0},
                                                          {"33.333%", 33.333F / 100},
                                                          {"00%", 0}};
    for (const auto& [text, share] : rows)
        EXPECT_EQ(std::get<float>(only(hard_value(text)).value.value), share) << text;
}

TEST(ThresholdValues, OnlyExactly0And100PercentSwitchOff) {
    for (const std::string text : {"0%", "100%"}) {
        const ConfigOutcome config = load(hard_value(text), "f.yaml");
        ASSERT_TRUE(config);
        EXPECT_TRUE(config->eviction.thresholds.empty()) << text;
    }
}

TEST(ThresholdValues, APercentageOutOfBoundsIsShownAsItWasWritten) {
    const std::string start = "eviction percentage threshold pid.available must be ";
    EXPECT_EQ(fault(hard_value("-1%")), start + ">= 0%: -1%");
    EXPECT_EQ(fault(hard_value("-inf%")), start + ">= 0%: -inf%");
    EXPECT_EQ(fault(hard_value("100.00001%")), start + "<= 100%: 100.00001%");
    EXPECT_EQ(fault(hard_value("1e3%%")), start + "<= 100%: 1e3%%");
    EXPECT_EQ(fault(hard_value("Infinity%")), start + "<= 100%: Infinity%");
}

TEST(ThresholdValues, NothingComparesWithNanSoItIsRefused) {
    EXPECT_EQ(fault(hard_value("NaN%")), "strconv.ParseFloat: parsing \"NaN\": invalid syntax");
    EXPECT_EQ(fault(reclaim_value("nan%")), "strconv.ParseFloat: parsing \"nan\": invalid syntax");
}

TEST(ThresholdValues, AMinimumToReclaimHasNoUpperBoundButAnEnd) {
    EXPECT_EQ(std::get<float>(only(reclaim_value("250%")).min_reclaim->value), 2.5F);
    EXPECT_EQ(std::get<Quantity>(only(reclaim_value("0")).min_reclaim->value), Quantity::of(0));
    EXPECT_EQ(std::get<Quantity>(only(reclaim_value("-0")).min_reclaim->value), Quantity::of(0));
    EXPECT_EQ(fault(reclaim_value("0.0%")), "eviction percentage minimum reclaim pid.available must be positive: 0.0%");
    EXPECT_EQ(fault(reclaim_value("1e-60%")),
              "eviction percentage minimum reclaim pid.available must be positive: 1e-60%");
    EXPECT_EQ(fault(reclaim_value("inf%")), "not a finite percentage: inf%");
    EXPECT_EQ(fault(reclaim_value("-1m")), "negative eviction minimum reclaim specified for pid.available");
}

TEST(ThresholdValues, QuantitiesHaveEverySuffixAndSign) {
    const std::vector<std::pair<std::string, std::int64_t>> rows{{"1", 1},
                                                                 {"+1", 1},
                                                                 {"1n", 1},
                                                                 {"1u", 1},
                                                                 {"1m", 1},
                                                                 {"1500m", 2},
                                                                 {"1k", 1000},
                                                                 {"1M", 1000000},
                                                                 {"1G", 1000000000},
                                                                 {"1T", 1000000000000},
                                                                 {"1P", 1000000000000000},
                                                                 {"1E", 1000000000000000000},
                                                                 {"1Ki", 1024},
                                                                 {"1Mi", 1 << 20},
                                                                 {"1Gi", 1 << 30},
                                                                 {"1Ti", 1LL << 40},
                                                                 {"1Pi", 1LL << 50},
                                                                 {"1Ei", 1LL << 60},
                                                                 {"1e3", 1000},
                                                                 {"1E3", 1000},
                                                                 {"12e-1", 2},
                                                                 {"1.5Gi", 1610612736},
                                                                 {".5Ki", 512},
                                                                 {"007", 7},
                                                                 {"1.", 1},
                                                                 {"99Ei", INT64_MAX}};
    for (const auto& [text, value] : rows)
        EXPECT_EQ(std::get<Quantity>(only(hard_value(text)).value.value).value(), value) << text;
}

TEST(ThresholdValues, AnInvalidQuantityIsNamed) {
    for (const std::string text : {"", " 1Gi", "1Gi ", "1GB", "1 Gi", "ten", "1,5Gi", "0x10", "1_000", "%1", "5 %x",
                                   "1K", "1gi", "1kib", "1e", "1mi", "--1"})
        EXPECT_EQ(fault(hard_value(text)), "invalid quantity \"" + text + "\"");
    EXPECT_EQ(fault(hard_value("0Gi")), "eviction threshold pid.available must be positive: 0");
    EXPECT_EQ(fault(hard_value("-1024Ki")), "eviction threshold pid.available must be positive: -1Mi");
    EXPECT_EQ(fault(hard_value("-1500")), "eviction threshold pid.available must be positive: -1500");
}

TEST(ThresholdValues, GracePeriodsAreGosDurations) {
    const std::vector<std::pair<std::string, Duration>> rows{
        {"1h1.5m", 1h + 90s}, {"+5s", 5s},         {".5s", 500ms}, {"5.s", 5s},
        {"1\xc2\xb5s", 1us},  {"1\xce\xbcs", 1us}, {"1us", 1us},   {"1ns", 1ns},
        {"1ms", 1ms},         {"1s1h", 1h + 1s},   {"0", 0s},      {"-0", 0s},
        {"0s", 0s},           {"-0s", 0s},         {"0.1ns", 0s},  {"2562047h47m16.854775807s", Duration::max()}};
    for (const auto& [text, grace] : rows) EXPECT_EQ(only(soft(text)).grace_period, grace) << text;
}

TEST(ThresholdValues, AGracePeriodThatIsNoneHasGosText) {
    const std::vector<std::pair<std::string, std::string>> rows{
        {"", "time: invalid duration \"\""},
        {" 5s", "time: invalid duration \" 5s\""},
        {"5", "time: missing unit in duration \"5\""},
        {"1.5", "time: missing unit in duration \"1.5\""},
        {"5d", "time: unknown unit \"d\" in duration \"5d\""},
        {"5 s", "time: unknown unit \" s\" in duration \"5 s\""},
        {"5sec", "time: unknown unit \"sec\" in duration \"5sec\""},
        {"soon", "time: invalid duration \"soon\""},
        {".", "time: invalid duration \".\""},
        {"--5s", "time: invalid duration \"--5s\""},
        {"2562048h", "time: invalid duration \"2562048h\""},
        {"99999999999999999999s", "time: invalid duration \"99999999999999999999s\""},
        {"-1ns", "invalid eviction grace period specified: -1ns, must be a positive value"},
        {"-5m", "invalid eviction grace period specified: -5m, must be a positive value"},
        {"5minutesandthensomemoresothatitislongerthaneightycharactersaltogether",
         "time: unknown unit \"minutesandthensomemoresothatitislongerthaneightycharactersaltogether\" in duration "
         "\"5minutesandthensomemoresothatitislongerthaneightycharactersaltogether\""}};
    for (const auto& [text, why] : rows) EXPECT_EQ(fault(soft(text)), why);
}

TEST(ThresholdValues, WhereTheKubeletWantsQuotesABareNumberWillDo) {
    const Threshold bare = only(
        "enforceNodeAllocatable: []\nevictionHard: {pid.available: 100}\nevictionMinimumReclaim: {pid.available: 5}\n");
    EXPECT_EQ(std::get<Quantity>(bare.value.value), Quantity::of(100));
    EXPECT_EQ(std::get<Quantity>(bare.min_reclaim->value), Quantity::of(5));
}

TEST(ThresholdValues, AnEmptyMapIsNoThresholdsAndNullIsTheDefaults) {
    const auto count = [](const std::string& yaml) { return load(yaml, "f.yaml").value().eviction.thresholds.size(); };
    EXPECT_EQ(count("evictionHard: {}"), 0U);
    EXPECT_EQ(count("evictionHard: {}\nmergeDefaultEvictionSettings: true"), 6U);
    for (const std::string null : {"", "null", "~", "Null"}) EXPECT_EQ(count("evictionHard: " + null), 6U) << null;
    EXPECT_EQ(count("enforceNodeAllocatable: null"), 6U);
    EXPECT_EQ(count("enforceNodeAllocatable: []"), 5U);
    EXPECT_EQ(count("evictionSoft: {}\nevictionSoftGracePeriod: null\nevictionMinimumReclaim: {}"), 6U);
}

TEST(ThresholdValues, MergedDefaultsFillWhatIsNotNamed) {
    const ConfigOutcome config = load(
        "mergeDefaultEvictionSettings: true\nenforceNodeAllocatable: []\n"
        "evictionHard: {imagefs.available: 20%, nodefs.inodesFree: 0%, pid.available: 9}\n",
        "f.yaml");
    ASSERT_TRUE(config);
    std::vector<std::string> signals;
    for (const Threshold& threshold : config->eviction.thresholds) signals.emplace_back(name(threshold.signal));
    EXPECT_THAT(signals, testing::ElementsAre("imagefs.available", "pid.available", "memory.available",
                                              "nodefs.available", "imagefs.inodesFree"));
    EXPECT_EQ(std::get<float>(config->eviction.thresholds[0].value.value), 20.0F / 100);
}

TEST(ThresholdValues, AllocatableNodeFsOfOlderKubeletsIsTakenAndNeverDefaulted) {
    const Threshold threshold = only("enforceNodeAllocatable: []\nevictionHard: {allocatableNodeFs.available: 10%}\n");
    EXPECT_EQ(threshold.signal, Signal::allocatable_nodefs_available);
    const auto defaults = load("", "f.yaml").value().eviction.thresholds;
    for (const Threshold& each : defaults) EXPECT_NE(each.signal, Signal::allocatable_nodefs_available);
}

}  // namespace
}  // namespace evictd::config
