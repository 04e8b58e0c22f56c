// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "observe/pod_disks.hpp"

#include <gtest/gtest.h>

namespace evictd::observe {
namespace {

using namespace std::chrono_literals;

ObservedPod pod(const std::string& uid, std::optional<Duration> arrived = std::nullopt) {
    auto made = std::make_shared<Pod>();
    made->uid = {uid};
    made->volumes = {{.name = "data", .kind = VolumeKind::empty_dir}};
    ObservedPod observed;
    observed.pod = made;
    observed.usage = PodUsage{};
    if (arrived) observed.arrived_at = MonotonicTime{*arrived};
    return observed;
}

SurveyedTree volume(const std::string& name, std::optional<Bytes> used, TreeKind kind = TreeKind::empty_dir) {
    SurveyedTree tree{.kind = kind, .name = name, .usage = {}};
    if (used) tree.usage = TreeUsage{.used = *used, .inodes = 3};
    return tree;
}

SurveyPtr survey(std::vector<SurveyedPod> pods, std::string trouble = {}) {
    return std::make_shared<const Survey>(
        Survey{.pods = std::move(pods), .listed = MonotonicTime{100s}, .trouble = std::move(trouble)});
}

ContainerLayersPtr layers(std::vector<ContainerLayer> of) {
    return std::make_shared<const ContainerLayers>(ContainerLayers{.of = std::move(of), .at = {}});
}

PodUsage usage_of(const DiskFigures& figures, ObservedPod observed, MonotonicTime since = {}) {
    std::vector<ObservedPod> pods{std::move(observed)};
    add_disk_usage(figures, since, pods);
    return *pods.front().usage;
}

const ContainerLayersPtr app_layer = layers({{{"a"}, "other", RuntimeUsage{.used = 9_GiB}},
                                             {{"uid"}, "app", RuntimeUsage{.used = 2_GiB, .inodes = 5}},
                                             {{"uid"}, "side", RuntimeUsage{.used = 1_GiB}},
                                             {{"z"}, "other", RuntimeUsage{.used = 9_GiB}}});

TEST(PodDisks, AreTheSurveysTreesAndTheRuntimesLayers) {
    const auto usage = usage_of(
        {survey({{{"uid"}, {volume("data", 4_GiB), volume("app", 1_MiB, TreeKind::container_logs)}}}), app_layer},
        pod("uid"));
    EXPECT_FALSE(usage.disk_partial);
    EXPECT_EQ(usage.disk.volumes, 4_GiB);
    EXPECT_EQ(usage.disk.logs, 1_MiB);
    EXPECT_EQ(usage.disk.rootfs, 3_GiB);
    EXPECT_EQ(usage.disk.rootfs_inodes, 5);
    ASSERT_EQ(usage.containers.size(), 2U);
    EXPECT_EQ(usage.containers[0].name, "app");
    EXPECT_EQ(usage.containers[0].logs, 1_MiB);
    EXPECT_EQ(usage.containers[0].rootfs, 2_GiB);
    EXPECT_FALSE(usage.containers[0].working_set) << "who uses what of memory is not known";
}

TEST(PodDisks, ATreeThatIsNotMeasuredIsAtLeastSoMuch) {
    const auto usage =
        usage_of({survey({{{"uid"}, {volume("data", 4_GiB), volume("more", std::nullopt)}}}), app_layer}, pod("uid"));
    EXPECT_TRUE(usage.disk_partial);
    EXPECT_EQ(usage.disk.volumes, 4_GiB);
}

TEST(PodDisks, WithoutARuntimeLayersAreNotKnown) {
    const auto usage = usage_of({survey({{{"uid"}, {volume("data", 4_GiB)}}}), nullptr}, pod("uid"));
    EXPECT_TRUE(usage.disk_partial);
    EXPECT_EQ(usage.disk.volumes, 4_GiB);
}

TEST(PodDisks, ALayerThatTheRuntimeHasNotMeasuredIsNotKnown) {
    const auto usage = usage_of({survey({{{"uid"}, {volume("data", 4_GiB)}}}), layers({{{"uid"}, "app"}})}, pod("uid"));
    EXPECT_TRUE(usage.disk_partial);
}

TEST(PodDisks, APodTheRuntimeHasNoContainerOfIsNotKnown) {
    EXPECT_TRUE(usage_of({survey({{{"uid"}, {volume("data", 4_GiB)}}}), layers({})}, pod("uid")).disk_partial);
}

TEST(PodDisks, WithoutASurveyNothingIsKnown) {
    EXPECT_TRUE(usage_of({nullptr, app_layer}, pod("uid")).disk_partial);
    EXPECT_TRUE(usage_of({std::make_shared<const Survey>(), app_layer}, pod("uid")).disk_partial);
}

TEST(PodDisks, APodWithoutADirectoryKeepsNothingOnceDirectoriesWereListed) {
    EXPECT_FALSE(usage_of({survey({}), app_layer}, pod("uid")).disk_partial);
    EXPECT_FALSE(usage_of({survey({}), app_layer}, pod("uid", 99s)).disk_partial);
    EXPECT_TRUE(usage_of({survey({}), app_layer}, pod("uid", 101s)).disk_partial) << "it came after they were listed";
    EXPECT_TRUE(usage_of({survey({}, "EMFILE"), app_layer}, pod("uid")).disk_partial);
}

TEST(PodDisks, WhatWasMeasuredBeforeTheDiskWasShortIsAtLeastSoMuch) {
    auto walked = volume("data", 4_GiB);
    walked.usage->began = MonotonicTime{50s};
    auto fresh = std::make_shared<ContainerLayers>(*app_layer);
    fresh->at = MonotonicTime{60s};
    const DiskFigures figures{survey({{{"uid"}, {walked}}}), fresh};
    EXPECT_FALSE(usage_of(figures, pod("uid"), MonotonicTime{50s}).disk_partial);
    const auto old = usage_of(figures, pod("uid"), MonotonicTime{51s});
    EXPECT_TRUE(old.disk_partial);
    EXPECT_EQ(old.disk.volumes, 4_GiB);
    walked.usage->began = MonotonicTime{70s};
    EXPECT_TRUE(usage_of({survey({{{"uid"}, {walked}}}), fresh}, pod("uid"), MonotonicTime{61s}).disk_partial)
        << "the layers are older";
}

TEST(PodDisks, VolumesAreThereUntilAListingHasNone) {
    const auto with = survey({{{"uid"}, {volume("data", 4_GiB)}}});
    const auto logs_only = survey({{{"uid"}, {volume("app", 1_MiB, TreeKind::container_logs)}}});
    EXPECT_EQ(has_disk_data({with, nullptr}, {"uid"}), true);
    EXPECT_EQ(has_disk_data({logs_only, nullptr}, {"uid"}), false);
    EXPECT_EQ(has_disk_data({survey({}), nullptr}, {"uid"}), false);
    EXPECT_EQ(has_disk_data({survey({}, "EMFILE"), nullptr}, {"uid"}), std::nullopt);
    EXPECT_EQ(has_disk_data({}, {"uid"}), std::nullopt);
    EXPECT_EQ(has_disk_data({survey({}), app_layer}, {"uid"}), true) << "its containers are dead, and take space";
    EXPECT_EQ(has_disk_data({survey({}), app_layer}, {"other"}), false);
    EXPECT_EQ(has_volumes({survey({}), app_layer}, {"uid"}), false);
    EXPECT_EQ(has_volumes({with, app_layer}, {"uid"}), true);
    EXPECT_EQ(has_volumes({nullptr, app_layer}, {"uid"}), std::nullopt);
}

// Its containers went with its processes: those that something has started since then are others.
TEST(PodDisks, LayersFromBeforeItsLastProcessWentDoNotCount) {
    auto observed = pod("uid");
    observed.emptied_at = MonotonicTime{10s};
    const auto at = [&](Duration since) {
        auto listed = std::make_shared<ContainerLayers>(*app_layer);
        listed->at = MonotonicTime{since};
        return usage_of({survey({{{"uid"}, {volume("data", 4_GiB)}}}), listed}, observed);
    };
    EXPECT_EQ(at(10s).disk.rootfs, 0_B);
    EXPECT_TRUE(at(10s).disk_partial);
    EXPECT_EQ(at(10s).disk.volumes, 4_GiB);
    EXPECT_EQ(at(11s).disk.rootfs, 3_GiB);
}

}  // namespace
}  // namespace evictd::observe
