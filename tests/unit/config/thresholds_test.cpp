// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Every rule of ParseThresholdConfig as a row: what is understood, what is dropped, and the kubelet's words for the
// rest.
#include "config/thresholds.hpp"

#include <chrono>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.hpp"
#include "evictd/model/quantity.hpp"

namespace evictd::config {
namespace {

using namespace std::chrono_literals;

std::string shown(const ThresholdValue& value) {
    return value.is_percentage() ? std::to_string(std::get<float>(value.value))
                                 : to_string(std::get<Quantity>(value.value));
}

// "memory.available<100Mi grace 30s reclaim 10Mi", one a threshold.
std::vector<std::string> shown(const Config& config) {
    std::vector<std::string> out;
    for (const Threshold& threshold : config.eviction.thresholds) {
        std::string text = std::string{name(threshold.signal)} + "<" + shown(threshold.value);
        if (!threshold.hard()) text += " grace " + to_string(threshold.grace_period);
        if (threshold.min_reclaim) text += " reclaim " + shown(*threshold.min_reclaim);
        out.push_back(text);
    }
    return out;
}

struct Understood {
    std::string rule;
    std::string yaml;
    std::vector<std::string> thresholds;
};
void PrintTo(const Understood& row, std::ostream* out) { *out << row.yaml; }

class ThresholdRules : public testing::TestWithParam<Understood> {};

TEST_P(ThresholdRules, AreTheKubelets) {
    const ConfigOutcome config = load(GetParam().yaml, "f.yaml");
    ASSERT_TRUE(config) << config.error().front().text();
    EXPECT_THAT(shown(*config), testing::ElementsAreArray(GetParam().thresholds));
}

const std::string no_copies = "enforceNodeAllocatable: []\n";

const std::vector<Understood> understood{
    {"defaults",
     "",
     {"memory.available<100Mi", "nodefs.available<0.100000", "nodefs.inodesFree<0.050000", "imagefs.available<0.150000",
      "imagefs.inodesFree<0.050000", "allocatableMemory.available<100Mi"}},
    {"null_means_defaults",
     no_copies + "evictionHard: null\n",
     {"memory.available<100Mi", "nodefs.available<0.100000", "nodefs.inodesFree<0.050000", "imagefs.available<0.150000",
      "imagefs.inodesFree<0.050000"}},
    {"an_empty_map_means_none", "evictionHard: {}\n", {}},
    {"one_signal_drops_the_other_defaults", no_copies + "evictionHard: {pid.available: 1000}\n", {"pid.available<1k"}},
    {"defaults_can_be_merged",
     no_copies + "mergeDefaultEvictionSettings: true\nevictionHard: {pid.available: 1k, nodefs.available: 0%}\n",
     {"pid.available<1k", "memory.available<100Mi", "nodefs.inodesFree<0.050000", "imagefs.available<0.150000",
      "imagefs.inodesFree<0.050000"}},
    {"every_signal_is_known",
     no_copies + "evictionHard: {memory.available: 1, allocatableMemory.available: 2, nodefs.available: 3, "
                 "nodefs.inodesFree: 4, imagefs.available: 5, imagefs.inodesFree: 6, containerfs.available: 7, "
                 "containerfs.inodesFree: 8, pid.available: 9}\n",
     {"memory.available<1", "allocatableMemory.available<2", "nodefs.available<3", "nodefs.inodesFree<4",
      "imagefs.available<5", "imagefs.inodesFree<6", "containerfs.available<7", "containerfs.inodesFree<8",
      "pid.available<9"}},
    {"0_percent_switches_off", no_copies + "evictionHard: {memory.available: 0%}\n", {}},
    {"100_percent_switches_off", no_copies + "evictionHard: {memory.available: 100%}\n", {}},
    {"0_point_0_percent_passes", no_copies + "evictionHard: {memory.available: 0.0%}\n", {"memory.available<0.000000"}},
    {"100_point_0_percent_passes",
     no_copies + "evictionHard: {memory.available: 100.0%}\n",
     {"memory.available<1.000000"}},
    {"every_percent_sign_is_stripped",
     no_copies + "evictionHard: {memory.available: 5%%}\n",
     {"memory.available<0.050000"}},
    {"a_percentage_may_have_sign_and_exponent",
     no_copies + "evictionHard: {memory.available: +5e-1%, pid.available: 1e-60%}\n",
     {"memory.available<0.005000", "pid.available<0.000000"}},
    {"soft_comes_after_hard_with_its_grace",
     no_copies + "evictionSoft: {memory.available: 1Gi}\nevictionSoftGracePeriod: {memory.available: 1m30s}\n"
                 "evictionHard: {pid.available: 5%}\n",
     {"pid.available<0.050000", "memory.available<1Gi grace 1m30s"}},
    {"soft_with_grace_0_is_hard_and_copied",
     "evictionHard: {}\nevictionSoft: {memory.available: 1Gi}\nevictionSoftGracePeriod: {memory.available: 0s}\n",
     {"memory.available<1Gi", "allocatableMemory.available<1Gi"}},
    {"a_soft_threshold_that_is_switched_off_needs_no_grace",
     no_copies + "evictionHard: {}\nevictionSoft: {memory.available: 0%}\n",
     {}},
    {"min_reclaim_goes_to_hard_and_soft_and_copy",
     "evictionHard: {memory.available: 1Gi}\nevictionSoft: {memory.available: 2Gi}\n"
     "evictionSoftGracePeriod: {memory.available: 1m}\nevictionMinimumReclaim: {memory.available: 10%}\n",
     {"memory.available<1Gi reclaim 0.100000", "memory.available<2Gi grace 1m0s reclaim 0.100000",
      "allocatableMemory.available<1Gi reclaim 0.100000"}},
    {"min_reclaim_goes_to_defaults",
     no_copies + "evictionMinimumReclaim: {memory.available: 0, imagefs.available: 200%}\n",
     {"memory.available<100Mi reclaim 0", "nodefs.available<0.100000", "nodefs.inodesFree<0.050000",
      "imagefs.available<0.150000 reclaim 2.000000", "imagefs.inodesFree<0.050000"}},
    {"grace_and_min_reclaim_without_a_threshold_are_unused",
     no_copies + "evictionHard: {}\nevictionSoftGracePeriod: {pid.available: 1m}\n"
                 "evictionMinimumReclaim: {pid.available: 10}\n",
     {}},
    {"pods_enforced_copies_percentages_too",
     "evictionHard: {memory.available: 5%}\n",
     {"memory.available<0.050000", "allocatableMemory.available<0.050000"}},
    {"a_copy_stands_beside_one_that_was_written",
     "evictionHard: {memory.available: 1Gi, allocatableMemory.available: 2Gi}\n",
     {"memory.available<1Gi", "allocatableMemory.available<2Gi", "allocatableMemory.available<1Gi"}},
    {"without_pods_nothing_is_copied",
     "enforceNodeAllocatable: [none]\nevictionHard: {memory.available: 5%}\n",
     {"memory.available<0.050000"}},
};

INSTANTIATE_TEST_SUITE_P(Rows, ThresholdRules, testing::ValuesIn(understood),
                         [](const auto& row) { return row.param.rule; });

struct RefusedThreshold {
    std::string rule;
    std::string yaml;
    std::string key;
    std::string what;
};
void PrintTo(const RefusedThreshold& row, std::ostream* out) { *out << row.yaml; }

class ThresholdFaults : public testing::TestWithParam<RefusedThreshold> {};

TEST_P(ThresholdFaults, HaveTheKubeletsText) {
    const ConfigOutcome config = load(GetParam().yaml, "f.yaml");
    ASSERT_FALSE(config);
    ASSERT_EQ(config.error().size(), 1) << config.error()[1].text();
    EXPECT_EQ(config.error()[0].key, GetParam().key);
    EXPECT_EQ(config.error()[0].what, GetParam().what);
    EXPECT_EQ(config.error()[0].line, 1);
    EXPECT_NE(config.error()[0].remedy, "");
}

std::string hard(const std::string& value) { return "evictionHard: {memory.available: '" + value + "'}\n"; }
std::string reclaim(const std::string& value) {
    return "evictionMinimumReclaim: {memory.available: '" + value + "'}\n";
}
std::string grace(const std::string& value) { return "evictionSoftGracePeriod: {memory.available: '" + value + "'}\n"; }

const std::string hard_key = "evictionHard.memory.available";
const std::string reclaim_key = "evictionMinimumReclaim.memory.available";
const std::string grace_key = "evictionSoftGracePeriod.memory.available";

const std::vector<RefusedThreshold> refused{
    {"unknown_hard", "evictionHard: {memory.availble: 1Gi}", "evictionHard.memory.availble",
     "unsupported eviction signal memory.availble"},
    {"unknown_soft", "evictionSoft: {swap.available: 1Gi}", "evictionSoft.swap.available",
     "unsupported eviction signal swap.available"},
    {"unknown_grace", "evictionSoftGracePeriod: {x: 1m}", "evictionSoftGracePeriod.x", "unsupported eviction signal x"},
    {"unknown_min_reclaim", "evictionMinimumReclaim: {Memory.available: 1m}", "evictionMinimumReclaim.Memory.available",
     "unsupported eviction signal Memory.available"},
    {"percent_is_no_number", hard("ten%"), hard_key, "strconv.ParseFloat: parsing \"ten\": invalid syntax"},
    {"percent_alone", hard("%"), hard_key, "strconv.ParseFloat: parsing \"\": invalid syntax"},
    {"percent_with_blank", hard("10 %"), hard_key, "strconv.ParseFloat: parsing \"10 \": invalid syntax"},
    {"percent_two_signs", hard("+-1%"), hard_key, "strconv.ParseFloat: parsing \"+-1\": invalid syntax"},
    {"percent_nan", hard("nan%"), hard_key, "strconv.ParseFloat: parsing \"nan\": invalid syntax"},
    {"percent_out_of_range", hard("1e60%"), hard_key, "strconv.ParseFloat: parsing \"1e60\": value out of range"},
    {"percent_negative", hard("-1%"), hard_key, "eviction percentage threshold memory.available must be >= 0%: -1%"},
    {"percent_over_100", hard("100.1%"), hard_key,
     "eviction percentage threshold memory.available must be <= 100%: 100.1%"},
    {"percent_infinite", hard("inf%"), hard_key,
     "eviction percentage threshold memory.available must be <= 100%: inf%"},
    {"quantity_format", hard("100MB"), hard_key, "invalid quantity \"100MB\""},
    {"quantity_empty", hard(""), hard_key, "invalid quantity \"\""},
    {"quantity_suffix", hard("100K"), hard_key, "invalid quantity \"100K\""},
    {"quantity_zero", hard("0"), hard_key, "eviction threshold memory.available must be positive: 0"},
    {"quantity_negative", hard("-1.5Gi"), hard_key, "eviction threshold memory.available must be positive: -1536Mi"},
    {"soft_without_grace", "evictionSoft: {memory.available: 1Gi}", "evictionSoft.memory.available",
     "grace period must be specified for the soft eviction threshold memory.available"},
    {"grace_format", grace("5"), grace_key, "time: missing unit in duration \"5\""},
    {"grace_unit", grace("5d"), grace_key, "time: unknown unit \"d\" in duration \"5d\""},
    {"grace_negative", grace("-1s"), grace_key,
     "invalid eviction grace period specified: -1s, must be a positive value"},
    {"min_reclaim_0_percent", reclaim("0%"), reclaim_key,
     "eviction percentage minimum reclaim memory.available must be positive: 0%"},
    {"min_reclaim_negative_percent", reclaim("-3%"), reclaim_key,
     "eviction percentage minimum reclaim memory.available must be positive: -3%"},
    {"min_reclaim_percent_format", reclaim("x%"), reclaim_key, "strconv.ParseFloat: parsing \"x\": invalid syntax"},
    {"min_reclaim_negative", reclaim("-1"), reclaim_key,
     "negative eviction minimum reclaim specified for memory.available"},
    {"min_reclaim_format", reclaim("x"), reclaim_key, "invalid quantity \"x\""},
    {"value_is_a_list", "evictionHard: {memory.available: [1Gi]}", hard_key, "found a list"},
    {"value_is_missing", "evictionHard: {memory.available: }", hard_key, "found nothing"},
    {"hard_is_a_list", "evictionHard: [memory.available]", "evictionHard", "found a list"},
    {"hard_is_text", "evictionHard: memory.available<1Gi", "evictionHard", "invalid value \"memory.available<1Gi\""},
};

INSTANTIATE_TEST_SUITE_P(Rows, ThresholdFaults, testing::ValuesIn(refused),
                         [](const auto& row) { return row.param.rule; });

TEST(Thresholds, ARefusedGraceIsNotReportedAsMissingToo) {
    const ConfigOutcome config =
        load("evictionSoft: {memory.available: 1Gi}\nevictionSoftGracePeriod: {memory.available: soon}\n", "f.yaml");
    ASSERT_FALSE(config);
    ASSERT_EQ(config.error().size(), 1);
    EXPECT_EQ(config.error()[0].line, 2);
}

TEST(Thresholds, ThePercentageIsTheKubeletsFloat32) {
    const ConfigOutcome config = load(hard("14.5%"), "f.yaml");
    ASSERT_TRUE(config);
    EXPECT_EQ(std::get<float>(config->eviction.thresholds[0].value.value), 14.5F / 100);
}

}  // namespace
}  // namespace evictd::config
