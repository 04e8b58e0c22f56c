// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A kernel that refuses the timer or the usage iterator: that port falls back to files, and the rest stays.
#include "kernel/mixed_events.hpp"

#include <algorithm>
#include <csignal>

#include <gtest/gtest.h>
#include <poll.h>

#include "kernel/bpf_fixture.hpp"
#include "kernel/cgroup_watch.hpp"
#include "sys/clock.hpp"

namespace evictd::kernel_test {
namespace {

class Mixed : public testing::Test {
protected:
    void load_without(const char* program) {
        auto bpf = load_bpf("", {{program, "for this test"}});
        ASSERT_TRUE(bpf) << bpf.error().text();
        bpf_ = std::move(*bpf);
        auto programs = kernel::BpfEvents::make(
            *bpf_, std::make_unique<kernel::CgroupWatch>(hierarchies().memory, std::vector<std::string>{}, clock_));
        ASSERT_TRUE(programs) << programs.error().text();
        if (bpf_->feeds("watermark")) {
            events_ = std::move(*programs);
            return;
        }
        auto files = kernel::FileEvents::make(hierarchies(), std::make_unique<kernel::CgroupWatch>(clock_), clock_, {});
        ASSERT_TRUE(files) << files.error().text();
        auto mixed = kernel::MixedEvents::make(std::move(*programs), std::move(*files));
        ASSERT_TRUE(mixed) << mixed.error().text();
        events_ = std::move(*mixed);
    }
    void follow_pods(Bytes limit, Bytes threshold) {
        cgroups_.make("kubepods/podgrowing");
        cgroups_.limit_memory("kubepods", limit);
        const auto followed = events_->follow(cgroups_.pods_root("kubepods"));
        ASSERT_TRUE(followed) << followed.error().text();
        const Watermark line{Signal::allocatable_memory_available, threshold};
        ASSERT_TRUE(events_->watch({&line, 1}));
    }
    template <class Kind>
    bool wait_for(Duration within = patience) {
        const auto end = clock_.monotonic() + within;
        while (clock_.monotonic() < end) {
            pollfd ready{.fd = events_->fd(), .events = POLLIN, .revents = 0};
            (void)::poll(&ready, 1, 1000);
            bool found = false;
            events_->drain(
                [&](const KernelEvent& event) { found = found || std::holds_alternative<Kind>(event.kind); });
            if (found) return true;
        }
        return false;
    }
    [[nodiscard]] SourceRow row(const std::string& hook) const {
        const auto rows = events_->sources();
        const auto found = std::find_if(rows.begin(), rows.end(), [&](const SourceRow& of) { return of.hook == hook; });
        return found == rows.end() ? SourceRow{} : *found;
    }

    TestCgroups cgroups_;
    sys::SystemClock clock_;
    std::unique_ptr<kernel::Bpf> bpf_;
    std::unique_ptr<port::KernelEventSource> events_;
};

PodProcess::Body grow(Bytes amount) {
    return [amount](const Line& line) {
        line.hear();
        touch(amount);
        line.say('t');
        line.hear();
    };
}

TEST_F(Mixed, WithoutTheIteratorTheTimerStillReportsThePods) {
    load_without("read_usage");
    EXPECT_TRUE(bpf_->feeds("watermark"));
    EXPECT_FALSE(bpf_->feeds("usage"));
    EXPECT_EQ(bpf_->stalls(), nullptr) << "pods' stalls come with the iterator's rows";
    EXPECT_FALSE(events_->timed_looks());
    EXPECT_EQ(row("usage").chosen, "control files");
    EXPECT_NE(row("usage").detail.find("for this test"), std::string::npos);
    follow_pods(64_MiB, 32_MiB);
    EXPECT_FALSE(bpf_->read_usage(port::Pass::with_processes));
    PodProcess hog(cgroups_, "kubepods/podgrowing", grow(48_MiB));
    hog.say('g');
    EXPECT_TRUE(wait_for<WatermarkCrossed>());
}

TEST_F(Mixed, WithoutTheTimerFilesTellOfLevelsAndProgramsOfTheRest) {
    load_without("start_watermarks");
    EXPECT_FALSE(bpf_->feeds("watermark"));
    EXPECT_TRUE(bpf_->feeds("usage"));
    EXPECT_TRUE(events_->timed_looks()) << "nothing reports every crossing here";
    EXPECT_TRUE(row("watermark").chosen.starts_with("timed look")) << row("watermark").chosen;
    EXPECT_NE(row("watermark").detail.find("for this test"), std::string::npos);
    EXPECT_TRUE(row("watermark").fallback);
    follow_pods(64_MiB, 32_MiB);
    PodProcess hog(cgroups_, "kubepods/podgrowing", grow(48_MiB));
    hog.say('g');
    if (!hierarchies().v2) {
        EXPECT_TRUE(wait_for<StallTriggered>()) << "no level is watched";
    }
    ASSERT_EQ(hog.hear(), 't');
    kernel::UsageIter iterator(*bpf_);
    std::vector<port::CgroupUsage> rows;
    const auto read = iterator.read(rows, port::Pass::with_processes);
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_GT(rows.front().usage, 48_MiB);
    EXPECT_EQ(bpf_->timer_stats().ticks, 0U);

    cgroups_.make("kubepods/podfull");
    cgroups_.limit_memory("kubepods/podfull", 16_MiB);
    if (hierarchies().v2) cgroups_.write("kubepods/podfull", "memory.swap.max", "0");
    PodProcess victim(cgroups_, "kubepods/podfull", grow(32_MiB));
    victim.say('g');
    EXPECT_TRUE(wait_for<OomKill>());
}

}  // namespace
}  // namespace evictd::kernel_test
