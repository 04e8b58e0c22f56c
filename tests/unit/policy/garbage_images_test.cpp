// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which images go, and why the others stay.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inventory.hpp"

namespace evictd::policy::testing {
namespace {

using ::testing::HasSubstr;

std::string images(const std::vector<unsigned>& numbers) {
    std::string said;
    for (const unsigned number : numbers) said += (said.empty() ? "" : ", ") + ("image " + image_id(number));
    return said;
}

TEST(GarbageImages, UnusedOnesGoTheOneUnusedLongestFirst) {
    Inventory node;
    node.image(image_id(1), 1h).tags = {"docker.io/library/nginx:1.27"};
    node.image(image_id(2), 3h);
    node.image(image_id(3), std::nullopt);
    EXPECT_EQ(node.goes(), images({3, 2, 1}));
    EXPECT_EQ(node.why_gone(image_id(3)), "never used");
    EXPECT_EQ(node.why_gone(image_id(1)), "unused for 1h0m0s");
    EXPECT_EQ(node.plan().removals.at(2).name, "docker.io/library/nginx:1.27");
    EXPECT_EQ(node.plan().removals.at(2).size, 100_MiB);
}

TEST(GarbageImages, WhatIsUsedPinnedKeptOrYoungStays) {
    Inventory node;
    node.config.keep_images = {"nothing", "registry.example/base/*"};
    node.runtime.sandbox_image = "registry.k8s.io/pause:3.9";
    node.container("c", "web", "s", 1h, ContainerState::running, image_id(1));
    node.sandbox("s", "web", 1h, true);
    node.image(image_id(1));
    node.image(image_id(2)).in_use = true;
    node.image(image_id(3)).pinned = true;
    node.image(image_id(4)).tags = {"registry.k8s.io/pause:3.9"};
    node.image(image_id(5)).tags = {"x/y:1", "registry.example/base/debian:12"};
    node.image(image_id(6)).first_detected = inventory_wall - 119s;
    EXPECT_EQ(node.goes(), "");
    EXPECT_EQ(node.why_kept(image_id(1)), "in use by container default/web/app");
    EXPECT_EQ(node.why_kept(image_id(2)), "in use, as the runtime says");
    EXPECT_EQ(node.why_kept(image_id(3)), "pinned in the runtime");
    EXPECT_EQ(node.why_kept(image_id(4)), "the image of sandboxes");
    EXPECT_EQ(node.why_kept(image_id(5)), "matches keepImages \"registry.example/base/*\"");
    EXPECT_EQ(node.why_kept(image_id(6)), "younger than 2m0s");
}

TEST(GarbageImages, TheImageOfSandboxesStaysByWhateverNameItIsConfigured) {
    for (const std::string& name : {std::string("pause:3.9"), "pause@" + image_id(9), image_id(1).substr(7)}) {
        Inventory node;
        RuntimeImage& image = node.image(image_id(1));
        image.tags = {"docker.io/library/pause:3.9"};
        image.digests = {"docker.io/library/pause@" + image_id(9)};
        node.image(image_id(2)).tags = {"registry.k8s.io/pause:3.9"};
        node.runtime.sandbox_image = name;
        EXPECT_EQ(node.goes(), images({2})) << name;
        EXPECT_EQ(node.why_kept(image_id(1)), "the image of sandboxes") << name;
    }
}

// containerd names the id; others leave "sha256:" away, or name a digest or a tag.
TEST(GarbageImages, AContainerKeepsItsImageByWhateverNameItHas) {
    const std::string digits(image_id(1).substr(7));
    for (const std::string& name : {image_id(1), digits, std::string("app@sha256:77"), std::string("app:1")}) {
        Inventory node;
        RuntimeImage& image = node.image(image_id(1));
        image.tags = {"app:1"};
        image.digests = {"app@sha256:77"};
        node.container("c", "web", "s", 1h, ContainerState::exited, name);
        EXPECT_EQ(node.goes(), "") << name;
        EXPECT_EQ(node.why_kept(image_id(1)), "in use by container web/app") << name;
    }
    Inventory node;
    node.image(digits);
    node.container("c", "web", "s", 1h, ContainerState::exited, image_id(1));
    EXPECT_EQ(node.goes(), "");
}

TEST(GarbageImages, AnImageGoesAfterTheLastContainerThatUsesIt) {
    Inventory node;
    node.fates["job"] = PodFate::deleted;
    node.image(image_id(1), 0s).in_use = true;
    node.image(image_id(2), 5h);
    node.container("c1", "job", "", 2h, ContainerState::exited, image_id(1));
    node.container("c2", "job", "", 1h, ContainerState::exited, image_id(1));
    EXPECT_EQ(node.goes(), "container c1, container c2, " + images({2, 1}));
    EXPECT_EQ(node.why_gone(image_id(1)), "not used any more");
    // One of them cannot go.
    node.runtime.containers[1].state = ContainerState::created;
    EXPECT_EQ(node.goes(), "container c1, " + images({2}));
    EXPECT_EQ(node.why_kept(image_id(1)), "in use by container job/app");
    // The runtime does not say what a container uses.
    node.runtime.containers[1].image_ref.clear();
    EXPECT_EQ(node.goes(), "container c1, " + images({2}));
    EXPECT_EQ(node.why_kept(image_id(1)), "in use, as the runtime says");
}

// The manifest's name counts only where the runtime says nothing better.
TEST(GarbageImages, ANameThatHasMovedKeepsOnlyWhatTheContainerRuns) {
    Inventory node;
    node.image(image_id(1));
    node.image(image_id(2)).tags = {"app:1"};
    node.container("c", "web", "", 1h, ContainerState::running, image_id(1)).image = "app:1";
    EXPECT_EQ(node.goes(), images({2}));
    node.runtime.containers[0].image_ref.clear();
    EXPECT_EQ(node.goes(), images({1}));
    node.runtime.containers[0].image_id = image_id(1);
    EXPECT_EQ(node.goes(), images({2}));
}

// A tag may have moved to image 2 while the container runs image 1.
TEST(GarbageImages, ANameThatMayHaveMovedFreesNothing) {
    Inventory node;
    node.fates["job"] = PodFate::deleted;
    node.image(image_id(1)).in_use = true;
    node.image(image_id(2)).tags = {"app:1"};
    node.container("c1", "job", "", 2h, ContainerState::exited, image_id(1));
    node.container("c2", "web", "", 1h, ContainerState::running, "app:1");
    EXPECT_EQ(node.goes(), "container c1");
    EXPECT_EQ(node.why_kept(image_id(1)), "in use, as the runtime says");
    EXPECT_EQ(node.why_kept(image_id(2)), "in use by container web/app");
}

TEST(GarbageImages, NoImageGoesWhileItIsNotKnownWhichOneAContainerUses) {
    Inventory node;
    node.image(image_id(1));
    node.container("c", "web", "s", 1h, ContainerState::running, "app:gone");
    EXPECT_EQ(node.goes(), "");
    EXPECT_EQ(node.why_kept(image_id(1)), "container web/app uses an image that is not listed under its name");
    node.runtime.containers[0].image_ref = image_id(7);  // an id that is not listed is no image of the list
    EXPECT_EQ(node.goes(), images({1}));
}

TEST(GarbageImages, NothingGoesOfAListThatIsNotWholeOrAmbiguous) {
    Inventory node;
    node.image(image_id(1));
    node.image(image_id(1)).pinned = true;
    node.image("");
    EXPECT_EQ(node.goes(), "");
    EXPECT_EQ(node.why_kept(image_id(1)), "the runtime lists its id more than once, or lists none");
    node.image(image_id(2));
    EXPECT_EQ(node.goes(), images({2}));
    node.runtime.whole.images = false;
    EXPECT_EQ(node.goes(), "");
    EXPECT_EQ(node.why_kept(image_id(2)), "the list of images is not complete");
    node.runtime.whole = {.images = true, .sandboxes = true, .containers = false, .logs = true};
    EXPECT_EQ(node.goes(), "");
    EXPECT_EQ(node.why_kept(image_id(2)), "the list of containers is not complete");
}

TEST(GarbageImages, EnoughStopsWhereTheSizesMakeUpForWhatIsMissing) {
    Inventory node;
    node.config.images = ReclaimedImages::enough;
    node.request.missing = 150_MiB;
    for (unsigned i = 1; i <= 4; ++i) node.image(image_id(i), 5h - i * 1h);
    EXPECT_EQ(node.goes(), images({1, 2}));
    EXPECT_THAT(node.why_kept(image_id(3)), HasSubstr("not needed"));
    // What containers give back counts.
    node.fates["job"] = PodFate::deleted;
    node.container("c", "job", "", 2h).layer = RuntimeUsage{.used = 60_MiB};
    EXPECT_EQ(node.goes(), "container c, " + images({1}));
    node.runtime.containers[0].layer->used = 150_MiB;
    EXPECT_EQ(node.goes(), "container c");
    // Inodes: sizes say nothing of them.
    node.request.missing.reset();
    EXPECT_EQ(node.goes(), "container c, " + images({1, 2, 3, 4}));
}

TEST(GarbageImages, SizesThatLieDoNotOverflow) {
    Inventory node;
    node.config.images = ReclaimedImages::enough;
    node.request.missing = Bytes{INT64_MAX};
    node.image(image_id(1), 3h, Bytes{INT64_MAX - 1});
    node.image(image_id(2), 2h, Bytes{INT64_MAX});
    node.image(image_id(3), 1h, Bytes{-5});
    EXPECT_EQ(node.goes(), images({1, 2}));
}

TEST(GarbageImages, ARoutinePassGoesByTheWaterMarks) {
    Inventory node;
    node.request.forced = false;
    node.request.capacity = 1000_MiB;
    node.request.available = 200_MiB;
    for (unsigned i = 1; i <= 4; ++i) node.image(image_id(i), 5h - i * 1h, 60_MiB);
    EXPECT_EQ(node.goes(), "");
    EXPECT_THAT(node.why_kept(image_id(1)), HasSubstr("high water mark"));
    node.request.available = 100_MiB;  // 90 % used; down to 80 %
    EXPECT_EQ(node.goes(), images({1, 2}));
    node.config.image_gc.low_threshold_percent = 70;
    node.request.available = 0_B;
    EXPECT_THAT(node.plan().error, HasSubstr("Failed to free sufficient space"));
    // Nothing is known of the disk: only what is too old goes.
    node.request.capacity = 0_B;
    EXPECT_EQ(node.goes(), "");
    EXPECT_EQ(node.plan().error, "");
    node.config.image_gc.max_age = 210min;
    node.runtime.since = inventory_now - 4h;
    EXPECT_EQ(node.goes(), images({1}));
}

}  // namespace
}  // namespace evictd::policy::testing
