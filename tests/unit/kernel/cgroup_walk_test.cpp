// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Subtrees as a hostile pod makes them, on plain directories: any name, any depth, any number.
#include "kernel/cgroup_walk.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fakes/temp_dir.hpp"
#include "sys/fd.hpp"

namespace evictd::kernel {
namespace {

ino_t inode_of(int directory) {
    struct stat status {};
    return fstat(directory, &status) == 0 ? status.st_ino : 0;
}

class CgroupWalk : public testing::Test {
protected:
    CgroupWalk() : top_(*sys::open(directory_.path().string(), O_RDONLY | O_DIRECTORY)) {}

    // `depth` directories, each in the one before. The handle of the deepest.
    static sys::Fd chain(int from, int depth, const std::string& name = "d") {
        sys::Fd at(dup(from));
        for (int level = 0; level < depth; level++) {
            EXPECT_EQ(mkdirat(at.get(), name.c_str(), 0755), 0);
            at = *sys::openat(at.get(), name, O_RDONLY | O_DIRECTORY);
        }
        return at;
    }
    static void remove_chain(int from, int depth, const std::string& name = "d") {
        sys::Fd at(dup(from));
        for (int level = 1; level < depth; level++) at = *sys::openat(at.get(), name, O_RDONLY | O_DIRECTORY);
        for (int level = 0; level < depth; level++) {
            EXPECT_EQ(unlinkat(at.get(), name.c_str(), AT_REMOVEDIR), 0);
            at = *sys::openat(at.get(), "..", O_RDONLY | O_DIRECTORY);
        }
    }
    std::multiset<ino_t> walked() {
        std::multiset<ino_t> found;
        const auto done = walk_cgroups(top_.get(), [&](int directory) {
            found.insert(inode_of(directory));
            return Walk::on;
        });
        EXPECT_TRUE(done) << done.error().text();
        return found;
    }

    fakes::TempDir directory_;
    sys::Fd top_;
};

TEST_F(CgroupWalk, OnlyDotAndDotDotArePassedOver) {
    for (const char* name : {".name", "..name", "...", " ", "plain", "-"}) {
        ASSERT_EQ(mkdirat(top_.get(), name, 0755), 0);
    }
    EXPECT_EQ(walked().size(), 7U);
}

TEST_F(CgroupWalk, HundredsOfLevelsTakeFewDescriptors) {
    constexpr int depth = 300;  // with 64 descriptors
    const auto deepest = inode_of(chain(top_.get(), depth).get());
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    rlimit few = before;
    few.rlim_cur = 64;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    const auto found = walked();
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_EQ(found.size(), std::size_t{depth} + 1);
    EXPECT_TRUE(found.contains(deepest));
    remove_chain(top_.get(), depth);
}

TEST_F(CgroupWalk, WhatLiesBesideADeepChainIsVisitedOnceOnTheWayBack) {
    chain(top_.get(), 40, "a");
    for (const char* side : {"b", "c", "d", "e"}) {
        const auto inner = *sys::openat(top_.get(), "a", O_RDONLY | O_DIRECTORY);
        chain(top_.get(), 40, side);
        chain(inner.get(), 40, side);
    }
    const auto found = walked();
    EXPECT_EQ(found.size(), 1U + 5 * 40 + 4 * 40);
    EXPECT_EQ(std::set<ino_t>(found.begin(), found.end()).size(), found.size());
}

TEST_F(CgroupWalk, StopsWhereTheVisitorEndsIt) {
    chain(top_.get(), 5);
    int visits = 0;
    EXPECT_TRUE(walk_cgroups(top_.get(), [&](int) { return ++visits == 3 ? Walk::stop : Walk::on; }));
    EXPECT_EQ(visits, 3);
}

TEST_F(CgroupWalk, OneThatIsRemovedMeanwhileIsPassedOverAndTheRestIsVisited) {
    for (const char* name : {"a", "b", "c"}) ASSERT_EQ(mkdirat(top_.get(), name, 0755), 0);
    int visits = 0;
    const auto done = walk_cgroups(top_.get(), [&](int) {
        if (visits++ == 0) {
            EXPECT_EQ(unlinkat(top_.get(), "b", AT_REMOVEDIR), 0);
        }
        return Walk::on;
    });
    EXPECT_TRUE(done);
    EXPECT_EQ(visits, 3);
}

TEST_F(CgroupWalk, WithoutDescriptorsTheWalkFailsAndDoesNotSayThatNothingIsThere) {
    chain(top_.get(), 3);
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    rlimit none = before;
    none.rlim_cur = 0;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    const auto done = walk_cgroups(top_.get(), [](int) { return Walk::on; });
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().kind, ErrorKind::vanished);
}

TEST(ReadPids, AnyNumberIsReadToItsEndAndThoseOfOtherNamespacesArePassedOver) {
    const fakes::TempDir directory;
    std::string text;
    std::vector<int> wanted;
    for (int pid = 1; pid <= 300'000; pid++) {
        text += std::to_string(pid) + "\n";
        wanted.push_back(pid);
        if (pid % 1000 == 0) text += "0\n";
    }
    ASSERT_GT(text.size(), std::size_t{1} << 20U);
    directory.write("cgroup.procs", text);
    const auto file = *sys::open((directory.path() / "cgroup.procs").string(), O_RDONLY);
    std::vector<int> read;
    EXPECT_TRUE(read_pids(file.get(), [&](int pid) {
        read.push_back(pid);
        return Walk::on;
    }));
    EXPECT_EQ(read, wanted);
}

}  // namespace
}  // namespace evictd::kernel
