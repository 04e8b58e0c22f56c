// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "observe/victims.hpp"

#include <gtest/gtest.h>

#include "fakes/fake_cgroups.hpp"

namespace evictd::observe {
namespace {

constexpr CgroupId victim_id{2};

std::shared_ptr<fakes::FakePodCgroup> made() {
    return std::make_shared<fakes::FakePodCgroup>(victim_id, "/kubepods/poda");
}

std::vector<port::CgroupUsage> rows() {
    return {{.id = {1}, .level = 1, .usage = 500_MiB},
            {.id = victim_id, .level = 2, .usage = 300_MiB, .inactive_file = 10_MiB, .anon = 5_MiB},
            {.id = {3}, .level = 3, .usage = 250_MiB, .inactive_file = 20_MiB, .active_file = 30_MiB, .anon = 200_MiB},
            {.id = {4}, .level = 2, .usage = 100_MiB, .inactive_file = 50_MiB}};
}

TEST(ObservedVictim, HoldsTheWorkingSetOfAllBelowItsCgroup) {
    const auto cgroup = made();
    cgroup->is_populated = false;
    const auto seen = observed_victim({{"a"}, victim_id, cgroup}, rows());
    EXPECT_EQ(seen.populated, false);
    EXPECT_EQ(seen.held, 270_MiB);
}

TEST(ObservedVictim, WithoutARowIsReadFromItsCgroup) {
    const auto cgroup = made();
    EXPECT_EQ(observed_victim({{"a"}, victim_id, cgroup}, {}).populated, true);
    EXPECT_FALSE(observed_victim({{"a"}, victim_id, cgroup}, {}).held);
    cgroup->removed = true;
    EXPECT_EQ(observed_victim({{"a"}, victim_id, cgroup}, {}).populated, false);
    EXPECT_FALSE(observed_victim({{"a"}, victim_id, cgroup}, {}).held) << "the pass failed";
    EXPECT_FALSE(observed_victim({{"a"}, {9}, cgroup}, rows()).held) << "its kernel memory is the parent's now";
}

TEST(ObservedVictim, ThatIsRemovedHoldsWhatItsRowNoLongerReports) {
    const auto cgroup = made();
    cgroup->removed = true;
    auto removed = rows();
    removed[1].dying = true;
    const auto seen = observed_victim({{"a"}, victim_id, cgroup}, removed);
    EXPECT_EQ(seen.populated, false);
    EXPECT_FALSE(seen.held);
}

TEST(ObservedVictim, WhoseCgroupWasNotFoundIsUnknown) {
    const auto seen = observed_victim({{"a"}, {9}, nullptr}, rows());
    EXPECT_FALSE(seen.populated);
    EXPECT_FALSE(seen.held);
}

TEST(HeldBy, IsReadFromTheRowsWhereTheCgroupWasRemoved) {
    const auto cgroup = made();
    cgroup->held.total = 7_MiB;
    EXPECT_EQ(held_by({{"a"}, victim_id, cgroup}, rows())->total, 7_MiB);
    cgroup->removed = true;
    const auto held = held_by({{"a"}, victim_id, cgroup}, rows());
    ASSERT_TRUE(held);
    EXPECT_EQ(held->total, 300_MiB);
    EXPECT_EQ(held->shmem, 205_MiB);
    EXPECT_EQ(held->file, 60_MiB);
    EXPECT_EQ(held->kernel, 35_MiB);
    EXPECT_FALSE(held_by({{"a"}, {9}, cgroup}, rows()));
}

}  // namespace
}  // namespace evictd::observe
