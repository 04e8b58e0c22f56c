// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Being told without BPF, and the claim on the pods' root: what works on every kernel.
#include "kernel/file_events.hpp"

#include <csignal>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/file.h>

#include "app/claims.hpp"
#include "kernel/cgroup_fixture.hpp"
#include "kernel/cgroup_watch.hpp"
#include "kernel/pod_process.hpp"
#include "sys/clock.hpp"

namespace evictd::kernel_test {
namespace {

class WithoutBpf : public testing::Test {
protected:
    void SetUp() override {
        auto events = kernel::FileEvents::make(
            hierarchies(),
            std::make_unique<kernel::CgroupWatch>(hierarchies().memory, std::vector<std::string>{}, clock_), clock_,
            "a test says so");
        ASSERT_TRUE(events) << events.error().text();
        events_ = std::move(*events);
        cgroups_.make("kubepods");
        cgroups_.limit_memory("kubepods", 64_MiB);
        ASSERT_TRUE(events_->follow(cgroups_.pods_root("kubepods")));
    }
    void watch_pods(Bytes threshold) {
        const Watermark line{Signal::allocatable_memory_available, threshold};
        ASSERT_TRUE(events_->watch({&line, 1}));
    }
    // Waits for the source's fd and gives the files that the events name; "" after `within`.
    std::string wait_for_event(const std::string& wanted, Duration within = patience) {
        const auto end = clock_.monotonic() + within;
        while (clock_.monotonic() < end) {
            pollfd ready{.fd = events_->fd(), .events = POLLIN, .revents = 0};
            (void)::poll(&ready, 1, 1000);
            std::string found;
            events_->drain([&](const KernelEvent& event) {
                const auto* stall = std::get_if<StallTriggered>(&event.kind);
                if (stall != nullptr && stall->source.ends_with(wanted)) found = stall->source;
            });
            if (!found.empty()) return found;
        }
        return {};
    }
    [[nodiscard]] std::string watched() const { return events_->sources().front().chosen; }

