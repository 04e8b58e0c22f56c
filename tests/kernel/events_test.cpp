// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the tracepoints tell: OOM kills, limits that are hit, cgroups that come and go, and events that were lost.
#include <algorithm>
#include <csignal>
#include <set>

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "kernel/bpf_fixture.hpp"

namespace evictd::kernel_test {
namespace {

class Events : public WithBpf {
protected:
    // Whether anything that is pending says that it filled or emptied.
    bool exit_told_of(CgroupId cgroup) {
        const auto events = pending();
        return std::any_of(events.begin(), events.end(),
                           [&](const KernelEvent& event) { return is_exit_of(cgroup, event); });
    }
    static bool is_exit_of(CgroupId cgroup, const KernelEvent& event) {
        return is_exit(event) && std::get<CgroupLife>(event.kind).cgroup == cgroup;
    }
    static bool is_exit(const KernelEvent& event) {
        const auto* life = std::get_if<CgroupLife>(&event.kind);
        return life != nullptr && (life->change == CgroupChange::populated || life->change == CgroupChange::emptied);
    }
};

TEST_F(Events, AnOomKillInACgroupNamesTheVictimAndTheLimit) {
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

TEST_F(Events, ACgroupThatFillsAndEmptiesIsReportedWithItsIdAndPathWhileItIsAskedFor) {
    make_pods_root(std::nullopt);
    cgroups_.make("kubepods/podshort");
    const auto id = cgroups_.id("kubepods/podshort");
    const auto come_and_go = [&] {
        PodProcess pod(cgroups_, "kubepods/podshort");
        ::kill(pod.pid(), SIGKILL);
        EXPECT_TRUE(pod.killed_by(SIGKILL));
    };
    come_and_go();
    ASSERT_TRUE(events_->watch_exits(true));
    come_and_go();
    MonotonicTime last;
    for (const auto change : {CgroupChange::populated, CgroupChange::emptied}) {
        const auto event = wait_for_any([&](const KernelEvent& told) { return is_exit_of(id, told); }, patience);
        ASSERT_TRUE(event) << static_cast<int>(change);
        const auto& life = std::get<CgroupLife>(event->kind);
        EXPECT_EQ(life.change, change);
        EXPECT_EQ(life.path, cgroups_.path("kubepods/podshort"));
        EXPECT_GE(event->time, last);
        last = event->time;
    }
    ASSERT_TRUE(events_->watch_exits(false));
    come_and_go();
    EXPECT_FALSE(exit_told_of(id)) << "what nobody asked for, before or after";
}

TEST_F(Events, NothingIsReportedOfCgroupsThatAreNoPods) {
    make_pods_root(std::nullopt);
    TestCgroups foreign;
    for (const char* other : {"elsewhere/podother", "kubepods/burstable/podouter/container/service",
                              "kubepods/podguaranteed/container", "kubepods/podguaranteed/podclaimed"}) {
        cgroups_.make(other);
    }
    foreign.make("kubepods/podforeign");
    cgroups_.make("kubepods/podmine");
    ASSERT_TRUE(events_->watch_exits(true));
    {
        const PodProcess other(cgroups_, "elsewhere/podother"), alien(foreign, "kubepods/podforeign");
        const PodProcess deep(cgroups_, "kubepods/burstable/podouter/container/service");
        const PodProcess container(cgroups_, "kubepods/podguaranteed/container");
        const PodProcess claimed(cgroups_, "kubepods/podguaranteed/podclaimed");
        const PodProcess mine(cgroups_, "kubepods/podmine");  // the last, so that what came before it has come
    }
    const std::set<CgroupId> pods{cgroups_.id("kubepods/podmine"), cgroups_.id("kubepods/podguaranteed"),
                                  cgroups_.id("kubepods/burstable/podouter")};
    EXPECT_TRUE(wait_for_any(
        [&](const KernelEvent& event) {
            if (!is_exit(event)) return false;
            const auto& life = std::get<CgroupLife>(event.kind);
            EXPECT_TRUE(pods.contains(life.cgroup)) << life.path;
            return life.cgroup == cgroups_.id("kubepods/podmine");
        },
        patience));
}

TEST_F(Events, WhatFindsTheRingFullIsCountedAndReportedOnceWithItsCause) {
    make_pods_root(std::nullopt);
    cgroups_.make("kubepods/poda");
    cgroups_.make("kubepods/podb");
    const PodProcess wanderer(cgroups_, "kubepods/poda");
    ASSERT_TRUE(events_->watch_exits(true));
    constexpr std::uint64_t moves = 600;  // 1,200 records of 296 bytes into 256 KiB
    for (std::uint64_t i = 0; i < moves; i++) {
        cgroups_.enter(i % 2 == 0 ? "kubepods/podb" : "kubepods/poda", wanderer.pid());
    }
    std::uint64_t told = 0, lost = 0, causes = 0;
    for (const auto& event : pending()) {
        told += is_exit(event) ? 1U : 0U;
        if (const auto* loss = std::get_if<EventsLost>(&event.kind)) {
            lost += loss->count;
            causes++;
            EXPECT_EQ(loss->cause, "cgroup: ring buffer full");
        }
    }
    EXPECT_EQ(told + lost, 2 * moves);
    EXPECT_GT(lost, 100U);
    EXPECT_EQ(causes, 1U);
    for (const auto& event : pending()) EXPECT_FALSE(std::holds_alternative<EventsLost>(event.kind)) << "told twice";
}

}  // namespace
}  // namespace evictd::kernel_test
