// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// When a filesystem that fills up reaches its threshold; that nobody is evicted for it, unless there is a threshold in
// time.
#include "disk_trends.hpp"

#include <gmock/gmock.h>

#include "exhaustion.hpp"
#include "reading_pace.hpp"
#include "unit/policy/node.hpp"

namespace evictd::policy::testing {
namespace {

constexpr auto nodefs = Signal::nodefs_available;
constexpr auto inodes = Signal::nodefs_inodes_free;

// 100 GiB with a threshold at 10 GiB.
struct Disk : Node {
    Bytes available = 20_GiB;
    Duration now{0};

    Disk() {
        config.thresholds = {hard(10_GiB, std::nullopt, nodefs)};
        set(available, nodefs, 100_GiB);
    }
    Decision then(Duration by, Bytes less) {
        now += by;
        available = available - less;
        return set(available, nodefs, 100_GiB).look(now);
    }
    Decision steadily(int looks, Duration by, Bytes less) {
        Decision last;
        for (int i = 0; i < looks; ++i) last = then(by, less);
        return last;
    }
};

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

TEST(DiskExhaustion, IsTheWayToTheThresholdDividedByTheRate) {
    Disk disk;
    const auto decision = disk.steadily(11, 1s, 100_MiB);  // 20 GiB - 1100 MiB are left
    ASSERT_EQ(decision.disk_exhaustion.size(), 1U);
    const auto& out = decision.disk_exhaustion[0];
    EXPECT_EQ(out.signal, nodefs);
    EXPECT_EQ(out.line.value, (10_GiB).value);
    EXPECT_NEAR(static_cast<double>(out.falls.value), 100 * 1024 * 1024, 1e4);
    EXPECT_NEAR(seconds(out.left), 91.4, 0.1);
    EXPECT_FALSE(decision.exhaustion) << "memory does not run out";
}

TEST(DiskExhaustion, NeedsThreeIntervalsAndAFall) {
    Disk disk;
    EXPECT_TRUE(disk.steadily(3, 1s, 100_MiB).disk_exhaustion.empty()) << "the first begins, two intervals are known";
    EXPECT_FALSE(disk.then(1s, 100_MiB).disk_exhaustion.empty());
    Disk still;
    EXPECT_TRUE(still.steadily(10, 1s, 0_B).disk_exhaustion.empty());
    Disk slow;
    EXPECT_TRUE(slow.steadily(10, 1s, 1_MiB).disk_exhaustion.empty()) << "10 GiB: more than an hour";
}

TEST(DiskExhaustion, AReadingThatIsNotNewIsNoInterval) {
    Disk disk;
    (void)disk.steadily(3, 1s, 100_MiB);
    for (int i = 1; i < 20; ++i) {
        EXPECT_TRUE(disk.look(disk.now + i * 200ms, disk.now).disk_exhaustion.empty()) << "memory is looked at";
    }
}

TEST(DiskExhaustion, BatchesAreATrend) {
    Disk disk;
    Decision decision;
    for (int i = 0; i < 60; ++i) decision = disk.then(100ms, i % 10 == 0 ? 100_MiB : 0_B);  // looks for memory's sake
    ASSERT_EQ(decision.disk_exhaustion.size(), 1U);
    EXPECT_NEAR(static_cast<double>(decision.disk_exhaustion[0].falls.value), 100 * 1024 * 1024, 1e4);
}

TEST(DiskExhaustion, HasGoneOnSinceTheFilesystemWasAsked) {
    Disk disk;
    const auto before = disk.steadily(6, 1s, 100_MiB);
    const auto after = disk.look(disk.now + 5s, disk.now);
    ASSERT_EQ(after.disk_exhaustion.size(), 1U);
    EXPECT_NEAR(seconds(before.disk_exhaustion[0].left - after.disk_exhaustion[0].left), 5, 0.001);
}

TEST(DiskExhaustion, BeginsAnewWhereSpaceIsFreed) {
    Disk disk;
    (void)disk.steadily(10, 1s, 100_MiB);
    EXPECT_TRUE(disk.then(1s, Bytes{-1}).disk_exhaustion.empty()) << "something was removed";
    EXPECT_TRUE(disk.steadily(2, 1s, 100_MiB).disk_exhaustion.empty());
    EXPECT_FALSE(disk.then(1s, 100_MiB).disk_exhaustion.empty());
    disk.forget(nodefs).look(disk.now + 1s);
    EXPECT_TRUE(disk.steadily(3, 2s, 100_MiB).disk_exhaustion.empty()) << "it did not answer for a time";
}

TEST(DiskExhaustion, BeginsAnewWhereAnotherFilesystemIsMounted) {
    Disk disk;
    (void)disk.steadily(10, 1s, 100_MiB);
    EXPECT_TRUE(disk.set(12_GiB, nodefs, 50_GiB).look(disk.now + 1s).disk_exhaustion.empty());
}

TEST(DiskExhaustion, AJumpIsNoTrend) {
    Disk disk;
    (void)disk.steadily(5, 1s, 0_B);
    EXPECT_TRUE(disk.then(1s, 5_GiB).disk_exhaustion.empty());
}

TEST(DiskExhaustion, CountsInodesOneByOne) {
    Disk disk;
    disk.config.thresholds = {hard(Bytes{1000}, std::nullopt, inodes)};
    Decision decision;
    for (int i = 0; i < 10; ++i) {
        decision = disk.set(Bytes{2000 - 20 * i}, inodes, Bytes{100'000}).look(i * 1s);  // less than a KiB a second
    }
    ASSERT_EQ(decision.disk_exhaustion.size(), 1U);
    EXPECT_EQ(decision.disk_exhaustion[0].falls.value, 20);
    EXPECT_EQ(decision.disk_exhaustion[0].left, 41s);
}

TEST(DiskExhaustion, TheNextLineIsTheHighestThatIsNotCrossed) {
    Disk disk;
    disk.config.thresholds = {hard(5_GiB, std::nullopt, nodefs), soft(19_GiB, 1h, nodefs)};
    EXPECT_EQ(disk.steadily(5, 1s, 100_MiB).disk_exhaustion.at(0).line.value, (19_GiB).value);
    EXPECT_EQ(disk.steadily(6, 1s, 100_MiB).disk_exhaustion.at(0).line.value, (5_GiB).value);
    disk.config.thresholds = {hard(50_GiB, std::nullopt, nodefs)};
    EXPECT_EQ(disk.then(1s, 100_MiB).disk_exhaustion.at(0).line.value, 0) << "until nothing is left";
    disk.config.thresholds = {hard(100_MiB)};
    EXPECT_TRUE(disk.then(1s, 100_MiB).disk_exhaustion.empty()) << "no threshold on it";
}

TEST(DiskExhaustion, OfTwoSignalsTheOneThatIsUsedUpFirstIsFirst) {
    Disk disk;
    disk.config.thresholds.push_back(hard(Bytes{1000}, std::nullopt, inodes));
    Decision decision;
    for (int i = 0; i < 10; ++i) {
        disk.set(Bytes{2000 - 100 * i}, inodes, Bytes{100'000});
        decision = disk.then(1s, 100_MiB);
    }
    ASSERT_EQ(decision.disk_exhaustion.size(), 2U);
    EXPECT_EQ(decision.disk_exhaustion[0].signal, inodes);
}

TEST(DiskExhaustion, EvictsNobodyAndReportsNothing) {
    Disk disk;
    disk.config.time_to_exhaustion = 1h;  // memory's
    disk.config.time_to_exhaustion_grace_period = 0s;
    disk.pods = {pod({.name = "web", .working_set = 1_GiB, .cgroup = 11})};
    const auto decision = disk.steadily(60, 1s, 100_MiB);
    EXPECT_FALSE(decision.disk_exhaustion.empty());
    EXPECT_TRUE(decision.thresholds_met.empty());
    EXPECT_TRUE(decision.thresholds_pending.empty());
    EXPECT_TRUE(decision.conditions.empty());
    EXPECT_TRUE(decision.reclaim.empty());
    EXPECT_FALSE(decision.evict);
}

// Two pods that keep something on a filesystem which loses 100 MiB a second; 10 GiB are its hard threshold. Rates are
// measured over 8.1 s.
struct TimedDisk : Disk {
    TimedDisk() {
        available = Bytes{25'600 * (1_MiB).value};
        config.disk_time_to_exhaustion = 3min;
        config.disk_time_to_exhaustion_grace_period = 10s;
        config.pressure_transition_period = 50ms;
        pods = {pod({.name = "web", .working_set = 1_GiB, .cgroup = 11}),
                pod({.name = "db", .working_set = 1_GiB, .cgroup = 12})};
        for (auto& one : pods) one.usage->disk.volumes = one.pod->name == "db" ? 5_GiB : 1_GiB;
    }
};

TEST(DiskTimeThreshold, WorksAsASoftOne) {
    TimedDisk disk;  // met from 18,000 MiB on
    auto decision = disk.steadily(7, 10s, 1000_MiB);
    EXPECT_TRUE(decision.thresholds_pending.empty()) << "186 s are left";
    decision = disk.then(10s, 1000_MiB);
    ASSERT_EQ(decision.thresholds_pending.size(), 1U);
    const auto& pending = decision.thresholds_pending[0];
    EXPECT_EQ(pending.threshold.signal, nodefs);
    EXPECT_EQ(pending.threshold.time_left, 3min);
    EXPECT_NEAR(seconds(pending.time_left()), 176, 0.5);
    EXPECT_THAT(decision.conditions, ::testing::ElementsAre(Condition::disk_pressure));
    EXPECT_TRUE(decision.reclaim.empty());
    decision = disk.then(10s, 1000_MiB);
    EXPECT_THAT(decision.reclaim, ::testing::ElementsAre(NodeReclaim::containers, NodeReclaim::images))
        << "before anybody is evicted";
    EXPECT_FALSE(decision.evict);
    decision = disk.then(10s, 1000_MiB);
    ASSERT_TRUE(decision.evict);
    EXPECT_EQ(evicted(decision), "uid-db") << "the kubelet's order";
    EXPECT_FALSE(decision.evict->immediate);
}

// While it is met looks come every second: the rate is not measured over shorter intervals for it.
TEST(DiskTimeThreshold, AWriterInBatchesDoesNotClearItByBeingLookedAtMoreOften) {
    TimedDisk disk;
    disk.config.disk_time_to_exhaustion_grace_period = 1h;
    (void)disk.steadily(9, 10s, 1000_MiB);
    for (int second = 1; second <= 60; ++second) {
        const auto decision = disk.then(1s, second % 5 == 0 ? 500_MiB : 0_B);
        EXPECT_EQ(decision.thresholds_pending.size(), 1U) << second;
    }
}

TEST(DiskTimeThreshold, IsClearOnceSomethingWasRemoved) {
    TimedDisk disk;
    auto decision = disk.steadily(9, 10s, 1000_MiB);
    ASSERT_FALSE(decision.thresholds_met.empty());
    decision = disk.then(1s, Bytes{-(1_GiB).value});
    EXPECT_EQ(decision.reclaimed, true) << "the rate before it says nothing";
    EXPECT_FALSE(decision.evict);
    decision = disk.then(1s, 100_MiB);
    EXPECT_TRUE(decision.thresholds_met.empty());
    EXPECT_TRUE(decision.thresholds_pending.empty());
}

// Its grace period has not passed, and the reclaim was for another threshold.
TEST(DiskTimeThreshold, EvictsNobodyAfterAReclaimThatWasForAnother) {
    TimedDisk disk;
    disk.config.disk_time_to_exhaustion_grace_period = 1h;
    disk.config.thresholds.push_back(hard(Bytes{1000}, std::nullopt, inodes));
    const auto with_inodes = [&](std::int64_t inodes_free, Bytes less) {
        disk.set(Bytes{inodes_free}, inodes, Bytes{1'000'000});
        return disk.then(10s, less);
    };
    Decision decision;
    for (int i = 0; i < 8; ++i) decision = with_inodes(100'000, 1000_MiB);
    ASSERT_FALSE(decision.thresholds_pending.empty());
    EXPECT_FALSE(with_inodes(900, 1000_MiB).reclaim.empty());
    decision = with_inodes(500'000, 1000_MiB);
    EXPECT_EQ(decision.reclaimed, true);
    EXPECT_FALSE(decision.evict);
}

TEST(DiskTimeThreshold, IsOfSignalsThatHaveAThreshold) {
    TimedDisk disk;
    const auto thresholds = time_thresholds(disk.config);
    ASSERT_EQ(thresholds.size(), 1U) << "not of memory";
    EXPECT_EQ(thresholds[0].signal, nodefs);
    EXPECT_EQ(thresholds[0].grace_period, 10s);
    disk.config.thresholds = {hard(100_MiB)};
    EXPECT_TRUE(time_thresholds(disk.config).empty());
    EXPECT_TRUE(disk.steadily(20, 10s, 1000_MiB).thresholds_pending.empty());
}

// No timer of the kernel's watches it, and 10 s from reading to reading are too long for a short time.
TEST(DiskTimeThreshold, IsLookedAtTwentyTimesWithinItsTime) {
    TimedDisk disk;
    disk.available = 90_GiB;
    const auto far = disk.then(1s, 0_B);
    EXPECT_EQ(far.next_look.at, at(disk.now + 9s));
    EXPECT_EQ(far.next_look.why, NextLookReason::trend);
    EXPECT_EQ(far.filesystem_pace, 5s) << "the step below; 10 s without it";
    EXPECT_FALSE(look_for_disk_time(Disk().config));
    disk.config.thresholds = {hard(100_MiB)};
    EXPECT_FALSE(look_for_disk_time(disk.config)) << "nothing can be met";
}

TEST(DiskExhaustion, CallsForTheNextLookAfterAQuarterOfTheTime) {
    Disk disk;
    auto decision = disk.steadily(10, 1s, 500_MiB);  // 15 GiB are left: 10 s
    ASSERT_EQ(decision.disk_exhaustion.size(), 1U);
    EXPECT_NEAR(seconds(decision.next_look.at - at(disk.now)), seconds(decision.disk_exhaustion[0].left) / 4, 0.001);
    EXPECT_EQ(decision.next_look.why, NextLookReason::trend);
    decision = disk.steadily(9, 1s, 500_MiB);
    EXPECT_EQ(decision.next_look.at, at(disk.now + 1s)) << "but not more often than while it is met";
    Disk slow;
    EXPECT_EQ(slow.steadily(10, 1s, 10_MiB).next_look.why, NextLookReason::period) << "never later";
}

// 2 GiB a second are expected anyway.
TEST(DiskExhaustion, AFasterWriterIsReadMoreOften) {
    const auto pace = [](Bytes falls) {
        Disk disk;
        const std::int64_t far = (1000_GiB).value;
        for (int i = 0; i < 5; ++i) {
            disk.set(Bytes{far - i * falls.value}, nodefs, 2000_GiB);
            (void)disk.look(i * 1s);
        }
        disk.set(50_GiB, nodefs, 2000_GiB);  // 40 GiB to go
        return filesystem_pace(disk.config, disk.readings, disk.state.disk_trends);
    };
    EXPECT_EQ(pace(0_B), 5s);
    EXPECT_EQ(pace(1_GiB), 5s) << "never later";
    EXPECT_EQ(pace(20_GiB), 500ms);
}

TEST(DiskExhaustion, NothingOnATapeOverflows) {
    Disk disk;
    disk.set(Bytes{INT64_MAX}, nodefs, Bytes{INT64_MAX});
    DiskTrend odd{nodefs, {}, {INT64_MAX}, {INT64_MAX, {}, INT32_MAX}};
    odd.available.rates.fill(INT32_MIN);
    disk.state.disk_trends = {odd};
    disk.config.thresholds = {hard(Bytes{INT64_MAX}, std::nullopt, nodefs)};
    EXPECT_EQ(disk.look(1s).disk_exhaustion.size(), 1U);
    disk.config.thresholds = {hard(Bytes{INT64_MIN}, std::nullopt, nodefs)};
    (void)disk.look(2s);
}

}  // namespace
}  // namespace evictd::policy::testing
