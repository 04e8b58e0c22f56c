// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The control files of declared trees, v1 and v2: the fallback's usage, and which pods are found where.
#include "kernel/usage_files.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "fakes/fake_clock.hpp"
#include "kernel/cgroup_dirs.hpp"
#include "kernel/pod_cgroup.hpp"
#include "unit/kernel/control_files.hpp"

namespace evictd::kernel {
namespace {

constexpr const char* uid_a = "aaaaaaaa-0000-4000-8000-000000000001";
constexpr const char* uid_b = "bbbbbbbb-0000-4000-8000-000000000002";
const std::string pod_a = std::string("/kubepods/burstable/pod") + uid_a;
const std::string pod_b = std::string("/kubepods/pod") + uid_b;

TEST(FlatValue, FindsAKeyAtTheStartOfALineOnly) {
    const std::string text = "cache 1\ntotal_inactive_file 7\ninactive_file 3\nanon 9";
    EXPECT_EQ(flat_value(text, "cache"), 1);
    EXPECT_EQ(flat_value(text, "inactive_file"), 3);
    EXPECT_EQ(flat_value(text, "total_inactive_file"), 7);
    EXPECT_EQ(flat_value(text, "anon"), 9);
    EXPECT_EQ(flat_value(text, "an"), 0);
    EXPECT_EQ(flat_value(text, "shmem"), 0);
    EXPECT_EQ(flat_value("", "anon"), 0);
    EXPECT_EQ(flat_value("anon x", "anon"), 0);
}

std::map<std::string, std::string> v2_files(const std::string& current, const std::string& max, const std::string& stat,
                                            const std::string& procs = "") {
    return {{"memory.current", current}, {"memory.max", max}, {"memory.stat", stat}, {"cgroup.procs", procs}};
}

TEST(UsageFiles, OnV2TheRootsOwnPagesAreWhatItsPodsLeave) {
    const ControlFiles tree{
        {"/kubepods",
         v2_files("1000\n", "4000\n", "inactive_file 500\nactive_file 60\ninactive_anon 30\nactive_anon 40\n")},
        {"/kubepods/burstable", {}},
        {pod_a, v2_files("600\n", "max\n", "inactive_file 100\nactive_file 20\ninactive_anon 5\nactive_anon 6\n", "")},
        {pod_a + "/container", {{"cgroup.procs", "100\n101\n"}}},
        {pod_b,
         v2_files("300\n", "350\n", "inactive_file 200\nactive_file 30\ninactive_anon 0\nactive_anon 7\n", "9\n")},
    };
    const fakes::FakeClock clock;
    CgroupDirs dirs(tree.v2(), "");
    UsageFiles files(tree.v2(), dirs, clock);
    std::vector<port::CgroupUsage> rows;
    ASSERT_TRUE(files.read(rows, port::Pass::with_processes));
    ASSERT_EQ(rows.size(), 3U);

    EXPECT_EQ(rows[0].id, tree.id("/kubepods"));
    EXPECT_EQ(rows[0].level, 1);
    EXPECT_EQ(rows[0].usage, 1000_B);
    EXPECT_EQ(rows[0].limit, 4000_B);
    EXPECT_EQ(rows[0].inactive_file, 200_B);
    EXPECT_EQ(rows[0].active_file, 10_B);
    EXPECT_EQ(rows[0].anon, 52_B);

    const auto row = [&](const std::string& path) {
        return *std::find_if(rows.begin(), rows.end(), [&](const auto& it) { return it.id == tree.id(path); });
    };
    EXPECT_EQ(row(pod_a).usage, 600_B);
    EXPECT_FALSE(row(pod_a).limit);
    EXPECT_EQ(row(pod_a).anon, 11_B);
    EXPECT_EQ(row(pod_a).processes, 2);
    EXPECT_EQ(row(pod_b).limit, 350_B);
    EXPECT_EQ(row(pod_b).processes, 1);
    EXPECT_EQ(row(pod_b).inactive_file, 200_B);
}

TEST(UsageFiles, APodThatIsThereAndCannotBeReadIsNotGone) {
    auto unreadable = v2_files("300\n", "350\n", "inactive_file 200\n");
    unreadable.erase("memory.stat");  // ENOENT, as for a cgroup that was removed
    unreadable["cgroup.events"] = "populated 1\nfrozen 0\n";
    const ControlFiles tree{{"/kubepods", v2_files("1000\n", "4000\n", "inactive_file 500\n")},
                            {"/kubepods/burstable", {}},
                            {pod_a, unreadable}};
    const fakes::FakeClock clock;
    CgroupDirs dirs(tree.v2(), "");
    UsageFiles files(tree.v2(), dirs, clock);
    std::vector<port::CgroupUsage> rows;
    const auto read = files.read(rows, port::Pass::with_processes);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().kind, ErrorKind::failed) << read.error().text();
}

TEST(UsageFiles, OnV1TheTotalsCountAndTheLargestLimitIsNone) {
    const ControlFiles tree{{"/kubepods",
                             {{"memory.usage_in_bytes", "1000\n"},
                              {"memory.limit_in_bytes", "9223372036854771712\n"},
                              {"memory.stat",
                               "inactive_file 1\ntotal_inactive_file 400\ntotal_active_file 50\n"
                               "inactive_anon 2\ntotal_inactive_anon 60\ntotal_active_anon 7\n"}}}};
    const fakes::FakeClock clock;
    CgroupDirs dirs(tree.v1(), "");
    UsageFiles files(tree.v1(), dirs, clock);
    std::vector<port::CgroupUsage> rows;
    ASSERT_TRUE(files.read(rows, port::Pass::with_processes));
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].usage, 1000_B);
    EXPECT_FALSE(rows[0].limit);
    EXPECT_EQ(rows[0].inactive_file, 400_B);
    EXPECT_EQ(rows[0].active_file, 50_B);
    EXPECT_EQ(rows[0].anon, 67_B);
}

