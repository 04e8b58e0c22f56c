// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The timer inside the kernel: edges, exactly one each, for the right amount of memory.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "kernel/bpf_fixture.hpp"
#include "kernel/node_files.hpp"
#include "kernel/proc_files.hpp"

namespace evictd::kernel_test {
namespace {

const auto under = [](const WatermarkCrossed& edge) { return edge.under; };
const auto back = [](const WatermarkCrossed& edge) { return !edge.under; };

class Watermark : public WithBpf {
protected:
    void watch(Signal signal, Bytes threshold) {
        const evictd::Watermark line{signal, threshold};
        ASSERT_TRUE(events_->watch({&line, 1}));
    }
    void watch_pods(Bytes threshold) { watch(Signal::allocatable_memory_available, threshold); }
    [[nodiscard]] int edges_pending() {
        int edges = 0;
        for (const auto& event : pending()) edges += std::holds_alternative<WatermarkCrossed>(event.kind) ? 1 : 0;
        return edges;
    }
    // What the kubelet's formula comes to, from the control files.
    [[nodiscard]] std::int64_t available_by_files(Bytes limit) const {
        return limit.value - (cgroups_.usage("kubepods") - cgroups_.total("kubepods", "inactive_file"));
    }
};

// Takes so much for every letter, in MiB.
PodProcess::Body grow_on_demand(int mib) {
    return [mib](const Line& line) {
        for (;;) {
            line.hear();
            touch(Bytes{std::int64_t{mib} << 20});
            line.say('t');
        }
    };
}

TEST_F(Watermark, OneEdgeUnderWhenAPodGrowsAndOneBackAfterItDied) {
    make_pods_root(128_MiB);
    cgroups_.make("kubepods/podgrowing");
    PodProcess pod(cgroups_, "kubepods/podgrowing", grow_on_demand(80));
    watch_pods(64_MiB);
    ASSERT_TRUE(wait_for_ticks(5));
    EXPECT_EQ(edges_pending(), 0);

    const auto begin = now();
    pod.say('g');
    const auto edge = wait_for<WatermarkCrossed>(under);
    ASSERT_TRUE(edge);
    const auto& crossing = std::get<WatermarkCrossed>(edge->kind);
    EXPECT_EQ(crossing.signal, Signal::allocatable_memory_available);
    EXPECT_EQ(crossing.threshold, 64_MiB);
    EXPECT_LT(crossing.available, 64_MiB);
    EXPECT_GT(crossing.available, 32_MiB);
    EXPECT_GE(edge->time, begin);
    EXPECT_LE(edge->time, now());

    ASSERT_TRUE(pod.hear());
    ASSERT_TRUE(wait_for_ticks(10));  // 100 ms each, as no line is left to fall under
    EXPECT_EQ(edges_pending(), 0) << "an edge was reported again while it stayed under";

    ::kill(pod.pid(), SIGKILL);
    const auto edge_back = wait_for<WatermarkCrossed>(back);
    ASSERT_TRUE(edge_back);
    EXPECT_GE(std::get<WatermarkCrossed>(edge_back->kind).available, 64_MiB);
    EXPECT_GT(edge_back->time, edge->time);
    ASSERT_TRUE(wait_for_ticks(5));
    EXPECT_EQ(edges_pending(), 0);
}

TEST_F(Watermark, EveryLineOfSeveralHasItsOwnEdges) {
    make_pods_root(128_MiB);
    cgroups_.make("kubepods/podgrowing");
    PodProcess pod(cgroups_, "kubepods/podgrowing", grow_on_demand(32));
    const std::vector<evictd::Watermark> lines{{Signal::allocatable_memory_available, 112_MiB},
                                               {Signal::allocatable_memory_available, 80_MiB}};
    ASSERT_TRUE(events_->watch(lines));
    for (const auto& line : lines) {
        pod.say('g');
        const auto edge = wait_for<WatermarkCrossed>(under);
        ASSERT_TRUE(edge);
        EXPECT_EQ(std::get<WatermarkCrossed>(edge->kind).threshold, line.threshold);
        ASSERT_TRUE(pod.hear());
        ASSERT_TRUE(wait_for_ticks(3));
        EXPECT_EQ(edges_pending(), 0);
    }
}

TEST_F(Watermark, ExactlyAtTheThresholdIsNotUnder) {
    make_pods_root(64_MiB);  // nothing runs in it: its usage stands still
    const Bytes available = 64_MiB - Bytes{cgroups_.usage("kubepods")};
    watch_pods(available);
    ASSERT_TRUE(wait_for_ticks(20));
    EXPECT_EQ(edges_pending(), 0);
    watch_pods(available + 1_B);
    EXPECT_TRUE(wait_for<WatermarkCrossed>(under));
}

TEST_F(Watermark, ThresholdsSetAnewAreComparedAnew) {
    make_pods_root(64_MiB);
    for (int i = 0; i < 2; i++) {
        watch_pods(1_GiB);
        EXPECT_TRUE(wait_for<WatermarkCrossed>(under)) << i;
    }
}

TEST_F(Watermark, InactiveFileCacheDoesNotCountAndAnonymousMemoryDoes) {
    const ColdFile file(96_MiB);
    make_pods_root(64_MiB);
    cgroups_.make("kubepods/burstable/podreader/container");
    PodProcess pod(cgroups_, "kubepods/burstable/podreader/container", [&](const Line& line) {
        line.hear();
        read_once(file.path(), 96_MiB);
        line.say('r');
        line.hear();
        touch(56_MiB);
        line.say('t');
        line.hear();
    });
    watch_pods(16_MiB);
    pod.say('r');
    ASSERT_TRUE(pod.hear());
    // A walk that was preempted counts as a long one, so the next may come up to 100 ms later.
    const auto walks = bpf_->timer_stats().walks;
    ASSERT_TRUE(eventually([&] { return bpf_->timer_stats().walks >= walks + 2; }));
    EXPECT_GT(cgroups_.usage("kubepods"), (56_MiB).value) << "the cgroup is not full of cache";
    EXPECT_EQ(edges_pending(), 0) << "page cache was taken for pressure";

    pod.say('t');
    EXPECT_TRUE(wait_for<WatermarkCrossed>(under));
    EXPECT_TRUE(pod.hear());
}

TEST_F(Watermark, ActiveFileCacheIsUsedForTheKubeletAndAvailableWhereItIsCountedAsReclaimable) {
    const ColdFile file(48_MiB);
    make_pods_root(64_MiB);
    cgroups_.make("kubepods/burstable/podreader/container");
    PodProcess pod(cgroups_, "kubepods/burstable/podreader/container", [&](const Line& line) {
        use_often(file.path(), 48_MiB);
        line.say('r');
        line.hear();
    });
    ASSERT_TRUE(pod.hear());
    // The controller's figure may be 2 s old.
    if (!eventually([&] { return cgroups_.total("kubepods", "active_file") >= (40_MiB).value; },
                    std::chrono::seconds(6))) {
        ASSERT_TRUE(std::filesystem::exists("/sys/kernel/mm/lru_gen")) << "the classic LRU calls it active";
        GTEST_SKIP() << "this kernel's generations do not call it active";
    }
    ASSERT_TRUE(events_->count_memory(MemoryAvailable::reclaimable));
    watch_pods(32_MiB);
    ASSERT_TRUE(wait_for_ticks(20));
    EXPECT_EQ(edges_pending(), 0) << "active page cache was taken for pressure";
    EXPECT_GT(bpf_->timer_stats().pods_available, static_cast<std::uint64_t>((48_MiB).value));

    ASSERT_TRUE(events_->count_memory(MemoryAvailable::kubelet));
    const auto edge = wait_for<WatermarkCrossed>(under);
    ASSERT_TRUE(edge);
    EXPECT_LT(std::get<WatermarkCrossed>(edge->kind).available, 32_MiB);
}

TEST_F(Watermark, WhatIsReclaimableOnTheNodeIsTheKernelsOwnMemAvailable) {
    auto files = kernel::ProcFiles::open();
    ASSERT_TRUE(files);
    // Against the kubelet's figure of the same moment: whatever the kernel counts apart in MemFree is in both.
    const auto more_than_the_kubelet = [&] {
        const auto node = (*files)->read(false);
        return node->reclaimable.value - node->available.value;
    };
    const auto tolerance = static_cast<double>((*files)->read(false)->total.value) * 0.005;
    EXPECT_TRUE(eventually([&] {
        EXPECT_TRUE(events_->count_memory(MemoryAvailable::kubelet));
        EXPECT_TRUE(wait_for_ticks(2));
        const auto by_kubelet = static_cast<std::int64_t>(bpf_->timer_stats().node_available);
        EXPECT_TRUE(events_->count_memory(MemoryAvailable::reclaimable));
        EXPECT_TRUE(wait_for_ticks(2));
        const auto reclaimable = static_cast<std::int64_t>(bpf_->timer_stats().node_available);
        return std::abs(static_cast<double>(reclaimable - by_kubelet - more_than_the_kubelet())) < tolerance;
    })) << bpf_->timer_stats().node_available;
}

TEST_F(Watermark, AvailableAgreesWithTheControlFilesOverNestedContainers) {
    const ColdFile first(24_MiB), second(24_MiB);
    make_pods_root(128_MiB);
    const auto read_and_touch = [](const ColdFile& file) {
        return [&file](const Line& line) {
            read_once(file.path(), 24_MiB);
            touch(16_MiB);
            line.say('d');
            line.hear();
        };
    };
    cgroups_.make("kubepods/besteffort/poda/one");
    cgroups_.make("kubepods/podb/two/three");
    PodProcess a(cgroups_, "kubepods/besteffort/poda/one", read_and_touch(first));
    PodProcess b(cgroups_, "kubepods/podb/two/three", read_and_touch(second));
    ASSERT_TRUE(a.hear());
    ASSERT_TRUE(b.hear());
    watch_pods(127_MiB);  // above what is available without cache: the timer must walk the tree
    constexpr auto tolerance = static_cast<double>((128_MiB).value) * 0.05;
    EXPECT_TRUE(eventually([&] {
        const auto by_timer = static_cast<std::int64_t>(bpf_->timer_stats().pods_available);
        return static_cast<double>(std::abs(by_timer - available_by_files(128_MiB))) < tolerance;
    })) << "timer "
        << bpf_->timer_stats().pods_available << ", files " << available_by_files(128_MiB);
    EXPECT_GT(cgroups_.total("kubepods", "inactive_file"), (32_MiB).value);
}

TEST_F(Watermark, WithoutALimitThePodsMayUseTheWholeNode) {
    auto files = kernel::ProcFiles::open();
    ASSERT_TRUE(files);
    const Bytes capacity = (*files)->read(false)->total;
    make_pods_root(std::nullopt);
    cgroups_.make("kubepods/podgrowing");
    PodProcess pod(cgroups_, "kubepods/podgrowing", grow_on_demand(48));
    watch_pods(capacity - 24_MiB);
    ASSERT_TRUE(wait_for_ticks(5));
    EXPECT_EQ(edges_pending(), 0);
    pod.say('g');
    const auto edge = wait_for<WatermarkCrossed>(under);
    ASSERT_TRUE(edge);
    EXPECT_GT(std::get<WatermarkCrossed>(edge->kind).available, capacity - 64_MiB);
    EXPECT_TRUE(pod.hear());
}

TEST_F(Watermark, TheNodesLineNeedsNoPodsRoot) {
    auto files = kernel::ProcFiles::open();
    ASSERT_TRUE(files);
    const Bytes total = (*files)->read(false)->total;
    watch(Signal::memory_available, total);
    const auto edge = wait_for<WatermarkCrossed>(under);
    ASSERT_TRUE(edge);
    const auto& crossing = std::get<WatermarkCrossed>(edge->kind);
    EXPECT_EQ(crossing.signal, Signal::memory_available);
    const auto by_files = static_cast<double>(available_on_nodes());
    EXPECT_NEAR(static_cast<double>(crossing.available.value), by_files, static_cast<double>(total.value) * 0.05);
}

TEST_F(Watermark, TheOldPodsRootIsNotTakenForTheNewOne) {
    make_pods_root(64_MiB);
    cgroups_.make("kubepods.slice");
    cgroups_.limit_memory("kubepods.slice", 32_MiB);
    ASSERT_TRUE(events_->follow(cgroups_.pods_root("kubepods.slice")));
    watch_pods(1_GiB);
    const auto edge = wait_for<WatermarkCrossed>(under);  // before any pass over the pods
    ASSERT_TRUE(edge);
    EXPECT_LE(std::get<WatermarkCrossed>(edge->kind).available, 32_MiB);
}

TEST_F(Watermark, ARemovedPodsRootIsNotCompared) {
    make_pods_root(64_MiB);
    cgroups_.remove("kubepods");
    watch_pods(1_GiB);
    ASSERT_TRUE(wait_for_ticks(5));
    EXPECT_EQ(edges_pending(), 0);
}

}  // namespace
}  // namespace evictd::kernel_test
