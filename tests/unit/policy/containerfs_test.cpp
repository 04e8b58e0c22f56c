// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The thresholds of the container filesystem, layout by layout.
#include "containerfs.hpp"

#include <gmock/gmock.h>

#include "unit/policy/node.hpp"

namespace evictd::policy::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

std::vector<Threshold> derived(const std::vector<Threshold>& thresholds, FsLayout layout) {
    std::vector<std::string> notes;
    auto all = with_containerfs({.thresholds = thresholds}, layout, notes).thresholds;
    std::erase_if(all, [](const Threshold& one) { return !name(one.signal).starts_with("containerfs"); });
    return all;
}

Threshold as(Threshold threshold, Signal signal) {
    threshold.signal = signal;
    return threshold;
}

TEST(UpdateContainerFsThresholds, TakesThoseOfTheFilesystemTheWritableLayersLieOn) {
    const Threshold nodefs = hard(10_GiB, 1_GiB, Signal::nodefs_available);
    const Threshold soft_nodefs = soft(20_GiB, 90s, Signal::nodefs_available);
    const Threshold imagefs = hard(5_GiB, 2_GiB, Signal::imagefs_available);
    const Threshold inodes = hard(1000_B, std::nullopt, Signal::nodefs_inodes_free);
    const Threshold image_inodes = hard(2000_B, std::nullopt, Signal::imagefs_inodes_free);
    const std::vector<Threshold> all{nodefs, imagefs, inodes, image_inodes, soft_nodefs};
    const std::vector<Threshold> of_nodefs{as(nodefs, Signal::containerfs_available),
                                           as(soft_nodefs, Signal::containerfs_available),
                                           as(inodes, Signal::containerfs_inodes_free)};
    EXPECT_THAT(derived(all, FsLayout::single), ElementsAreArray(of_nodefs));
    EXPECT_THAT(derived(all, FsLayout::split), ElementsAreArray(of_nodefs));
    EXPECT_THAT(
        derived(all, FsLayout::dedicated_image_fs),
        ElementsAre(as(imagefs, Signal::containerfs_available), as(image_inodes, Signal::containerfs_inodes_free)));
}

TEST(UpdateContainerFsThresholds, WithoutASourceThereIsNone) {
    EXPECT_THAT(derived({hard(1_GiB)}, FsLayout::single), IsEmpty());
    EXPECT_THAT(derived({hard(1_GiB, std::nullopt, Signal::nodefs_available)}, FsLayout::dedicated_image_fs),
                IsEmpty());
}

TEST(UpdateContainerFsThresholds, WhatWasSetIsOverruledAndReportedInTheKubeletsWords) {
    const std::vector<Threshold> set{
        hard(1_GiB, std::nullopt, Signal::containerfs_available), soft(2_GiB, 1s, Signal::containerfs_available),
        hard(10_B, std::nullopt, Signal::containerfs_inodes_free), hard(3_GiB, std::nullopt, Signal::nodefs_available)};
    std::vector<std::string> notes;
    const auto effective = with_containerfs({.thresholds = set}, FsLayout::single, notes);
    EXPECT_THAT(effective.thresholds, ElementsAre(set[3], as(set[3], Signal::containerfs_available)));
    EXPECT_THAT(notes, ElementsAre("found containerfs.available for hard eviction. ignoring",
                                   "found containerfs.available for soft eviction. ignoring",
                                   "found containerfs.inodesFree for hard eviction. ignoring"));
}

TEST(UpdateContainerFsThresholds, WaitsUntilTheLayoutIsKnown) {
    const EvictionConfig config{.thresholds = {hard(1_GiB, std::nullopt, Signal::nodefs_available),
                                               hard(1_GiB, std::nullopt, Signal::containerfs_available)}};
    std::vector<std::string> notes;
    EXPECT_EQ(with_containerfs(config, FsLayout::unknown, notes).thresholds, config.thresholds);
    EXPECT_THAT(notes, IsEmpty());
}

TEST(UpdateContainerFsThresholds, ASoftThresholdWithoutGraceCountsAsHardAndTheLastOneWins) {
    const Threshold first = hard(1_GiB, std::nullopt, Signal::nodefs_available);
    const Threshold second = soft(2_GiB, 0s, Signal::nodefs_available);
    EXPECT_THAT(derived({first, second}, FsLayout::single), ElementsAre(as(second, Signal::containerfs_available)));
}

}  // namespace
}  // namespace evictd::policy::testing
