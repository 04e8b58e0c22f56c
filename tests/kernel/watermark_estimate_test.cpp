// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The timer between two of its walks: with hundreds of cgroups they are many ticks apart.
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "kernel/bpf_fixture.hpp"

namespace evictd::kernel_test {
namespace {

constexpr int pods_beside = 1000;  // a walk takes a millisecond, and there are 20 ms from one to the next
constexpr Bytes pods_limit = 160_MiB;
constexpr Bytes pods_threshold = 60_MiB;
constexpr Bytes file_pages = 48_MiB;
constexpr std::chrono::milliseconds between(50);

const auto fell = [](const WatermarkCrossed& edge) { return edge.under; };

class WatermarkEstimate : public WithBpf {
protected:
    void SetUp() override {
        WithBpf::SetUp();
        make_pods_root(pods_limit);
        for (int i = 0; i < pods_beside; i++) cgroups_.make(fmt::format("kubepods/burstable/pod{}/container", i));
        const evictd::Watermark line{Signal::allocatable_memory_available, pods_threshold};
        ASSERT_TRUE(events_->watch({&line, 1}));
    }
    // Of an edge just now.
    [[nodiscard]] bool is_estimate(const KernelEvent& edge) const {
        return bpf_->timer_stats().walked_ns < static_cast<std::uint64_t>(edge.time.time_since_epoch().count());
    }
    // What a pod must take until so much is left above the threshold.
    [[nodiscard]] Bytes until(Bytes left) const {
        const auto rows = usage();
        if (rows.empty()) throw std::runtime_error("no usage is read");
        Bytes available = pods_limit - rows.front().usage;
        for (const auto& row : rows) available += row.inactive_file;
        return available - pods_threshold - left;
    }
};

// The pod has file pages: without any, limit minus usage is what is available, and the timer never walks.
TEST_F(WatermarkEstimate, ACrossingIsReportedWithoutWaitingForTheNextWalk) {
    int before_a_walk = 0;
    for (int round = 0; round < 5; round++) {
        const ColdFile file(file_pages);
        const Bytes first = until(16_MiB);
        PodProcess pod(cgroups_, "kubepods/burstable/pod0/container", [&](const Line& line) {
            read_once(file.path(), file_pages);
            touch(first);
            line.say('n');
            line.hear();
            touch(24_MiB);
            line.hear();
        });
        ASSERT_TRUE(pod.hear());
        ASSERT_TRUE(wait_for_ticks(10));
        (void)usage();
        pending();
        pod.say('c');
        const auto edge = wait_for<WatermarkCrossed>(fell);
        ASSERT_TRUE(edge) << "round " << round;
        before_a_walk += is_estimate(*edge) ? 1 : 0;
        (void)usage();
        pod.say('e');
        pod.wait();
        ASSERT_TRUE(wait_for<WatermarkCrossed>([](const auto& back) { return !back.under; }));
    }
    EXPECT_GE(before_a_walk, 1) << "of 5 crossings";
}

// Each time the look finds more available than was reported: for a second, only walks report.
TEST_F(WatermarkEstimate, FilePagesThatComeBetweenTwoWalksWakeTheAgentOnceASecond) {
    const ColdFile file(file_pages);
    const Bytes first = until(16_MiB);  // a walk that meets the reader is off by some MiB, never by so much
    PodProcess pod(cgroups_, "kubepods/burstable/pod0/container", [&](const Line& line) {
        const int fd = ::open(file.path().c_str(), O_RDONLY | O_CLOEXEC);
        touch(first);
        line.say('n');
        for (;;) {
            read_once(file.path(), file_pages);
            std::this_thread::sleep_for(between);  // walks see the pages, and then that they are gone
            (void)::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
            std::this_thread::sleep_for(between);
        }
    });
    ASSERT_TRUE(pod.hear());
    // On a slow machine most walks meet the reader, and then no estimate is wrong.
    ASSERT_TRUE(wait_for<WatermarkCrossed>(fell, std::chrono::seconds(30))) << "no estimate was wrong";
    (void)usage();
    // Pages that the reader adds come to the lists late, and a walk may miss them too: those are not counted.
    int edges = 1;
    constexpr auto watched = std::chrono::seconds(3);
    for (const auto begin = now(); now() - begin < watched;) {
        const auto edge = wait_for<WatermarkCrossed>(fell, std::chrono::milliseconds(100));
        if (!edge) continue;
        edges += is_estimate(*edge) ? 1 : 0;
        (void)usage();
    }
    RecordProperty("edges", edges);
    EXPECT_LE(edges, 5) << "in 3 s";
}

}  // namespace
}  // namespace evictd::kernel_test
