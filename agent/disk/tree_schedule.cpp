// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "disk/tree_schedule.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>

namespace evictd::disk {
namespace {

using Seconds = std::chrono::duration<double>;

// A tree that did not change may begin to. Half of it, and idle trees are looked at less often beside growing ones.
constexpr double least_growth = 4096;
constexpr double inode_size = 4096;
// To open a tree and to hand it from thread to thread, which the clock of the walk does not see.
constexpr double least_cpu = 50e-6;
// An interval that is longer than this is as good as none.
constexpr double longest = 86400;

double cpu_of(const TreeCost& cost) { return std::max(least_cpu, Seconds(cost.cpu).count()); }
double growth_of(const TreeCost& cost) { return std::max(least_growth, cost.growth); }

}  // namespace

double growth_between(const TreeUsage& before, const TreeUsage& after) {
    const double seconds = Seconds(after.began - before.began).count();
    if (seconds <= 0) return 0;
    const auto bytes = static_cast<double>(std::abs(after.used.value - before.used.value));
    const auto inodes = static_cast<double>(std::abs(after.inodes - before.inodes));
    return (bytes + (inodes * inode_size)) / seconds;
}

double weight(const TreeCost& cost) { return std::sqrt(cpu_of(cost) * growth_of(cost)); }

Duration walk_interval(const TreeCost& cost, double sum, const SurveyBudget& budget) {
    const double seconds = std::sqrt(cpu_of(cost) / growth_of(cost)) * sum / std::max(budget.share, 1e-6);
    return std::max(budget.shortest, std::chrono::duration_cast<Duration>(Seconds(std::min(seconds, longest))));
}

}  // namespace evictd::disk
