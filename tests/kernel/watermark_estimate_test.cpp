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
    // By a look.
    [[nodiscard]] Bytes above_threshold() const {
        const auto rows = usage();
        if (rows.empty()) throw std::runtime_error("no usage is read");
        Bytes available = pods_limit - rows.front().usage;
        for (const auto& row : rows) available += row.inactive_file;
        return available - pods_threshold;
    }
    // What a pod must take until so much is left above the threshold.
    [[nodiscard]] Bytes until(Bytes left) const { return above_threshold() - left; }
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

// Reads the file when told to, and lets its pages go when told so.
class Reader {
public:
    Reader(TestCgroups& cgroups, const ColdFile& file, Bytes first)
        : pod_(cgroups, "kubepods/burstable/pod0/container", [&file, first](const Line& line) {
              const int fd = ::open(file.path().c_str(), O_RDONLY | O_CLOEXEC);
              if (fd < 0) return;
              touch(first);
              for (;;) {
                  line.say('g');  // they are gone
                  line.hear();
                  read_once(file.path(), file_pages);
                  line.say('r');
                  line.hear();
                  (void)::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
              }
          }) {}
    void begin() { pod_.say('r'); }
    void drop() { pod_.say('d'); }
    [[nodiscard]] bool is_done() { return static_cast<bool>(pod_.hear()); }

private:
    PodProcess pod_;
};

// The look finds more available than was reported: for a second, only walks report.
TEST_F(WatermarkEstimate, FilePagesThatComeBetweenTwoWalksDoNotWakeTheAgentTwiceWithinASecond) {
    constexpr std::chrono::seconds distrusted(1);
    constexpr int most_tries = 100;
    const ColdFile file(file_pages);
    Reader reader(cgroups_, file, until(16_MiB));  // a walk that meets the reader is off by some MiB, never by so much
    ASSERT_TRUE(reader.is_done());
    MonotonicTime looked, look_ended;
    // The time of the edge, if an estimate caused one. The look is made while nothing changes.
    const auto read_and_look = [&]() -> std::optional<MonotonicTime> {
        std::this_thread::sleep_for(between);  // a walk sees that the pages are gone
        pending();
        reader.begin();
        const auto edge = wait_for<WatermarkCrossed>(fell, 2 * between);
        const bool guessed = edge && is_estimate(*edge);
        EXPECT_TRUE(reader.is_done());
        looked = now();
        EXPECT_GT(above_threshold(), 8_MiB);
        look_ended = now();
        reader.drop();
        EXPECT_TRUE(reader.is_done());
        return guessed ? std::optional(edge->time) : std::nullopt;
    };
    int tries = 1;  // mostly one; where 16 MiB are not read from one walk to the next, the walk says what there is
    while (tries < most_tries && !read_and_look()) ++tries;
    ASSERT_LT(tries, most_tries) << "no estimate was wrong: is the disk so slow?";
    const auto since = looked;
    const auto from = look_ended;
    int within = 0;
    for (; now() - since < distrusted; ++within) {
        const auto guessed = read_and_look();
        EXPECT_FALSE(guessed && *guessed > from && *guessed - since < distrusted) << "the agent was woken again";
    }
    EXPECT_GE(within, 1);
    for (tries = 1; tries < most_tries && !read_and_look(); ++tries) continue;
    EXPECT_LT(tries, most_tries) << "no estimate is trusted any more";
}

}  // namespace
}  // namespace evictd::kernel_test
