// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Cgroups that are left of a pod, on whatever layout the running kernel has: what is empty goes, whatever is below it,
// and nothing goes where a process is.
#include "kernel/cgroup_remains.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/cgroup_fixture.hpp"
#include "kernel/empty_cgroups.hpp"
#include "kernel/hierarchies.hpp"
#include "sys/clock.hpp"
#include "sys/fd.hpp"

namespace evictd::kernel_test {
namespace {

namespace fs = std::filesystem;
using kernel::CgroupRemains;

const PodUid pod{"0a1b2c3d-0000-4000-8000-00000000000a"};
const std::string of_cgroupfs = "/kubepods/burstable/pod" + pod.value;
const std::string of_systemd =
    "/kubepods/kubepods-burstable.slice/kubepods-burstable-pod0a1b2c3d_0000_4000_8000_00000000000a.slice";

class CgroupRemainsTest : public testing::Test {
protected:
    CgroupRemainsTest() {
        const auto found = kernel::hierarchy_mounts(hierarchies());
        EXPECT_TRUE(found);
        if (found) mounts = *found;
    }
    ~CgroupRemainsTest() override {
        end();
        // Only what is empty can be removed, the deepest first.
        for (const auto& mount : mounts) {
            std::vector<fs::path> all{mount + root};
            std::error_code ignored;
            for (const auto& entry : fs::recursive_directory_iterator(mount + root, ignored)) {
                if (entry.is_directory()) all.push_back(entry.path());
            }
            for (auto one = all.rbegin(); one != all.rend(); ++one) ::rmdir(one->c_str());
        }
    }
    void make(const std::string& path) const {
        for (const auto& mount : mounts) fs::create_directories(mount + root + path);
    }
    [[nodiscard]] std::size_t places_of(const std::string& path) const {
        return static_cast<std::size_t>(std::count_if(
            mounts.begin(), mounts.end(), [&](const auto& mount) { return fs::exists(mount + root + path); }));
    }
    // In one hierarchy alone.
    void enter(const std::string& mount, const std::string& path) {
        child = ::fork();
        if (child == 0) {
            for (;;) ::pause();
        }
        std::ofstream(mount + root + path + "/cgroup.procs") << child;
    }
    void end() {
        if (child <= 0) return;
        (void)::kill(child, SIGKILL);
        (void)::waitpid(child, nullptr, 0);
        child = 0;
    }
    [[nodiscard]] CgroupRemains remains(Duration longest = CgroupRemains::longest_removal) const {
        return {mounts, {root + "/kubepods"}, longest};
    }

