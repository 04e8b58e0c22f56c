// SPDX-License-Identifier: Apache-2.0
// What the tracepoints tell: OOM kills, limits that are hit, cgroups that come and go, and events that were lost.
#include <csignal>
#include <set>

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/bpf_fixture.hpp"

namespace evictd::kernel_test {
namespace {

using Events = WithBpf;

// Reads `file` again and again, until the test is gone: its cgroup stays at its limit.
PodProcess::Body keep_reading(const ColdFile& file) {
    return [&file](const Line& line) {
        line.hear();
        for (;;) read_once(file.path(), 128_MiB);
    };
}

TEST_F(Events, AnOomKillInACgroupNamesTheVictimAndWhoseLimitItWas) {
    make_pods_root(std::nullopt);
    cgroups_.make("kubepods/podfull/container");
    cgroups_.limit_memory("kubepods/podfull", 24_MiB);
    if (hierarchies().v2) cgroups_.write("kubepods/podfull", "memory.swap.max", "0");
    PodProcess pod(cgroups_, "kubepods/podfull/container", [](const Line& line) {
        ::prctl(PR_SET_NAME, "evictd-victim");
        line.hear();
        touch(96_MiB);
    });
    const auto begin = now();
    pod.say('g');
    const auto event = wait_for<OomKill>([&](const OomKill& kill) { return kill.pid == pod.pid(); });
    ASSERT_TRUE(event);
    EXPECT_GE(event->time, begin);
    const auto& kill = std::get<OomKill>(event->kind);
    EXPECT_EQ(kill.comm, "evictd-victim");
    EXPECT_EQ(kill.cgroup, cgroups_.id("kubepods/podfull/container"));
    EXPECT_TRUE(kill.memcg);
    EXPECT_EQ(kill.limiting_cgroup, cgroups_.id("kubepods/podfull"));
    EXPECT_EQ(kill.limit, 24_MiB);
    EXPECT_GT(kill.usage, 23_MiB);
    EXPECT_TRUE(pod.killed_by(SIGKILL));
}

TEST_F(Events, ACgroupAtItsLimitIsNamedAndNotTooOften) {
    const ColdFile file(64_MiB);
    make_pods_root(std::nullopt);
    cgroups_.make("kubepods/podreader/container");
    cgroups_.limit_memory("kubepods/podreader", 24_MiB);
    PodProcess pod(cgroups_, "kubepods/podreader/container", keep_reading(file));
    pod.say('g');
    const auto wanted = cgroups_.id("kubepods/podreader");
    std::vector<MonotonicTime> times;
    while (times.size() < 4) {
        const auto event = wait_for<MemcgBreach>([&](const MemcgBreach& breach) { return breach.cgroup == wanted; });
        ASSERT_TRUE(event) << "after " << times.size();
        const auto& breach = std::get<MemcgBreach>(event->kind);
        EXPECT_EQ(breach.limit_kind, MemcgLimit::max);
        EXPECT_EQ(breach.limit, 24_MiB);
        EXPECT_GE(breach.usage, 22_MiB);  // a huge page's worth below it
        times.push_back(event->time);
    }
    // A tenth less than promised: two CPUs may see the last report's time before it is written.
    for (std::size_t i = 1; i < times.size(); i++) {
        EXPECT_GE(times[i] - times[i - 1], std::chrono::milliseconds(90)) << "the same cgroup was reported too soon";
    }
}

TEST_F(Events, ACgroupAboveItsHighMarkIsToldApartFromOneAtItsLimit) {
    if (!hierarchies().v2) GTEST_SKIP() << "cgroup v1 has no memory.high";
    const ColdFile file(64_MiB);
    make_pods_root(std::nullopt);
    cgroups_.make("kubepods/podreader/container");
    ASSERT_TRUE(cgroups_.write("kubepods/podreader", "memory.high", std::to_string((24_MiB).value)));
    PodProcess pod(cgroups_, "kubepods/podreader/container", keep_reading(file));
    pod.say('g');
    const auto wanted = cgroups_.id("kubepods/podreader");
    const auto event = wait_for<MemcgBreach>([&](const MemcgBreach& breach) { return breach.cgroup == wanted; });
    ASSERT_TRUE(event);
    EXPECT_EQ(std::get<MemcgBreach>(event->kind).limit_kind, MemcgLimit::high);
    EXPECT_EQ(std::get<MemcgBreach>(event->kind).limit, 24_MiB);
}

TEST_F(Events, ACgroupsLifeIsToldInOrderWithItsIdAndPath) {
    make_pods_root(std::nullopt);
    cgroups_.make("kubepods/podshort");
    const auto id = cgroups_.id("kubepods/podshort");
    {
        PodProcess pod(cgroups_, "kubepods/podshort");
        ::kill(pod.pid(), SIGKILL);
        EXPECT_TRUE(pod.killed_by(SIGKILL));
    }
    cgroups_.remove("kubepods/podshort");
    MonotonicTime last;
    for (const auto change :
         {CgroupChange::made, CgroupChange::populated, CgroupChange::emptied, CgroupChange::removed}) {
        const auto event = wait_for<CgroupLife>([&](const CgroupLife& life) { return life.cgroup == id; });
        ASSERT_TRUE(event) << static_cast<int>(change);
        const auto& life = std::get<CgroupLife>(event->kind);
        EXPECT_EQ(life.change, change);
        EXPECT_EQ(life.path, cgroups_.path("kubepods/podshort"));
        EXPECT_GE(event->time, last);
        last = event->time;
    }
}

TEST_F(Events, NothingIsToldOfCgroupsOutsideThePodsRoot) {
    make_pods_root(std::nullopt);
    cgroups_.make("elsewhere/podother");
    TestCgroups foreign;
    foreign.make("kubepods/podforeign");
    cgroups_.make("kubepods/podmine");  // the last, so that what came before it has come
    const auto mine = cgroups_.id("kubepods/podmine");
    EXPECT_TRUE(wait_for_any(
        [&](const KernelEvent& event) {
            const auto* life = std::get_if<CgroupLife>(&event.kind);
            if (life == nullptr) return false;
            EXPECT_EQ(life->cgroup, mine) << life->path;
            return life->cgroup == mine;
        },
        patience));
}

TEST_F(Events, NothingIsToldOfWhatIsDeeperThanPodsAre) {
    make_pods_root(std::nullopt);
    cgroups_.make("kubepods/burstable/podouter/container/service");
    cgroups_.remove("kubepods/burstable/podouter/container/service");
    cgroups_.make("kubepods/podlast");  // so that what came before it has come
    std::set<std::string> told;
    ASSERT_TRUE(wait_for_any(
        [&](const KernelEvent& event) {
            const auto* life = std::get_if<CgroupLife>(&event.kind);
            if (life != nullptr) told.insert(life->path);
            return told.contains(cgroups_.path("kubepods/podlast"));
        },
        patience));
    EXPECT_EQ(told,
              (std::set<std::string>{cgroups_.path("kubepods/burstable"), cgroups_.path("kubepods/burstable/podouter"),
                                     cgroups_.path("kubepods/podlast")}));
}

TEST_F(Events, WhileThereIsNoPodsRootWhatCouldBeItIsReportedWhenMade) {
    ASSERT_TRUE(events_->follow(std::nullopt));
    (void)pending();
    cgroups_.make("kubepods/burstable/podlater/container/deep");
    std::set<std::string> made;
    ASSERT_TRUE(wait_for_any(
        [&](const KernelEvent& event) {
            const auto* life = std::get_if<CgroupLife>(&event.kind);
            if (life != nullptr) made.insert(life->path);
            return made.contains(cgroups_.path("kubepods/burstable/podlater"));
        },
        patience));
    EXPECT_TRUE(made.contains(cgroups_.path("kubepods")));
    for (const auto& event : pending()) {
        const auto* life = std::get_if<CgroupLife>(&event.kind);
        EXPECT_FALSE(life != nullptr && life->path.ends_with("/deep")) << "too deep to be the pods' root";
    }
}

TEST_F(Events, WhatFindsTheRingFullIsCountedAndToldOnceWithItsCause) {
    make_pods_root(std::nullopt);
    const std::string parent = hierarchies().memory + cgroups_.path("kubepods");
    constexpr std::uint64_t pods = 600;  // 1,200 records of 296 bytes into 256 KiB
    for (std::uint64_t i = 0; i < pods; i++) {
        const std::string directory = parent + "/pod" + std::to_string(i);
        ASSERT_EQ(::mkdir(directory.c_str(), 0755), 0);
        ASSERT_EQ(::rmdir(directory.c_str()), 0);
    }
    std::uint64_t told = 0, lost = 0, causes = 0;
    for (const auto& event : pending()) {
        told += std::holds_alternative<CgroupLife>(event.kind) ? 1U : 0U;
        if (const auto* loss = std::get_if<EventsLost>(&event.kind)) {
            lost += loss->count;
            causes++;
            EXPECT_EQ(loss->cause, "cgroup: ring buffer full");
        }
    }
    EXPECT_EQ(told + lost, 2 * pods);
    EXPECT_GT(lost, 100U);
    EXPECT_EQ(causes, 1U);
    for (const auto& event : pending()) EXPECT_FALSE(std::holds_alternative<EventsLost>(event.kind)) << "told twice";
}

}  // namespace
}  // namespace evictd::kernel_test
