// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Images that pods of this node are about to need: no container of the runtime tells of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inventory.hpp"
#include "reclaim_node.hpp"

namespace evictd::policy::testing {
namespace {

PodPtr bound_pod(const std::string& image, PodPhase phase = PodPhase::pending) {
    Pod pod;
    pod.uid.value = "uid-new";
    pod.name_space = "default";
    pod.name = "new";
    pod.phase = phase;
    pod.containers.emplace_back().name = "main";
    pod.containers.back().image = image;
    return make_pod(std::move(pod));
}

// Image 1 is nginx:1.27; image 2 is another.
Inventory node_with(PodPtr pod) {
    Inventory node;
    node.config.images = ReclaimedImages::enough;
    RuntimeImage& image = node.image(image_id(1));
    image.tags = {"docker.io/library/nginx:1.27", "docker.io/library/nginx:latest"};
    image.digests = {"docker.io/library/nginx@" + image_id(9)};
    node.image(image_id(2)).tags = {"registry.k8s.io/nginx:1.27"};
    node.request.pods = {std::move(pod)};
    return node;
}

const std::string both = "image " + image_id(1) + ", image " + image_id(2);
const std::string other = "image " + image_id(2);
const std::string why = "needed by container default/new/main, which is not created yet";

TEST(NeededImages, AReclaimOfEnoughKeepsThemByWhateverNameThePodHas) {
    for (const std::string& name :
         {std::string("nginx:1.27"), std::string("nginx"), std::string("docker.io/nginx:1.27"), "nginx@" + image_id(9),
          "nginx:0.1@" + image_id(9), image_id(1), std::string("docker.io/library/nginx:latest")}) {
        const auto node = node_with(bound_pod(name));
        EXPECT_EQ(node.goes(), other) << name;
        EXPECT_EQ(node.why_kept(image_id(1)), why) << name;
    }
    for (const std::string& name : {std::string("nginx:1.28"), "nginx:1.27@" + image_id(8), std::string()}) {
        EXPECT_EQ(node_with(bound_pod(name)).goes(), both) << name;
    }
}

TEST(NeededImages, ThoseOfInitContainersCount) {
    Pod pod = *bound_pod("nginx:1.27");
    pod.init_containers.swap(pod.containers);
    EXPECT_EQ(node_with(make_pod(std::move(pod))).goes(), other);
}

TEST(NeededImages, ThoseOfRunningPodsCountUntilTheContainerIsCreated) {
    auto node = node_with(bound_pod("nginx:1.27", PodPhase::running));
    EXPECT_EQ(node.goes(), other);
    // Another pod's, or another container of it.
    node.container("c1", "uid-old", "", 1h, ContainerState::running, image_id(3)).name = "main";
    node.container("c2", "uid-new", "", 1h, ContainerState::running, image_id(3)).name = "mesh";
    EXPECT_EQ(node.goes(), other);
    node.container("c3", "uid-new", "", 1h, ContainerState::running, image_id(3)).name = "main";
    EXPECT_EQ(node.goes(), both) << "it was created of another image, which its name meant then";
}

TEST(NeededImages, ThoseOfVolumesCountUntilAllContainersAreCreated) {
    Pod pod = *bound_pod("other:1");
    pod.volumes.emplace_back().image = "nginx:1.27";
    auto node = node_with(make_pod(std::move(pod)));
    EXPECT_EQ(node.goes(), other);
    node.container("c1", "uid-new", "", 1h, ContainerState::running, image_id(3)).name = "main";
    EXPECT_EQ(node.goes(), both) << "what is mounted is the inventory's";
}

TEST(NeededImages, NoPodThatHasEndedOrIsBeingDeletedNeedsOne) {
    EXPECT_EQ(node_with(bound_pod("nginx:1.27", PodPhase::succeeded)).goes(), both);
    EXPECT_EQ(node_with(bound_pod("nginx:1.27", PodPhase::failed)).goes(), both);
    Pod pod = *bound_pod("nginx:1.27");
    pod.deletion_time = inventory_wall;
    EXPECT_EQ(node_with(make_pod(std::move(pod))).goes(), both);
}

TEST(NeededImages, WithUnusedAReclaimRemovesThemAsTheKubeletDoes) {
    auto node = node_with(bound_pod("nginx:1.27"));
    node.config.images = ReclaimedImages::unused;
    EXPECT_EQ(node.goes(), both);
    // A routine pass keeps them.
    node.request.forced = false;
    node.request.capacity = 100_GiB;
    EXPECT_EQ(node.goes(), other);
    EXPECT_EQ(node.why_kept(image_id(1)), why);
}

ObservedPod arriving(const std::string& image) {
    ObservedPod observed = pod({.name = "new", .phase = PodPhase::pending, .populated = false});
    Pod made = *observed.pod;
    made.containers.at(0).image = image;
    observed.pod = make_pod(std::move(made));
    return observed;
}

TEST(NeededImages, TheAgentAsksItsPodsInAReclaim) {
    for (const bool departed : {false, true}) {
        ReclaimNode node;
        node.config.garbage.images = ReclaimedImages::enough;
        node.set(1_GiB, Signal::nodefs_available, 100_GiB);
        node.pods.push_back(arriving(image_id(2)));
        node.pods.back().departed = departed;
        const std::string second = departed ? image_id(2) + ", " : "";
        EXPECT_EQ(named(node.disk(0s, 1_GiB)), "c, " + image_id(1) + ", " + second + image_id(3));
    }
}

TEST(NeededImages, TheAgentAsksItsPodsInARoutinePass) {
    ReclaimNode node;
    node.config.garbage.routine = true;
    node.config.garbage.image_gc.high_threshold_percent = 50;
    node.config.garbage.image_gc.low_threshold_percent = 0;
    node.pods.push_back(arriving(image_id(2)));
    EXPECT_EQ(named(node.disk(0s, 40_GiB)), image_id(1) + ", " + image_id(3));
}

}  // namespace
}  // namespace evictd::policy::testing
