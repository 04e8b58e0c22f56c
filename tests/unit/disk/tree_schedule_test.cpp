// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "disk/tree_schedule.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace evictd::disk {
namespace {

using namespace std::chrono_literals;
using Seconds = std::chrono::duration<double>;

double share_of(const std::vector<TreeCost>& trees, const SurveyBudget& budget) {
    double sum = 0;
    for (const auto& tree : trees) sum += weight(tree);
    double share = 0;
    for (const auto& tree : trees)
        share += Seconds(tree.cpu).count() / Seconds(walk_interval(tree, sum, budget)).count();
    return share;
}

TEST(TreeSchedule, AllWalksTogetherKeepWithinTheBudget) {
    const SurveyBudget budget{.share = 0.004, .shortest = 1ms};
    std::vector<TreeCost> trees(110, {.cpu = 9ms});
    EXPECT_NEAR(share_of(trees, budget), 0.004, 1e-6);
    trees.push_back({.cpu = 4s});
    trees.push_back({.cpu = 500ms, .growth = 1e8});
    for (int i = 0; i < 300; ++i) trees.push_back({.cpu = 60us, .growth = i * 1e5});
    EXPECT_NEAR(share_of(trees, budget), 0.004, 1e-4);  // no interval is longer than a day
}

TEST(TreeSchedule, CheapTreesAndGrowingTreesComeMoreOften) {
    constexpr double sum = 10;
    const SurveyBudget budget{.share = 0.004, .shortest = 1ms};
    const auto plain = walk_interval({.cpu = 100ms}, sum, budget);
    EXPECT_LT(walk_interval({.cpu = 1ms}, sum, budget), plain);
    EXPECT_LT(walk_interval({.cpu = 100ms, .growth = 1e7}, sum, budget), plain);
    EXPECT_EQ(walk_interval({.cpu = 100ms, .growth = 10}, sum, budget), plain);
}

TEST(TreeSchedule, NeverMoreOftenThanTheShortestInterval) {
    EXPECT_EQ(walk_interval({.cpu = 100us, .growth = 1e12}, 0.1, {.share = 1, .shortest = 10s}), 10s);
}

TEST(TreeSchedule, AbsurdFiguresGiveAnInterval) {
    EXPECT_LE(walk_interval({.cpu = 24h, .growth = 0}, 1e300, {.share = 0}), 24h);
    EXPECT_GE(walk_interval({.cpu = -1s, .growth = -1}, 0, {}), 10s);
}

TEST(TreeSchedule, GrowthCountsBothWaysAndInodesToo) {
    TreeUsage before{.used = 1_MiB, .inodes = 10, .began = MonotonicTime{10s}};
    TreeUsage after{.used = 3_MiB, .inodes = 10, .began = MonotonicTime{12s}};
    EXPECT_DOUBLE_EQ(growth_between(before, after), 1 << 20);
    std::swap(before.used, after.used);
    EXPECT_DOUBLE_EQ(growth_between(before, after), 1 << 20);
    after.used = before.used;
    after.inodes = 30;
    EXPECT_DOUBLE_EQ(growth_between(before, after), 10 * 4096);
    after.began = before.began;
    EXPECT_DOUBLE_EQ(growth_between(before, after), 0);
}

}  // namespace
}  // namespace evictd::disk
