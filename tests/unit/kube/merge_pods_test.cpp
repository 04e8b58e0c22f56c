// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "kube/cluster_pods.hpp"

namespace evictd::kube {
namespace {

TEST(MergePods, OriginIsTheKubeletsWordAndTheRestTheApiServers) {
    const auto make = [](PodOrigin origin, const std::string& id) {
        Pod pod;
        pod.uid = PodUid{"u"};
        pod.name = id.empty() ? "of-api" : "of-kubelet";
        pod.origin = origin;
        pod.containers.push_back({.name = "c", .requests = {}, .limits = {}, .restartable = false, .id = id});
        return std::make_shared<const Pod>(std::move(pod));
    };
    const ClusterPodList api{.pods = {{"u", make(PodOrigin::api, "")}}, .rejected = {}};
    const ClusterPodList kubelet{.pods = {{"u", make(PodOrigin::static_file, "containerd://1")}}, .rejected = {}};
    const auto merged = merge_pods(&api, &kubelet);
    ASSERT_EQ(merged.size(), 1U);
    EXPECT_EQ(merged[0]->name, "of-api");
    EXPECT_EQ(merged[0]->origin, PodOrigin::static_file);
    EXPECT_EQ(merged[0]->containers[0].id, "containerd://1");
    EXPECT_EQ(merge_pods(nullptr, &kubelet).size(), 1U);
    EXPECT_EQ(merge_pods(&api, nullptr)[0], api.pods.at("u"));
    EXPECT_TRUE(merge_pods(nullptr, nullptr).empty());
}

// Else a pod would be critical for ever because another object says that it is its mirror.
TEST(MergePods, AMirrorPodDoesNotReplaceThePodWhoseUidItClaims) {
    Pod hog;
    hog.uid = PodUid{"uid-hog"};
    Pod mirror = hog;
    mirror.origin = PodOrigin::mirror;
    const ClusterPodList api{
        .pods = {{"another-uid", std::make_shared<const Pod>(mirror)}, {"uid-hog", std::make_shared<const Pod>(hog)}},
        .rejected = {}};
    const auto merged = merge_pods(&api, nullptr);
    ASSERT_EQ(merged.size(), 1U);
    EXPECT_EQ(merged[0]->origin, PodOrigin::api);
    // Nor the kubelet's own pod, whose name and requests would then be the forger's.
    const ClusterPodList only_mirror{.pods = {{"another-uid", std::make_shared<const Pod>(mirror)}}, .rejected = {}};
    const ClusterPodList kubelet{.pods = {{"uid-hog", std::make_shared<const Pod>(hog)}}, .rejected = {}};
    EXPECT_EQ(merge_pods(&only_mirror, &kubelet)[0], kubelet.pods.at("uid-hog"));
}

// One of them is forged, and which one is not known: no pod is better than the wrong one.
TEST(MergePods, SeveralMirrorPodsOfOneUidAreNone) {
    Pod mirror;
    mirror.uid = PodUid{"hash"};
    mirror.origin = PodOrigin::mirror;
    ClusterPodList api{.pods = {{"uid-1", std::make_shared<const Pod>(mirror)}}, .rejected = {}};
    EXPECT_EQ(merge_pods(&api, nullptr).size(), 1U);
    api.pods["uid-2"] = std::make_shared<const Pod>(mirror);
    EXPECT_TRUE(merge_pods(&api, nullptr).empty());
    api.pods["uid-3"] = std::make_shared<const Pod>(mirror);
    EXPECT_TRUE(merge_pods(&api, nullptr).empty());
}

}  // namespace
}  // namespace evictd::kube
