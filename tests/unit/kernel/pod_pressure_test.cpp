// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Pods' pressure files of a declared tree: what is read and when, and how it completes what our programs count.
#include "kernel/pod_pressure.hpp"

#include <array>

#include <gtest/gtest.h>

#include "fakes/fake_cgroups.hpp"
#include "fakes/fake_clock.hpp"
#include "fakes/temp_dir.hpp"
#include "kernel/node_stalls.hpp"

namespace evictd::kernel {
namespace {

using namespace std::chrono_literals;

constexpr bool latency_critical = true;

struct Pressed : testing::Test {
    Pressed() {
        set("", 1'000'000, 900'000);
        set("/kubepods/a", 500'000, 400'000);
    }
    // Totals in microseconds of the cgroup, of the node: "".
    void set(const std::string& cgroup, int some, int full) const {
        const auto line = [](const std::string& kind, int total) {
            return kind + " avg10=0.00 avg60=0.00 avg300=0.00 total=" + std::to_string(total) + "\n";
        };
        mount.write((cgroup + "/memory.pressure").substr(1), line("some", some) + line("full", full));
    }
    void want(StallKind kind) { stalls.want({.stalls = {{.kind = kind, .scope = StallScope::pod, .share = 100}}}); }
    // A look, so long after the last one; `counted` is what came with the pod's usage.
    std::optional<PodStall> look(Duration after, std::optional<PodStall> counted = std::nullopt, bool hurry = false) {
        clock.advance(after);
        const std::array pods{port::StalledPod{a, counted}};
        stalls.read_pods(hurry, pods);
        return counted;
    }

    const fakes::TempDir mount;
    fakes::FakeClock clock;
    NodeStalls stalls{nullptr, prepared(), clock};
    const fakes::FakePodCgroup a{{7}, "/kubepods/a"};

private:
    // There before it is looked for.
    [[nodiscard]] std::string prepared() const {
        mount.write("memory.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
        return mount.path().string();
    }
};

TEST_F(Pressed, OnlyWhatIsRequestedIsRead) {
    EXPECT_FALSE(stalls.wants_pods());
    want(StallKind::full);
    EXPECT_TRUE(stalls.wants_pods());
    EXPECT_TRUE(stalls.uncounted().empty());
    stalls.want({.stalls = {{.share = 100}}});
    EXPECT_FALSE(stalls.wants_pods()) << "that is the node's";
}

TEST_F(Pressed, WhatIsLostBetweenTwoReadingsIsInTheWindows) {
    want(StallKind::full);
    EXPECT_FALSE(look(0s)) << "one total is no window";
    set("", 1'300'000, 900'000);
    set("/kubepods/a", 800'000, 450'000);
    const auto stall = look(1s);
    ASSERT_TRUE(stall);
    EXPECT_EQ(stall->some[1], 300ms);
    ASSERT_TRUE(stall->full);
    EXPECT_EQ((*stall->full)[1], 50ms);
    EXPECT_EQ((*stall->full)[0], 5ms);
    EXPECT_EQ(stall->read_at, clock.monotonic());
}

TEST_F(Pressed, WhatOurProgramsCountStaysAsTheyCountIt) {
    want(StallKind::full);
    (void)look(0s);
    set("", 1'300'000, 900'000);
    set("/kubepods/a", 800'000, 450'000);
    const PodStall counted{{10ms, 200ms, 300ms}, 64_MiB};
    const auto stall = look(1s, counted);
    ASSERT_TRUE(stall);
    EXPECT_EQ(stall->some, counted.some);
    EXPECT_EQ(stall->reclaimed, 64_MiB);
    EXPECT_EQ((*stall->full)[1], 50ms);
}

TEST_F(Pressed, AWaitingCallerGetsTheLastReading) {
    want(StallKind::full);
    (void)look(0s);
    set("", 1'300'000, 900'000);
    set("/kubepods/a", 800'000, 450'000);
    const auto before = clock.monotonic();
    EXPECT_FALSE(look(1s, {}, latency_critical));
    ASSERT_TRUE(look(0s));
    set("", 1'600'000, 900'000);
    set("/kubepods/a", 900'000, 550'000);
    const auto stall = look(1s, {}, latency_critical);
    ASSERT_TRUE(stall);
    EXPECT_EQ((*stall->full)[1], 50ms);
    EXPECT_EQ(stall->read_at, before + 1s);
}

TEST_F(Pressed, AQuietNodesPodsAreNotRead) {
    want(StallKind::full);
    (void)look(0s);
    set("/kubepods/a", 800'000, 450'000);  // no such thing: a pod's task is the node's
    EXPECT_FALSE(look(1s));
    set("", 1'000'001, 900'000);
    EXPECT_TRUE(look(1s));
}

TEST_F(Pressed, TheWindowsSlideByATenthOfASecondAndNoFaster) {
    want(StallKind::full);
    (void)look(0s);
    set("", 1'300'000, 900'000);
    set("/kubepods/a", 800'000, 450'000);
    EXPECT_FALSE(look(99ms));
    EXPECT_TRUE(look(1ms));
}

TEST_F(Pressed, APodWithoutTheFileIsLeftAsItIs) {
    want(StallKind::full);
    std::filesystem::remove(mount / "kubepods/a/memory.pressure");
    const PodStall counted{{10ms, 200ms, 300ms}, 64_MiB};
    (void)look(0s, counted);
    const auto stall = look(1s, counted);
    ASSERT_TRUE(stall);
    EXPECT_EQ(stall->some, counted.some);
    EXPECT_FALSE(stall->full);
}

TEST(PodPressure, WhereNoV2HierarchyIsThresholdsOnPodsAreNeverMet) {
    const fakes::FakeClock clock;
    NodeStalls stalls(nullptr, "", clock);
    const StallThreshold threshold{.kind = StallKind::full, .scope = StallScope::pod, .share = 100};
    stalls.want({.stalls = {threshold}});
    EXPECT_EQ(stalls.uncounted(), std::vector{threshold});
}

}  // namespace
}  // namespace evictd::kernel
