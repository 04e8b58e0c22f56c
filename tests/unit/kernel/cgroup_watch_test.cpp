// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Cgroups that come and go, over plain directories: inotify treats them alike, and an inode number is the id.
#include "kernel/cgroup_watch.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>

#include "fakes/fake_clock.hpp"
#include "unit/kernel/control_files.hpp"

namespace evictd::kernel {
namespace {

constexpr const char* watched_uid = "aaaaaaaa-0000-4000-8000-000000000001";
const std::string watched_pod = std::string("/pod") + watched_uid;

struct Watches : testing::Test {
    CgroupWatch watch_roots(std::vector<std::string> roots) { return {tree.v2().memory, std::move(roots), clock}; }
    void make(const std::string& path) const { std::filesystem::create_directories(tree.v2().memory + path); }
    [[nodiscard]] std::optional<port::PodsRoot> root(const std::string& path) const {
        return port::PodsRoot{path, tree.id(path), 1};
    }
    // "+/kubepods/pod1 -/kubepods/pod1": what is told, in its order.
    static std::string told(CgroupWatch& watch) {
        std::string all;
        watch.drain([&](const KernelEvent& event) {
            const auto* life = std::get_if<CgroupLife>(&event.kind);
            all += all.empty() ? "" : " ";
            all += life == nullptr ? "lost" : (life->change == CgroupChange::made ? "+" : "-") + life->path;
        });
        return all;
    }

    ControlFiles tree{{"/kubepods/burstable", {}}, {"/other", {}}};
    fakes::FakeClock clock;
};

TEST_F(Watches, PodsOfEveryClassAreReportedWhenMadeAndWhenRemoved) {
    auto watch = watch_roots({"/kubepods"});
    ASSERT_TRUE(watch.works());
    watch.follow(root("/kubepods"));
    make("/kubepods" + watched_pod);
    make("/kubepods/burstable" + watched_pod);
    const CgroupId id = tree.id("/kubepods/burstable" + watched_pod);
    std::vector<CgroupId> ids;
    watch.drain([&](const KernelEvent& event) { ids.push_back(std::get<CgroupLife>(event.kind).cgroup); });
    EXPECT_EQ(ids, (std::vector{tree.id("/kubepods" + watched_pod), id}));
    tree.remove("/kubepods/burstable" + watched_pod);
    watch.drain([&](const KernelEvent& event) {
        EXPECT_EQ(std::get<CgroupLife>(event.kind).change, CgroupChange::removed);
        EXPECT_EQ(std::get<CgroupLife>(event.kind).cgroup, id);
    });
}

// Whoever looks for a root on each event must not be woken by its own looking.
TEST_F(Watches, ToLookForTheRootAgainMakesNoEvent) {
    auto watch = watch_roots({"/kubelet/kubepods"});
    watch.follow(std::nullopt);
    make("/kubelet");
    EXPECT_EQ(told(watch), "+/kubelet");
    watch.follow(std::nullopt);
    pollfd readable{.fd = watch.fd(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&readable, 1, 0), 0);
    make("/kubelet/kubepods");
    EXPECT_EQ(told(watch), "+/kubelet/kubepods");
}

TEST_F(Watches, AnExistingOneIsReportedOnlyWhenItGoes) {
    make("/kubepods/burstable" + watched_pod);
    auto watch = watch_roots({"/kubepods"});
    watch.follow(root("/kubepods"));
    EXPECT_EQ(told(watch), "");
    tree.remove("/kubepods/burstable" + watched_pod);
    EXPECT_EQ(told(watch), "-/kubepods/burstable" + watched_pod);
}

TEST_F(Watches, AClassMadeLaterIsWatchedAndItsContentReported) {
    auto watch = watch_roots({"/kubepods"});
    watch.follow(root("/kubepods"));
    make("/kubepods/besteffort" + watched_pod);
    EXPECT_EQ(told(watch), "+/kubepods/besteffort +/kubepods/besteffort" + watched_pod);
    tree.remove("/kubepods/besteffort" + watched_pod);
    EXPECT_EQ(told(watch), "-/kubepods/besteffort" + watched_pod);
}

TEST_F(Watches, WhatContainersMakeAndWhatLiesElsewhereIsNotReported) {
    make("/kubepods/burstable" + watched_pod);
    auto watch = watch_roots({"/kubepods"});
    watch.follow(root("/kubepods"));
    make("/kubepods/burstable" + watched_pod + "/container/service");
    make("/other/pod");
    make("/another");
    EXPECT_EQ(told(watch), "");
}

TEST_F(Watches, TheRootsRemovalIsReported) {
    auto watch = watch_roots({"/kubepods"});
    const auto followed = root("/kubepods");
    watch.follow(followed);
    tree.remove("/kubepods");
    CgroupId last;
    watch.drain([&](const KernelEvent& event) { last = std::get<CgroupLife>(event.kind).cgroup; });
    EXPECT_EQ(last, followed->id);
}

TEST_F(Watches, WithoutARootWhatIsMadeOnTheWayToItIsReported) {
    auto watch = watch_roots({"/kubelet/deep/kubepods", "/kubepods.slice"});
    watch.follow(std::nullopt);
    make("/kubelet");
    EXPECT_EQ(told(watch), "+/kubelet");
    make("/kubelet/deep");
    EXPECT_EQ(told(watch), "+/kubelet/deep");
    make("/kubelet/deep/kubepods");
    make("/kubepods.slice");
    EXPECT_EQ(told(watch), "+/kubelet/deep/kubepods +/kubepods.slice");
}

TEST_F(Watches, WithoutInotifyNothingIsReportedAndThatIsKnown) {
    (void)watch_roots({"/kubepods"});  // UBSan needs a pipe the first time that it meets a type
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    rlimit none = before;
    none.rlim_cur = 0;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    auto watch = watch_roots({"/kubepods"});
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_FALSE(watch.works());
    watch.follow(root("/kubepods"));
    make("/kubepods" + watched_pod);
    EXPECT_EQ(told(watch), "");
    for (const auto& row : watch.rows()) {
        EXPECT_TRUE(row.fallback);
        EXPECT_EQ(row.chosen, "listing at each look");
        EXPECT_NE(row.detail.find("max_user_instances"), std::string::npos) << row.detail;
    }
}

}  // namespace
}  // namespace evictd::kernel
