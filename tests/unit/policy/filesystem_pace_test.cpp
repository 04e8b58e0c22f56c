// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "filesystem_pace.hpp"

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
    return filesystem_pace(with({hard(100_GiB, std::nullopt, Signal::nodefs_available)}), node.readings);
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
    EXPECT_EQ(filesystem_pace(with({hard(100_MiB)}), node.readings), Duration::zero());
}

TEST(FilesystemPace, AFilesystemThatIsNotKnownIsAskedSeldom) {
    const auto config = with({hard(100_GiB, std::nullopt, Signal::imagefs_available)});
    EXPECT_EQ(filesystem_pace(config, {}), 10s);
}

TEST(FilesystemPace, TheNearestThresholdCounts) {
    Node node;
    node.set(900_GiB, Signal::nodefs_available, 1000_GiB);
    node.set({1'010'000}, Signal::nodefs_inodes_free, {10'000'000});
    const auto config = with({hard(100_GiB, std::nullopt, Signal::nodefs_available),
                              hard({1'000'000}, std::nullopt, Signal::nodefs_inodes_free)});
    EXPECT_EQ(filesystem_pace(config, node.readings), 10ms);  // 10,000 inodes are 50 ms away
}

}  // namespace
}  // namespace evictd::policy
