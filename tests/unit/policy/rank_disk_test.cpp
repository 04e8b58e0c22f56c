// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The victim order for disks: what is measured on which filesystem, and the chain over it.
#include <gmock/gmock.h>

#include "rank.hpp"
#include "unit/policy/victim_order.hpp"

namespace evictd::policy::testing {
namespace {

constexpr std::array byte_signals{Signal::nodefs_available, Signal::imagefs_available, Signal::containerfs_available,
                                  Signal::allocatable_nodefs_available};
constexpr std::array inode_signals{Signal::nodefs_inodes_free, Signal::imagefs_inodes_free,
                                   Signal::containerfs_inodes_free};

TEST(RankDiskPressure, FollowsTheKubeletsChainForBytes) {
    const std::vector<std::pair<const char*, std::vector<DiskWords>>> rows{
        {"a pod without usage goes before all others",
         {{.name = "unknown", .priority = 1000, .known = false}, {.name = "over", .used = 9000}}},
        {"over its ephemeral-storage request before within it",
         {{.name = "over", .used = 101, .request = 100_B, .priority = 9},
          {.name = "at", .used = 900, .request = 900_B}}},
        {"the lower priority first",
         {{.name = "low", .used = 2, .priority = -1},
          {.name = "none", .used = 900},
          {.name = "high", .used = 9000, .priority = 1}}},
        {"the most over its request first",
         {{.name = "most", .used = 600, .request = 100_B}, {.name = "biggest", .used = 1000, .request = 900_B}}},
    };
    for (const auto& [rule, words] : rows) {
        std::vector<ObservedPod> expected;
        for (const auto& one : words) expected.push_back(disk_pod(one));
        for (const Signal signal : byte_signals) expect_order(rule, expected, signal, FsLayout::single);
    }
}

TEST(RankDiskPressure, FollowsTheKubeletsChainForInodes) {
    const std::vector<std::pair<const char*, std::vector<DiskWords>>> rows{
        {"a pod without usage goes before all others",
         {{.name = "unknown", .priority = 1000, .known = false}, {.name = "many", .inodes = 9000}}},
        {"nobody requests inodes: one is over",
         {{.name = "one", .inodes = 1, .request = 1_GiB, .priority = 9}, {.name = "none", .used = 9000}}},
        {"the lower priority first",
         {{.name = "low", .inodes = 2, .priority = -1}, {.name = "high", .inodes = 9000, .priority = 1}}},
        {"the most inodes first", {{.name = "z", .used = 1, .inodes = 30}, {.name = "a", .used = 9000, .inodes = 20}}},
        {"less the bytes of the ephemeral-storage request, as the kubelet does it",
         {{.name = "few", .inodes = 20}, {.name = "many", .inodes = 1000, .request = 1_MiB}}},
    };
    for (const auto& [rule, words] : rows) {
        std::vector<ObservedPod> expected;
        for (const auto& one : words) expected.push_back(disk_pod(one));
        for (const Signal signal : inode_signals) expect_order(rule, expected, signal, FsLayout::single);
    }
}

TEST(RankDiskPressure, MeasuresWhatLiesOnTheFilesystem) {
    struct LayoutRow {
        FsLayout layout;
        std::int64_t node, image, container;  // 1: rootfs, 10: logs, 100: volumes
    };
    ObservedPod observed = pod({.name = "a"});
    observed.usage->disk = {.rootfs = 1_B,
                            .logs = 10_B,
                            .volumes = 100_B,
                            .host_path = 100_B,
                            .rootfs_inodes = 1,
                            .logs_inodes = 10,
                            .volumes_inodes = 100,
                            .empty_dirs = {{"in-memory", 1000_B}}};
    for (const auto& row :
         {LayoutRow{FsLayout::unknown, 111, 111, 111}, LayoutRow{FsLayout::single, 111, 111, 111},
          LayoutRow{FsLayout::dedicated_image_fs, 110, 1, 1}, LayoutRow{FsLayout::split, 111, 0, 111}}) {
        Observation observation;
        observation.fs_layout = row.layout;
        observation.pods = {observed};
        const auto measured = [&](Signal signal) { return rank_pods({}, signal, observation, {}).at(0).usage.value; };
        EXPECT_EQ(measured(Signal::nodefs_available), row.node);
        EXPECT_EQ(measured(Signal::nodefs_inodes_free), row.node);
        EXPECT_EQ(measured(Signal::imagefs_available), row.image);
        EXPECT_EQ(measured(Signal::imagefs_inodes_free), row.image);
        EXPECT_EQ(measured(Signal::containerfs_available), row.container);
        EXPECT_EQ(measured(Signal::containerfs_inodes_free), row.container);
        EXPECT_EQ(measured(Signal::allocatable_nodefs_available), row.node);
    }
}

TEST(RankDiskPressure, OnASplitImageFilesystemOnlyThePriorityCounts) {
    expect_order("images are nobody's",
                 {disk_pod({.name = "z", .priority = -1}), disk_pod({.name = "a", .used = 1, .request = 9_B}),
                  disk_pod({.name = "b", .used = 9000, .request = 10_B})},
                 Signal::imagefs_available, FsLayout::split);
}

TEST(RankDiskPressure, SumsBeyond64BitsDoNotOverflow) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    ObservedPod huge = disk_pod({.name = "z-huge", .used = most});
    huge.usage->disk.logs = {most};
    expect_order("the sum counts", {huge, disk_pod({.name = "a", .used = most})}, Signal::nodefs_available);
}

}  // namespace
}  // namespace evictd::policy::testing
