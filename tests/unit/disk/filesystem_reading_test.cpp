// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "disk/filesystem_reading.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "fakes/temp_dir.hpp"

namespace evictd::disk {
namespace {

using Ids = std::array<std::optional<FilesystemId>, node_filesystem_count>;

constexpr FilesystemId one{0, 1};
constexpr FilesystemId two{0, 2};
constexpr FilesystemId three{0, 3};

TEST(FilesystemReading, CountsWhatOthersThanRootMayUseInFragments) {
    struct statfs status {};
    status.f_bsize = 65536;
    status.f_frsize = 4096;
    status.f_blocks = 1000;
    status.f_bfree = 300;
    status.f_bavail = 250;
    status.f_files = 500;
    status.f_ffree = 77;
    const auto reading = reading_of(status);
    EXPECT_EQ(reading.capacity.value, 1000 * 4096);
    EXPECT_EQ(reading.available.value, 250 * 4096);
    EXPECT_EQ(reading.inodes, 500);
    EXPECT_EQ(reading.inodes_free, 77);
}

TEST(FilesystemReading, InodesWithoutANumberAreUnknown) {
    struct statfs status {};
    status.f_bsize = 4096;
    status.f_blocks = 1000;
    const auto reading = reading_of(status);
    EXPECT_EQ(reading.capacity.value, 1000 * 4096);
    EXPECT_EQ(reading.inodes, std::nullopt);
    EXPECT_EQ(reading.inodes_free, std::nullopt);
}

TEST(FilesystemReading, AbsurdFiguresDoNotWrapRound) {
    struct statfs status {};
    status.f_frsize = 4096;
    status.f_blocks = std::numeric_limits<std::uint64_t>::max();
    status.f_bavail = std::numeric_limits<std::uint64_t>::max();
    status.f_files = 10;
    status.f_ffree = std::numeric_limits<std::uint64_t>::max();
    const auto reading = reading_of(status);
    EXPECT_EQ(reading.capacity.value, std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(reading.available.value, std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(reading.inodes_free, 10);
}

TEST(FilesystemReading, ReadsTheFilesystemThatADirectoryIsOn) {
    const fakes::TempDir dir;
    const auto reading = read_filesystem(dir.path());
    ASSERT_TRUE(reading) << reading.error().text();
    EXPECT_GT(reading->capacity, Bytes{});
    EXPECT_GT(reading->at, MonotonicTime{});
    dir.write("below/file", "");
    EXPECT_EQ(read_filesystem(dir / "below")->id, reading->id);
    EXPECT_NE(read_filesystem("/dev/shm")->id, reading->id);
}

TEST(FilesystemReading, WithoutASizeNothingIsKnown) {
    const auto reading = read_filesystem("/proc");
    ASSERT_FALSE(reading);
    EXPECT_EQ(reading.error().text(), "/proc: its filesystem has no size");
    EXPECT_EQ(read_filesystem("/nonexistent").error().kind, ErrorKind::vanished);
}

TEST(Layout, IsWhichOfTheFilesystemsAreTheSame) {
    EXPECT_EQ(layout_of(Ids{one, one, std::nullopt}, false).layout, FsLayout::single);
    EXPECT_EQ(layout_of(Ids{one, one, one}, true).layout, FsLayout::single);
    EXPECT_EQ(layout_of(Ids{one, two, std::nullopt}, false).layout, FsLayout::dedicated_image_fs);
    EXPECT_EQ(layout_of(Ids{one, two, two}, true).layout, FsLayout::dedicated_image_fs);
    EXPECT_EQ(layout_of(Ids{one, two, one}, true).layout, FsLayout::split);
}

TEST(Layout, IsUnknownWhereOneIsUnknownOrKubernetesHasNone) {
    EXPECT_EQ(layout_of(Ids{std::nullopt, two, std::nullopt}, false).trouble, "nodefs is not known");
    EXPECT_EQ(layout_of(Ids{one, std::nullopt, std::nullopt}, false).trouble, "imagefs is not known");
    EXPECT_EQ(layout_of(Ids{one, two, std::nullopt}, true).trouble, "containerfs is not known");
    EXPECT_EQ(layout_of(Ids{one, two, three}, true).layout, FsLayout::unknown);
    EXPECT_EQ(layout_of(Ids{one, one, three}, true).trouble,
              "containers are apart from images and from nodefs, which Kubernetes does not support");
}

}  // namespace
}  // namespace evictd::disk
