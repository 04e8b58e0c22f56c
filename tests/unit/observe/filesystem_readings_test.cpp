// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "observe/filesystem_readings.hpp"

#include <gtest/gtest.h>

namespace evictd::observe {
namespace {

using namespace std::chrono_literals;

const std::optional<Reading>& of(const Observation& observation, Signal signal) {
    return observation.readings[static_cast<std::size_t>(signal)];
}

TEST(FilesystemReadings, OfEachFilesystemThatAnswered) {
    FilesystemsView view{.of = {}, .layout = FsLayout::dedicated_image_fs};
    view.of[0].reading = FilesystemReading{
        .id = {0, 1}, .available = 5_GiB, .capacity = 10_GiB, .inodes_free = 7, .inodes = 9, .at = MonotonicTime{3s}};
    view.of[1].reading = FilesystemReading{
        .id = {0, 2}, .available = 1_GiB, .capacity = 2_GiB, .inodes_free = {}, .inodes = {}, .at = MonotonicTime{4s}};
    view.of[2].trouble = "statfs does not return";
    Observation observation;
    add_filesystems(view, observation);
    EXPECT_EQ(observation.fs_layout, FsLayout::dedicated_image_fs);
    ASSERT_TRUE(of(observation, Signal::nodefs_available));
    EXPECT_EQ(of(observation, Signal::nodefs_available)->available.value, (5_GiB).value);
    EXPECT_EQ(of(observation, Signal::nodefs_available)->capacity.value, (10_GiB).value);
    EXPECT_EQ(of(observation, Signal::nodefs_available)->at, MonotonicTime{3s});
    EXPECT_EQ(of(observation, Signal::nodefs_inodes_free)->available.value, 7);
    EXPECT_EQ(of(observation, Signal::nodefs_inodes_free)->capacity.value, 9);
    EXPECT_EQ(of(observation, Signal::imagefs_available)->available.value, (1_GiB).value);
    EXPECT_FALSE(of(observation, Signal::imagefs_inodes_free)) << "it counts none";
    EXPECT_FALSE(of(observation, Signal::containerfs_available)) << "unknown is not nothing";
}

}  // namespace
}  // namespace evictd::observe
