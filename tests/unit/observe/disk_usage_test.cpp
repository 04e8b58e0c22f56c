// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "observe/disk_usage.hpp"

#include <gtest/gtest.h>

namespace evictd::observe {
namespace {

using namespace std::chrono_literals;

SurveyedTree tree(TreeKind kind, const std::string& name, Bytes used, std::int64_t inodes, int began = 100) {
    return {kind, name, TreeUsage{.used = used, .inodes = inodes, .began = MonotonicTime{std::chrono::seconds(began)}}};
}

Survey survey_of(std::vector<SurveyedTree> trees) {
    Survey survey;
    survey.pods = {{{"aaa"}, {tree(TreeKind::empty_dir, "other", 1_GiB, 1000)}}, {{"uid-1"}, std::move(trees)}};
    survey.listed = MonotonicTime{1s};
    return survey;
}

class DiskUsageTest : public testing::Test {
protected:
    DiskUsageTest() {
        pod.uid = {"uid-1"};
        pod.volumes = {{.name = "cache", .kind = VolumeKind::empty_dir},
                       {.name = "memory", .kind = VolumeKind::empty_dir, .in_memory = true},
                       {.name = "settings"},
                       {.name = "host", .kind = VolumeKind::host_path}};
    }
    Pod pod;
};

TEST_F(DiskUsageTest, IsTheSumOfThePodsTrees) {
    const auto found = surveyed_usage(
        pod,
        survey_of({tree(TreeKind::empty_dir, "cache", 10_MiB, 5, 90), tree(TreeKind::empty_dir, "memory", 3_MiB, 2),
                   tree(TreeKind::config_map, "settings", 8_KiB, 4), tree(TreeKind::container_logs, "main", 1_MiB, 3),
                   tree(TreeKind::container_logs, "init", 4_KiB, 2), tree(TreeKind::pod_logs, "", 4_KiB, 1),
                   tree(TreeKind::etc_hosts, "", 4_KiB, 1)}));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->disk.volumes, 10_MiB + 8_KiB);  // not what is in memory
    EXPECT_EQ(found->disk.volumes_inodes, 9);
    EXPECT_EQ(found->disk.logs, 1_MiB + 8_KiB);
    EXPECT_EQ(found->disk.logs_inodes, 6);
    EXPECT_EQ(found->disk.rootfs, 0_B);
    EXPECT_EQ(found->disk.host_path, 0_B);
    EXPECT_EQ(found->etc_hosts, 4_KiB);
    ASSERT_EQ(found->disk.empty_dirs.size(), 2U);
    EXPECT_EQ(found->disk.empty_dirs[1].used, 3_MiB);  // has a limit all the same
    ASSERT_EQ(found->containers.size(), 2U);
    EXPECT_EQ(found->containers[0].name, "main");
    EXPECT_EQ(found->containers[0].logs, 1_MiB);
    EXPECT_FALSE(found->containers[0].rootfs);
    EXPECT_EQ(found->oldest, MonotonicTime{90s});
    EXPECT_EQ(found->trouble, "");
}

TEST_F(DiskUsageTest, APodThatIsNotInTheSurveyIsUnknown) {
    EXPECT_FALSE(surveyed_usage(pod, Survey{}));
    pod.uid = {"uid-0"};
    EXPECT_FALSE(surveyed_usage(pod, survey_of({})));
}

TEST_F(DiskUsageTest, APodOfWhichNothingIsMeasuredIsUnknown) {
    EXPECT_FALSE(surveyed_usage(pod, survey_of({{TreeKind::empty_dir, "cache", std::nullopt}})));
}

TEST_F(DiskUsageTest, WhatIsMissingIsSaid) {
    auto part = tree(TreeKind::empty_dir, "cache", 1_MiB, 5);
    auto survey = survey_of({part, {TreeKind::container_logs, "main", std::nullopt}});
    EXPECT_EQ(surveyed_usage(pod, survey)->trouble, "containerLogs main: not measured yet");
    survey.pods[1].trees[1].trouble = "walk not finished after 31 s";
    EXPECT_EQ(surveyed_usage(pod, survey)->trouble, "containerLogs main: walk not finished after 31 s");
    part.usage->complete = false;
    part.usage->trouble = "a directory cannot be opened: Permission denied";
    EXPECT_EQ(surveyed_usage(pod, survey_of({part}))->trouble,
              "emptyDir cache: a directory cannot be opened: Permission denied");
    survey.trouble = "/var/log/pods: Input/output error";
    EXPECT_EQ(surveyed_usage(pod, survey)->trouble, "/var/log/pods: Input/output error");
}

TEST_F(DiskUsageTest, AnOldFigureIsAFigure) {
    auto part = tree(TreeKind::empty_dir, "cache", 1_MiB, 5);
    part.trouble = "uid-1/volumes: Permission denied";
    const auto found = surveyed_usage(pod, survey_of({part}));
    EXPECT_EQ(found->disk.volumes, 1_MiB);
    EXPECT_EQ(found->trouble, "");  // its age says it
}

}  // namespace
}  // namespace evictd::observe
