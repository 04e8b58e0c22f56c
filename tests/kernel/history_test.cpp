// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The half minute that the watermark timer keeps: even, in order, and what the control files say.
#include <chrono>
#include <csignal>
#include <thread>

#include <gtest/gtest.h>

#include "kernel/bpf_fixture.hpp"
#include "kernel/history_map.hpp"

namespace evictd::kernel_test {
namespace {

class HistoryOfTheTimer : public WithBpf {
protected:
    [[nodiscard]] std::vector<MemorySample> history() const { return kernel::read_history(bpf_->history_map()); }
    // The pods' figure in the newest entry.
    [[nodiscard]] std::int64_t newest() const {
        const auto samples = history();
        return samples.empty() || !samples.back().pods ? -1 : samples.back().pods->value;
    }
};

TEST_F(HistoryOfTheTimer, HasAnEntryForEachTenthOfASecond) {
    make_pods_root(64_MiB);
    const auto begin = now();
    ASSERT_TRUE(wait_for_ticks(12));  // 100 ms each, as there is no line to watch
    const auto samples = history();
    ASSERT_GE(samples.size(), 8U);
    EXPECT_LE(samples.size(), std::size_t{EVICTD_HISTORY_SLOTS});
    std::size_t recent = 0;
    for (std::size_t i = 0; i < samples.size(); i++) {
        if (i > 0) {
            EXPECT_LT(samples[i - 1].at, samples[i].at);
        }
        if (samples[i].at < begin) continue;
        recent++;
        EXPECT_LE(samples[i].at, now());
        ASSERT_TRUE(samples[i].node && samples[i].pods);
        EXPECT_GT(samples[i].node->value, 0);
        EXPECT_LE(samples[i].pods->value, (64_MiB).value);
    }
    EXPECT_GE(recent, 8U);
}

TEST_F(HistoryOfTheTimer, FallsWithAPodThatGrows) {
    make_pods_root(128_MiB);
    cgroups_.make("kubepods/podgrowing");
    PodProcess pod(cgroups_, "kubepods/podgrowing", [](const Line& line) {
        line.hear();
        touch(80_MiB);
        line.say('t');
        line.hear();
    });
    ASSERT_TRUE(eventually([&] { return newest() > (100_MiB).value; }));
    pod.say('g');
    ASSERT_TRUE(pod.hear());
    EXPECT_TRUE(eventually([&] { return newest() < (64_MiB).value && newest() > (32_MiB).value; }));
    ::kill(pod.pid(), SIGKILL);
    EXPECT_TRUE(eventually([&] { return newest() > (100_MiB).value; }));
}

// Far from any threshold nothing else walks the cgroups: page cache must not look like pressure all the same.
TEST_F(HistoryOfTheTimer, CountsPageCacheAsAvailableWithoutAThreshold) {
    const ColdFile file(64_MiB);
    make_pods_root(128_MiB);
    cgroups_.make("kubepods/podcache");
    PodProcess pod(cgroups_, "kubepods/podcache", [&](const Line& line) {
        read_once(file.path(), 64_MiB);
        line.say('d');
        line.hear();
    });
    ASSERT_TRUE(pod.hear());
    EXPECT_GT(cgroups_.usage("kubepods"), (48_MiB).value);
    ASSERT_TRUE(wait_for_ticks(12));  // 100 ms each: what was before the file was read is not the newest any more
    EXPECT_TRUE(eventually([&] { return newest() > (100_MiB).value; })) << newest();
}

// The walk that adds up file pages is half of what the timer costs at rest. With it every second there would be six.
TEST_F(HistoryOfTheTimer, AddsUpFilePagesLessOftenWhileTheUsageStaysTheSame) {
    make_pods_root(128_MiB);
    const auto walks = [&] { return bpf_->timer_stats().walks; };
    ASSERT_TRUE(eventually([&] { return walks() > 0; }));
    ASSERT_TRUE(wait_for_ticks(15));  // 100 ms each: what the pods' root has got since is in a walk
    const auto before = walks();
    ASSERT_TRUE(wait_for_ticks(60));
    EXPECT_LE(walks() - before, 3);
}

TEST_F(HistoryOfTheTimer, AddsUpFilePagesEverySecondWhileTheUsageChanges) {
    make_pods_root(256_MiB);
    cgroups_.make("kubepods/podgrowing");
    PodProcess pod(cgroups_, "kubepods/podgrowing", [](const Line& line) {
        line.say('b');
        for (;;) {  // 10 MiB a second; ended with the test
            touch(1_MiB);
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
    });
    ASSERT_TRUE(pod.hear());
    const auto walks = [&] { return bpf_->timer_stats().walks; };
    ASSERT_TRUE(eventually([&] { return walks() > 0; }));
    const auto before = walks();
    ASSERT_TRUE(wait_for_ticks(50));
    EXPECT_GE(walks() - before, 3);  // two with one every three seconds
}

TEST_F(HistoryOfTheTimer, ReportsThatThePodsCgroupDoesNotExist) {
    ASSERT_TRUE(wait_for_ticks(3));
    ASSERT_FALSE(history().empty());
    EXPECT_TRUE(eventually([&] { return !history().back().pods; }));
}

}  // namespace
}  // namespace evictd::kernel_test