    TestCgroups cgroups_;
    sys::SystemClock clock_;
    std::unique_ptr<kernel::FileEvents> events_;
};

TEST_F(WithoutBpf, OnV1UsageThatReachesTheThresholdIsReportedByEventfd) {
    if (hierarchies().v2) GTEST_SKIP() << "cgroup v2 has no usage thresholds";
    cgroups_.make("kubepods/podgrowing");
    PodProcess pod(cgroups_, "kubepods/podgrowing", [](const Line& line) {
        line.hear();
        touch(48_MiB);
        line.say('t');
        line.hear();
    });
    watch_pods(32_MiB);
    EXPECT_EQ(wait_for_event("/memory.usage_in_bytes", std::chrono::milliseconds(50)), "");
    pod.say('g');
    EXPECT_EQ(wait_for_event("/memory.usage_in_bytes"),
              hierarchies().memory + cgroups_.path("kubepods/memory.usage_in_bytes"));
    EXPECT_TRUE(pod.hear());
}

// The kernel takes tens of milliseconds to set a level anew. The look that the event calls for does not wait for it.
TEST_F(WithoutBpf, OnV1LevelsAreSetAnewBehindTheLook) {
    if (hierarchies().v2) GTEST_SKIP() << "cgroup v2 has no usage thresholds";
    cgroups_.make("kubepods/podgrowing");
    PodProcess pod(cgroups_, "kubepods/podgrowing", [](const Line& line) {
        line.hear();
        touch(48_MiB);
        line.say('t');
        line.hear();
    });
    watch_pods(32_MiB);
    pod.say('g');
    EXPECT_NE(wait_for_event("/memory.usage_in_bytes"), "");
    EXPECT_TRUE(pod.hear());
    const auto is_ready = [this] {
        pollfd ready{.fd = events_->fd(), .events = POLLIN, .revents = 0};
        return ::poll(&ready, 1, 0) == 1;
    };
    EXPECT_TRUE(is_ready()) << "it comes back for the levels";
    int told = 0;
    for (int turn = 0; turn < 3; turn++) events_->drain([&](const KernelEvent&) { told++; });
    EXPECT_EQ(told, 0);
    EXPECT_FALSE(is_ready()) << "a loop that never rests";
}

TEST_F(WithoutBpf, OnV2TheLimitThatIsHitIsReportedByMemoryEvents) {
    if (!hierarchies().v2) GTEST_SKIP() << "cgroup v1 has no memory.events";
    const ColdFile file(96_MiB);
    cgroups_.make("kubepods/podreader");
    PodProcess pod(cgroups_, "kubepods/podreader", [&](const Line& line) {
        line.hear();
        read_once(file.path(), 96_MiB);
        line.say('r');
        line.hear();
    });
    watch_pods(32_MiB);
    pod.say('g');
    EXPECT_EQ(wait_for_event("/memory.events"), hierarchies().memory + cgroups_.path("kubepods/memory.events"));
    EXPECT_TRUE(pod.hear());
}

TEST_F(WithoutBpf, OnV2APodThatLivesAtItsLimitDoesNotTellOfItAllTheTime) {
    if (!hierarchies().v2) GTEST_SKIP() << "cgroup v1 has no memory.events";
    const ColdFile file(96_MiB);
    cgroups_.make("kubepods/podreader");
    PodProcess pod(cgroups_, "kubepods/podreader", [&](const Line& line) {
        line.hear();
        for (int i = 0; i < 3; i++) read_once(file.path(), 96_MiB);
        line.say('r');
        line.hear();
    });
    watch_pods(32_MiB);
    std::vector<MonotonicTime> told;
    pod.say('g');
    for (const auto until = clock_.monotonic() + std::chrono::seconds(2); clock_.monotonic() < until;) {
        events_->drain([&](const KernelEvent& event) {
            const auto* stall = std::get_if<StallTriggered>(&event.kind);
            if (stall != nullptr && stall->source.ends_with("/memory.events")) told.push_back(event.time);
        });
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_TRUE(pod.hear());
    ASSERT_FALSE(told.empty());
    for (std::size_t i = 1; i < told.size(); i++) EXPECT_GE(told[i] - told[i - 1], std::chrono::milliseconds(100)) << i;
}

TEST_F(WithoutBpf, PressureTriggersAreSetWhereThisKernelHasPsi) {
    watch_pods(32_MiB);
    // psi=0 leaves the file out, or refuses to let it be read.
    std::string first;
    std::ifstream("/proc/pressure/memory") >> first;
    const bool pressure = first == "some";
    const bool pods_pressure = hierarchies().v2 && pressure;
    EXPECT_EQ(watched().find("/proc/pressure/memory") != std::string::npos, pressure) << watched();
    EXPECT_EQ(watched().find("kubepods/memory.pressure") != std::string::npos, pods_pressure) << watched();
}

TEST_F(WithoutBpf, EverySourceReportsWhyItIsAFallback) {
    for (const auto& row : events_->sources()) {
        EXPECT_EQ(row.fallback, row.chosen != "inotify") << row.hook;
    }
    EXPECT_NE(events_->sources().front().detail.find("a test says so"), std::string::npos);
}

TEST_F(WithoutBpf, PodsThatComeAndGoAreReportedAllTheSame) {
    std::vector<CgroupChange> changes;
    const auto note = [&](const KernelEvent& event) {
        if (const auto* life = std::get_if<CgroupLife>(&event.kind)) changes.push_back(life->change);
    };
    cgroups_.make("kubepods/podnew");
    events_->drain(note);
    cgroups_.remove("kubepods/podnew");
    events_->drain(note);
    EXPECT_EQ(changes, (std::vector{CgroupChange::made, CgroupChange::removed}));
}

TEST_F(WithoutBpf, LooksAreTimed) {
    const auto looks = events_->timed_looks();
    ASSERT_TRUE(looks);
    EXPECT_EQ(looks->shortest, std::chrono::milliseconds(10));
    EXPECT_EQ(looks->longest, std::chrono::seconds(1));
    EXPECT_EQ(looks->growth_per_second, 2_GiB);
}

TEST_F(WithoutBpf, ARemovedPodsRootLeavesNothingButTheNodeToWatch) {
    cgroups_.remove("kubepods");
    ASSERT_TRUE(events_->follow(std::nullopt));
    watch_pods(32_MiB);
    EXPECT_EQ(watched().find("kubepods"), std::string::npos) << watched();
}

// The lock's name is the cgroup's id: nothing in the cgroup itself is locked, which any local user could do.
TEST(Claim, ASecondAgentOnTheSamePodsIsRefusedAndLearnsWhichProcessHasThem) {
    TestCgroups cgroups;
    cgroups.make("holder");
    cgroups.make("kubepods");
    const std::string directory = hierarchies().memory + cgroups.path("kubepods");
    const auto root = cgroups.pods_root("kubepods");
    const auto foreign = sys::open(directory, O_RDONLY | O_DIRECTORY);
    ASSERT_TRUE(foreign);
    ASSERT_EQ(flock(foreign->get(), LOCK_EX | LOCK_NB), 0);
    {
        PodProcess holder(cgroups, "holder", [&](const Line& line) {
            const auto claim = app::claim_pods(root, Duration::zero());
            line.say(claim ? 'c' : 'x');
            line.hear();
        });
        ASSERT_EQ(holder.hear(), 'c');
        const auto second = app::claim_pods(root, Duration::zero());
        ASSERT_FALSE(second);
        EXPECT_EQ(second.error().kind, ErrorKind::unreachable);
        EXPECT_NE(second.error().text().find("process " + std::to_string(holder.pid())), std::string::npos)
            << second.error().text();
        ::kill(holder.pid(), SIGKILL);
        EXPECT_TRUE(holder.killed_by(SIGKILL));
    }
    const auto claim = app::claim_pods(root, Duration::zero());
    EXPECT_TRUE(claim) << claim.error().text();  // however its holder ended, it is free
    cgroups.remove("kubepods");                  // and it is in nobody's way
}

}  // namespace
}  // namespace evictd::kernel_test
