// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reading_pace.hpp"

#include <gtest/gtest.h>

#include "node.hpp"

namespace evictd::policy {
namespace {

using namespace testing;

EvictionConfig with(std::vector<Threshold> thresholds) {
    EvictionConfig config;
    config.thresholds = std::move(thresholds);
    return config;
}

Duration pace_with(Bytes available) {
    Node node;
    node.set(available, Signal::nodefs_available, 1000_GiB);
    return filesystem_pace(with({hard(100_GiB, std::nullopt, Signal::nodefs_available)}), node.readings, {});
}

TEST(FilesystemPace, FollowsTheDistance) {
    EXPECT_EQ(pace_with(900_GiB), 10s);
    EXPECT_EQ(pace_with(200_GiB), 10s);
    EXPECT_EQ(pace_with(110_GiB), 1s);  // a writer of 2 GiB/s is there in 5 s
    EXPECT_EQ(pace_with(Bytes{(100_GiB).value + (1_GiB).value}), 100ms);
    EXPECT_EQ(pace_with(Bytes{(100_GiB).value + (1_MiB).value}), 10ms);
    EXPECT_EQ(pace_with(100_GiB), 10ms);
}

TEST(FilesystemPace, UnderPressureIsThatOfLooks) { EXPECT_EQ(pace_with(99_GiB), 100ms); }

TEST(FilesystemPace, WithoutAThresholdOnDiskThereIsNone) {
    Node node;
    node.set(1_GiB);
    EXPECT_EQ(filesystem_pace(with({hard(100_MiB)}), node.readings, {}), Duration::zero());
}

TEST(FilesystemPace, AFilesystemThatIsNotKnownIsAskedSeldom) {
    const auto config = with({hard(100_GiB, std::nullopt, Signal::imagefs_available)});
    EXPECT_EQ(filesystem_pace(config, {}, {}), 10s);
}

TEST(FilesystemPace, TheNearestThresholdCounts) {
    Node node;
    node.set(900_GiB, Signal::nodefs_available, 1000_GiB);
    node.set({1'010'000}, Signal::nodefs_inodes_free, {10'000'000});
    const auto config = with({hard(100_GiB, std::nullopt, Signal::nodefs_available),
                              hard({1'000'000}, std::nullopt, Signal::nodefs_inodes_free)});
    EXPECT_EQ(filesystem_pace(config, node.readings, {}), 10ms);  // 10,000 inodes are 50 ms away
}

// 100 tasks a millisecond, counted four times on the way.
TEST(PidPace, FollowsTheDistanceToTheNearestThreshold) {
    const auto pace = [](std::int64_t available) {
        Node node;
        node.set(Bytes{available}, Signal::pid_available, Bytes{32'768});
        const auto config = with({hard(Bytes{1'000}, std::nullopt, Signal::pid_available)});
        return pid_pace(config, node.readings);
    };
    EXPECT_EQ(pace(31'000), 50ms);
    EXPECT_EQ(pace(1'001), 10ms);
    EXPECT_EQ(pace(999), 100ms) << "as often as looks come";
    EXPECT_EQ(pid_pace(with({hard(Bytes{1'000}, std::nullopt, Signal::pid_available)}), {}), 10s);
    EXPECT_EQ(pid_pace(with({hard(100_MiB)}), {}), Duration::zero());
}

}  // namespace
}  // namespace evictd::policy
