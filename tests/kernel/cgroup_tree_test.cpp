// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Trees made through libcgroup, on whatever layout the running kernel has.
#include "kernel/cgroup_tree.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/cgroup_fixture.hpp"

namespace evictd::kernel_test {
namespace {

using kernel::CgroupTree;

std::string own_name(const char* suffix) { return "/evictd-test-" + std::to_string(getpid()) + "-" + suffix; }

bool exists(const std::string& path) { return std::filesystem::exists(hierarchies().memory + path); }

// Sleeps until it is ended.
class Sleeper {
public:
    Sleeper() : pid_(::fork()) {
        if (pid_ == 0) {
            while (true) ::pause();
        }
    }
    Sleeper(const Sleeper&) = delete;
    Sleeper& operator=(const Sleeper&) = delete;
    ~Sleeper() { end(); }
    void end() {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            ::waitpid(pid_, nullptr, 0);
            pid_ = -1;
        }
    }
    [[nodiscard]] pid_t pid() const { return pid_; }

private:
    pid_t pid_;
};

bool has(const std::string& path, pid_t pid) {
    std::ifstream file(hierarchies().memory + path + "/cgroup.procs");
    for (pid_t found = 0; file >> found;) {
        if (found == pid) return true;
    }
    return false;
}

void attach(const CgroupTree& tree, const std::string& path, pid_t pid) {
    const auto directories = tree.directories(path);
    ASSERT_TRUE(directories) << directories.error().text();
    for (const auto& directory : *directories) {
        std::ofstream(directory + "/cgroup.procs") << pid << std::flush;
    }
    ASSERT_TRUE(has(tree.root() + path, pid));
}

TEST(CgroupTree, MakesLimitsFillsAndRemoves) {
    const std::string root = own_name("tree");
    {
        auto tree = CgroupTree::make(hierarchies(), root);
        ASSERT_TRUE(tree) << tree.error().text();
        for (const char* path : {"/kubepods", "/kubepods/burstable", "/kubepods/burstable/pod1"}) {
            const auto made = tree->create(path);
            ASSERT_TRUE(made) << made.error().text();
        }
        const auto limited = tree->limit_memory("/kubepods", 64_MiB);
        ASSERT_TRUE(limited) << limited.error().text();
        const Sleeper sleeper;
        attach(*tree, "/kubepods/burstable/pod1", sleeper.pid());
        EXPECT_TRUE(has(root + "/kubepods/burstable/pod1", sleeper.pid()));
        EXPECT_TRUE(tree->usage("/kubepods"));
        ASSERT_TRUE(tree->oom_kills());
        EXPECT_EQ(*tree->oom_kills(), 0U);
    }
    EXPECT_FALSE(exists(root));
}

TEST(CgroupTree, IsRemovedAsSoonAsItsLastProcessHasEnded) {
    const std::string root = own_name("last");
    auto tree = CgroupTree::make(hierarchies(), root);
    ASSERT_TRUE(tree);
    ASSERT_TRUE(tree->create("/pod"));
    Sleeper sleeper;
    attach(*tree, "/pod", sleeper.pid());
    sleeper.end();
    const auto removed = tree->remove();
    EXPECT_TRUE(removed) << removed.error().text();
    EXPECT_FALSE(exists(root));
}

TEST(CgroupTree, IsWaitedForWhileAProcessIsInIt) {
    const std::string root = own_name("waited");
    auto tree = CgroupTree::make(hierarchies(), root);
    ASSERT_TRUE(tree);
    ASSERT_TRUE(tree->create("/pod"));
    Sleeper sleeper;
    attach(*tree, "/pod", sleeper.pid());
    std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        sleeper.end();
    });
    const auto removed = tree->remove();
    EXPECT_TRUE(removed) << removed.error().text();
    EXPECT_FALSE(exists(root));
    later.join();
}

TEST(CgroupTree, ALimitOnNoCgroupIsAnError) {
    auto tree = CgroupTree::make(hierarchies(), own_name("nolimit"));
    ASSERT_TRUE(tree);
    EXPECT_FALSE(tree->limit_memory("/not-there", 64_MiB));
}

TEST(Leftovers, OnlyThoseNamedGoAndOnlyWhereNothingRuns) {
    TestCgroups cgroups;
    for (const char* name : {"gone/a/b", "busy/a"}) cgroups.make(name);
    const Sleeper sleeper;
    cgroups.enter("busy/a", sleeper.pid());
    const std::string mine = cgroups.root().substr(1);
    // The test's cgroups are one level down; the tree that may go is the test's own root, whose branch is in use.
    kernel::remove_leftover_trees(hierarchies(), [&](const std::string& name) { return name == mine; });
    EXPECT_TRUE(exists(cgroups.path("busy/a")));
    EXPECT_TRUE(has(cgroups.path("busy/a"), sleeper.pid())) << "a process must never be moved";
    EXPECT_FALSE(exists(cgroups.path("gone")));
    kernel::remove_leftover_trees(hierarchies(), [](const std::string&) { return false; });
    EXPECT_TRUE(exists(cgroups.path("")));
}

}  // namespace
}  // namespace evictd::kernel_test
