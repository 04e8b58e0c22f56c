// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Limits that are hit: the pods' root's, so that the agent looks, and those of pods, with how often and no oftener than
// wanted.
#include <gtest/gtest.h>

#include "kernel/bpf_fixture.hpp"

namespace evictd::kernel_test {
namespace {

// Reads `file` again and again, until the test is gone: its cgroup stays at its limit.
PodProcess::Body keep_reading(const ColdFile& file) {
    return [&file](const Line& line) {
        line.hear();
        for (;;) read_once(file.path(), 128_MiB);
    };
}

constexpr const char* name = "kubepods/burstable/pod0123";

class Limits : public WithBpf {
protected:
    std::optional<MemcgBreach> next(CgroupId pod, Duration within = patience) {
        const auto event =
            wait_for<MemcgBreach>([&](const MemcgBreach& breach) { return breach.pod_cgroup == pod; }, within);
        if (!event) return std::nullopt;
        last_time_ = event->time;
        return std::get<MemcgBreach>(event->kind);
    }
    // How often `of` has hit its limit: exactly on v2, on v1 at least twice as often as a charge fails.
    [[nodiscard]] std::uint64_t hits(const std::string& of) const {
        if (!hierarchies().v2) return static_cast<std::uint64_t>(cgroups_.number(of, "memory.failcnt"));
        const auto text = cgroups_.read(of, "memory.events.local");
        const auto at = text.find("\nmax ");
        return at == std::string::npos ? 0 : std::stoull(text.substr(at + 5));
    }
    MonotonicTime last_time_;
    const ColdFile file_{64_MiB};
};

TEST_F(Limits, AContainerAtItsLimitIsReportedWithEveryHitAndNotTooOften) {
    make_pods_root(std::nullopt);
    const std::string container = std::string(name) + "/app";
    cgroups_.make(container);
    cgroups_.limit_memory(container, 24_MiB);
    PodProcess pod(cgroups_, container, keep_reading(file_));
    pod.say('g');
    std::uint64_t told = 0, before = 0;
    MonotonicTime last;
    for (int i = 0; i < 4; i++) {
        if (i == 2) before = hits(container);  // the fourth is of a time after this
        const auto breach = next(cgroups_.id(name));
        ASSERT_TRUE(breach) << "after " << i;
        EXPECT_EQ(breach->limit_kind, MemcgLimit::max);
        EXPECT_EQ(breach->cgroup, cgroups_.id(container));
        EXPECT_EQ(breach->container_cgroup, "app");
        EXPECT_EQ(breach->limit, 24_MiB);
        EXPECT_GE(breach->usage, 22_MiB);  // a huge page's worth below it
        EXPECT_GE(breach->hits, 1U);
        if (i > 0) {
            EXPECT_GE(last_time_ - last, pod_limit_period) << "the same pod was reported too soon";
        }
        last = last_time_;
        told += breach->hits;
    }
    EXPECT_LE(told, hits(container));
    if (hierarchies().v2) {
        EXPECT_GE(told, before) << "a hit was not counted";
    }
    EXPECT_GT(told, 4U) << "what is not reported is counted";
}

TEST_F(Limits, APodHasOneShareHoweverManyOfItsCgroupsHitTheirLimits) {
    make_pods_root(std::nullopt);
    std::vector<std::unique_ptr<PodProcess>> readers;
    for (const char* container : {"pod-a", "b", "c", "d"}) {
        const std::string path = std::string(name) + "/" + container;
        cgroups_.make(path);
        cgroups_.limit_memory(path, 16_MiB);
        readers.push_back(std::make_unique<PodProcess>(cgroups_, path, keep_reading(file_)));
        readers.back()->say('g');
    }
    MonotonicTime last;
    for (int i = 0; i < 4; i++) {
        ASSERT_TRUE(next(cgroups_.id(name)));
        if (i > 0) {
            EXPECT_GE(last_time_ - last, pod_limit_period);
        }
        last = last_time_;
    }
    EXPECT_FALSE(next(cgroups_.id(std::string(name) + "/pod-a"), Duration{0})) << "a container is no pod";
}

TEST_F(Limits, APodsOwnLimitHasNoContainer) {
    make_pods_root(std::nullopt);
    const std::string container = std::string(name) + "/app";
    cgroups_.make(container);
    cgroups_.limit_memory(name, 24_MiB);
    PodProcess pod(cgroups_, container, keep_reading(file_));
    pod.say('g');
    const auto breach = next(cgroups_.id(name));
    ASSERT_TRUE(breach);
    EXPECT_EQ(breach->cgroup, cgroups_.id(name));
    EXPECT_EQ(breach->container_cgroup, "");
    EXPECT_EQ(breach->limit, 24_MiB);
}

TEST_F(Limits, WhatAContainerLimitsBelowItselfIsNotReported) {
    make_pods_root(std::nullopt);
    const std::string inner = std::string(name) + "/app/inner";
    cgroups_.make(inner);
    cgroups_.limit_memory(inner, 24_MiB);
    PodProcess pod(cgroups_, inner, keep_reading(file_));
    pod.say('g');
    ASSERT_TRUE(eventually([&] { return hits(inner) > 100; }));
    EXPECT_FALSE(next(cgroups_.id(name), Duration{0}));
}

TEST_F(Limits, AHighMarkIsReportedOfThePodsRootAndNeverTakenForAPodsLimit) {
    if (!hierarchies().v2) GTEST_SKIP() << "cgroup v1 has no memory.high";
    make_pods_root(std::nullopt);
    const std::string container = std::string(name) + "/app";
    cgroups_.make(container);
    const auto high_of = [&](const std::string& of) {
        const auto text = cgroups_.read(of, "memory.events.local");
        return std::stoull(text.substr(text.find("\nhigh ") + 6));
    };
    // As near to the limit as counts as being at it. Readahead stays below the difference.
    ASSERT_TRUE(cgroups_.write(container, "memory.high", std::to_string((24_MiB).value)));
    cgroups_.limit_memory(container, 26_MiB);
    {
        PodProcess pod(cgroups_, container, keep_reading(file_));
        pod.say('g');
        ASSERT_TRUE(eventually([&] { return high_of(container) > 100; }));
        if (const auto at_max = hits(container); at_max == 0) {
            EXPECT_FALSE(next(cgroups_.id(name), Duration{0})) << "memory.high was taken for memory.max";
        }
    }
    ASSERT_TRUE(cgroups_.write(container, "memory.high", "max"));
    cgroups_.limit_memory(container, 1_GiB);
    ASSERT_TRUE(cgroups_.write("kubepods", "memory.high", std::to_string((24_MiB).value)));
    PodProcess pod(cgroups_, container, keep_reading(file_));
    pod.say('g');
    MonotonicTime last;
    for (int i = 0; i < 3; i++) {
        const auto event =
            wait_for<MemcgBreach>([&](const MemcgBreach& breach) { return breach.cgroup == cgroups_.id("kubepods"); });
        ASSERT_TRUE(event);
        const auto& breach = std::get<MemcgBreach>(event->kind);
        EXPECT_EQ(breach.limit_kind, MemcgLimit::high);
        EXPECT_EQ(breach.limit, 24_MiB);
        EXPECT_EQ(breach.pod_cgroup, CgroupId{});
        if (i > 0) {
            EXPECT_GE(event->time - last, std::chrono::milliseconds(90)) << "two CPUs may see the old time";
        }
        last = event->time;
    }
}

}  // namespace
}  // namespace evictd::kernel_test