TEST(UsageFiles, APodThatWentAwayIsLeftOutAndARootThatDidIsVanished) {
    const ControlFiles tree{
        {"/kubepods", v2_files("1000\n", "max\n", "inactive_file 5\n")},
        {pod_a, {{"cgroup.procs", ""}}},  // half gone: no memory files
    };
    const fakes::FakeClock clock;
    CgroupDirs dirs(tree.v2(), "");
    UsageFiles files(tree.v2(), dirs, clock);
    std::vector<port::CgroupUsage> rows;
    ASSERT_TRUE(files.read(rows, port::Pass::with_processes));
    EXPECT_EQ(rows.size(), 1U);

    tree.remove("/kubepods");
    const auto gone = files.read(rows, port::Pass::with_processes);
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().kind, ErrorKind::vanished);
    EXPECT_TRUE(rows.empty());
}

TEST(UsageFiles, ProcessesAreCountedOnceASecond) {
    const ControlFiles tree{
        {"/kubepods", v2_files("1000\n", "max\n", "inactive_file 5\n")},
        {pod_b, v2_files("300\n", "max\n", "inactive_file 2\n", "9\n")},
    };
    fakes::FakeClock clock;
    clock.advance(std::chrono::hours(1));
    CgroupDirs dirs(tree.v2(), "");
    UsageFiles files(tree.v2(), dirs, clock);
    std::vector<port::CgroupUsage> rows;
    const auto processes = [&] {
        return files.read(rows, port::Pass::with_processes) && rows.size() == 2 ? rows[1].processes : -1;
    };
    EXPECT_EQ(processes(), 1);
    tree.write(pod_b, "cgroup.procs", "9\n10\n");
    clock.advance(std::chrono::milliseconds(990));
    EXPECT_EQ(processes(), 1);
    clock.advance(std::chrono::milliseconds(10));
    EXPECT_EQ(processes(), 2);
}

TEST(PodCgroup, OnV1APodWithMoreCgroupsThanAreSearchedIsEmptyIfItsPidsCgroupIs) {
    const ControlFiles tree{{pod_a, {{"cgroup.procs", ""}, {"pids.current", "1\n"}}}};
    for (int i = 0; i < 1100; i++) {
        tree.write(pod_a + "/empty" + std::to_string(i), "cgroup.procs", "");
    }
    auto hierarchies = tree.v1();
    const auto blind = CgroupHandle::open(hierarchies, pod_a);
    hierarchies.pids = hierarchies.memory;
    const auto pod = CgroupHandle::open(hierarchies, pod_a);
    ASSERT_TRUE(blind && pod);
    EXPECT_EQ((*pod)->populated(), true) << "not seen is not gone";
    tree.write(pod_a, "pids.current", "0\n");
    EXPECT_EQ((*pod)->populated(), false);
    EXPECT_EQ((*blind)->populated(), true) << "without the pids controller nothing says that it is empty";
}

}  // namespace
}  // namespace evictd::kernel