    std::string root = "/evictd-test-" + std::to_string(::getpid()) + "-remains";
    std::vector<std::string> mounts;
    pid_t child = 0;
};

TEST_F(CgroupRemainsTest, AnEmptyOneGoesWithAllBelowItInEachHierarchyAndNothingBesideIt) {
    const std::string other = "/kubepods/burstable/pod0a1b2c3d-0000-4000-8000-00000000000b";
    for (const auto& path : {of_cgroupfs, of_systemd}) {
        std::string deep = path + "/container";
        for (int i = 0; i < 40; i++) deep += "/d";
        make(deep);
        for (int i = 0; i < 20; i++) make(path + "/wide-" + std::to_string(i) + "/x");
        make(other);
        EXPECT_EQ(remains().life(pod, root + path).value_or("?"), "");
        ASSERT_EQ(places_of(path), mounts.size());
        const auto done = remains().remove(pod, root + path);
        EXPECT_TRUE(done) << done.error().text();
        EXPECT_EQ(places_of(path), 0U);
        EXPECT_EQ(places_of(other), mounts.size());
        const auto again = remains().remove(pod, root + path);
        ASSERT_FALSE(again);
        EXPECT_EQ(again.error().kind, ErrorKind::vanished);
    }
}

TEST_F(CgroupRemainsTest, NothingGoesWhileAProcessIsBelowItInAnyHierarchy) {
    make(of_cgroupfs + "/container/deep");
    make(of_cgroupfs + "/empty");
    for (const auto& mount : mounts) {
        if (mount.ends_with("cpuset")) continue;  // a new one takes no process before it has a CPU
        enter(mount, of_cgroupfs + "/container/deep");
        EXPECT_NE(remains().life(pod, root + of_cgroupfs).value_or(""), "") << mount;
        const auto done = remains().remove(pod, root + of_cgroupfs);
        ASSERT_FALSE(done) << mount;
        EXPECT_EQ(done.error().kind, ErrorKind::failed);
        EXPECT_EQ(places_of(of_cgroupfs + "/empty"), mounts.size()) << mount;
        EXPECT_EQ(::kill(child, 0), 0);
        end();
    }
    EXPECT_TRUE(eventually([&] { return remains().remove(pod, root + of_cgroupfs).has_value(); }));
    EXPECT_EQ(places_of(of_cgroupfs), 0U);
}

// Without a look, as if the process had come between that and the removal.
TEST_F(CgroupRemainsTest, OneThatGetsAProcessMeanwhileStaysAndSoDoesTheProcess) {
    make(of_cgroupfs + "/container");
    enter(mounts.back(), of_cgroupfs + "/container");
    const sys::SystemClock clock;
    const auto parent = sys::open(mounts.back() + root + "/kubepods/burstable", O_RDONLY | O_DIRECTORY);
    ASSERT_TRUE(parent);
    const auto remove = [&] {
        return kernel::remove_empty_cgroups(parent->get(), "pod" + pod.value, clock,
                                            clock.monotonic() + std::chrono::seconds(5));
    };
    EXPECT_EQ(remove(), EBUSY);
    EXPECT_EQ(::kill(child, 0), 0);
    EXPECT_TRUE(fs::exists(mounts.back() + root + of_cgroupfs + "/container"));
    end();
    EXPECT_TRUE(eventually([&] { return remove() == 0; }));
    EXPECT_FALSE(fs::exists(mounts.back() + root + of_cgroupfs));
}

TEST_F(CgroupRemainsTest, WhatIsNotThatPodsOwnStays) {
    make(of_cgroupfs + "/pod0a1b2c3d-0000-4000-8000-00000000000a");
    make("/elsewhere/pod" + pod.value);
    const std::vector<std::string> wrong{
        root + "/kubepods",
        root + "/kubepods/burstable",
        root + of_cgroupfs + "/pod" + pod.value,  // one that a pod made
        root + "/elsewhere/pod" + pod.value,
        root + "/kubepods/../elsewhere/pod" + pod.value,
        root + "/kubepods/./pod" + pod.value,
        root + "/kubepods//pod" + pod.value,
        root + of_cgroupfs + "/",
        "/pod" + pod.value,
        "",
    };
    for (const auto& path : wrong) {
        const auto done = remains().remove(pod, path);
        ASSERT_FALSE(done) << path;
        EXPECT_EQ(done.error().kind, ErrorKind::invalid) << path;
    }
    const auto other = remains().remove(PodUid{"0a1b2c3d-0000-4000-8000-00000000000c"}, root + of_cgroupfs);
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().kind, ErrorKind::invalid);
    EXPECT_EQ(places_of(of_cgroupfs), mounts.size());
    EXPECT_EQ(places_of("/elsewhere/pod" + pod.value), mounts.size());
}

TEST_F(CgroupRemainsTest, WhatIsLeftAtTheDeadlineGoesWithTheNextCall) {
    make(of_cgroupfs + "/container");
    auto removed = remains(Duration::zero()).remove(pod, root + of_cgroupfs);
    ASSERT_FALSE(removed);
    EXPECT_NE(removed.error().kind, ErrorKind::invalid);
    EXPECT_TRUE(remains().remove(pod, root + of_cgroupfs));
}

}  // namespace
}  // namespace evictd::kernel_test
