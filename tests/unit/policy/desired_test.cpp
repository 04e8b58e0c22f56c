// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a Decision desires beside the kill: what the kernel watches, and whom its OOM killer is steered to.
#include <limits>

#include <gmock/gmock.h>

#include "unit/policy/node.hpp"

namespace evictd::policy::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr auto available_memory = Signal::memory_available;

struct Desired : Node {
    Desired() {
        config.thresholds = {hard(100_MiB, 50_MiB)};
        pods = {pod({.name = "hog", .working_set = 80_MiB, .cgroup = 1}),
                pod({.name = "small", .working_set = 8_MiB, .cgroup = 2})};
    }
    Decision at_available(Bytes available, Duration since = 1s) {
        set(available);
        return look(since);
    }
};

TEST(Desired, TheLinesAreTheThresholdItsMinimumReclaimAndOneAboveEach) {
    const auto watch = Desired().at_available(4_GiB).watch;
    ASSERT_TRUE(watch.lines);
    EXPECT_THAT(*watch.lines, ElementsAre(Watermark{available_memory, 100_MiB}, Watermark{available_memory, 150_MiB}));
    EXPECT_THAT(watch.approaches,
                ElementsAre(Watermark{available_memory, 164_MiB}, Watermark{available_memory, 214_MiB}));
    EXPECT_FALSE(watch.exits);
}

TEST(Desired, EqualLinesComeOnce) {
    Desired node;
    node.config.thresholds = {hard(100_MiB), soft(164_MiB, 30s), soft(100_MiB, 30s)};
    const auto watch = node.at_available(4_GiB).watch;
    EXPECT_THAT(*watch.lines, ElementsAre(Watermark{available_memory, 100_MiB}, Watermark{available_memory, 164_MiB}));
    EXPECT_THAT(watch.approaches, ElementsAre(Watermark{available_memory, 228_MiB})) << "164Mi is a line of its own";
}

TEST(Desired, ALineAsHighAsNumbersGoHasNoneAboveIt) {
    Desired node;
    constexpr Bytes most{std::numeric_limits<std::int64_t>::max()};
    node.config.thresholds = {hard(most, 50_MiB)};
    const auto watch = node.at_available(4_GiB).watch;
    EXPECT_THAT(*watch.lines, ElementsAre(Watermark{available_memory, most}));
    EXPECT_THAT(watch.approaches, IsEmpty());
}

TEST(Desired, APercentageMovesWithTheCapacity) {
    Desired node;
    node.config.thresholds = {{.signal = available_memory, .value = {0.125F}, .min_reclaim = {}}};
    EXPECT_EQ(node.set(4_GiB, available_memory, 8_GiB).look(1s).watch.lines->front().threshold,
              Bytes{(8_GiB).value / 8});
    EXPECT_EQ(node.set(4_GiB, available_memory, 16_GiB).look(2s).watch.lines->front().threshold,
              Bytes{(16_GiB).value / 8});
}

TEST(Desired, ALookThatFailedIsNoReasonToWatchLess) {
    Desired node;
    node.forget(available_memory);
    auto observation = node.observe(1s);
    EXPECT_THAT(*decide(node.config, observation, {}).decision.watch.lines, IsEmpty()) << "there is no such memory";
    observation.incomplete = true;
    EXPECT_EQ(decide(node.config, observation, {}).decision.watch.lines, std::nullopt);
}

TEST(Desired, ExitsAreReportedWhereAVictimMayEndSoon) {
    EXPECT_FALSE(Desired().at_available(215_MiB).watch.exits);
    EXPECT_TRUE(Desired().at_available(214_MiB).watch.exits);
    EXPECT_TRUE(Desired().at_available(50_MiB).watch.exits);
}

TEST(Desired, StallLinesAndTheWayOfCountingAreTheConfigurations) {
    Desired node;
    node.config.confirm_pressure = true;
    node.config.memory_available = MemoryAvailable::reclaimable;
    const auto watch = node.at_available(4_GiB).watch;
    EXPECT_EQ(watch.stall_lines.size(), 1U);
    EXPECT_EQ(watch.counted, MemoryAvailable::reclaimable);
}

TEST(Steering, NoPodWhileNoLineIsNear) {
    EXPECT_EQ(Desired().at_available(215_MiB).steer_to, std::nullopt);
    EXPECT_EQ(Desired().at_available(214_MiB).steer_to, PodUid{"uid-hog"});
}

TEST(Steering, TheVictimOnItsWayComesFirst) {
    Desired node;
    node.config.thresholds = {soft(100_MiB, 0s)};
    node.config.thresholds.front().grace_period = 1s;
    node.config.max_pod_grace_period = 30s;
    (void)node.at_available(90_MiB, 1s);
    ASSERT_EQ(evicted(node.at_available(90_MiB, 3s)), "uid-hog");
    node.find("small").usage->working_set = 500_MiB;
    EXPECT_EQ(node.at_available(90_MiB, 4s).steer_to, PodUid{"uid-hog"});
}

TEST(Steering, NoPodWhereTheFirstIsNotKnown) {
    Desired node;
    node.usage_unknown = true;
    EXPECT_EQ(node.at_available(120_MiB).steer_to, std::nullopt);
    node.usage_unknown = false;
    node.pods_unlisted = true;
    EXPECT_EQ(node.at_available(120_MiB, 2s).steer_to, std::nullopt);
}

TEST(Steering, APodThatMayNotBeEvictedOrIsEmptyIsPassedOver) {
    Desired node;
    node.find("hog").populated = false;
    EXPECT_EQ(node.at_available(120_MiB).steer_to, PodUid{"uid-small"});
    node.pods[1] = pod({.name = "small", .working_set = 8_MiB, .origin = PodOrigin::static_file, .cgroup = 2});
    EXPECT_EQ(node.at_available(120_MiB, 2s).steer_to, std::nullopt);
}

// The kernel's OOM killer comes for memory, whatever else is short.
TEST(Steering, IsByMemoryAlsoWhileADiskIsShort) {
    Desired node;
    node.config.thresholds.push_back(
        {.signal = Signal::nodefs_available, .value = {Quantity::of((10_GiB).value)}, .min_reclaim = {}});
    node.set(9_GiB, Signal::nodefs_available, 100_GiB);
    node.find("small").usage->disk.volumes = 5_GiB;
    const Decision decision = node.at_available(120_MiB);
    EXPECT_EQ(decision.ranked_by, Signal::nodefs_available);
    EXPECT_EQ(decision.steer_to, PodUid{"uid-hog"});
}

}  // namespace
}  // namespace evictd::policy::testing
