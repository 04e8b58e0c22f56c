// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "observe/runtime_inventory.hpp"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/fake_clock.hpp"
#include "fakes/fake_container_runtime.hpp"

namespace evictd::observe {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::SizeIs;

RuntimeImage image(const std::string& id, const std::string& tag = {}) {
    RuntimeImage one;
    one.id = id;
    if (!tag.empty()) one.tags = {tag};
    return one;
}

RuntimeContainer container(const std::string& id, const std::string& image, const std::string& pod = "uid-1") {
    RuntimeContainer one;
    one.id = id;
    one.pod = pod;
    one.name = "app";
    one.image = image;
    return one;
}

const Error unreachable{ErrorKind::unreachable, "container runtime", "no answer", ""};

class RuntimeInventoryTest : public testing::Test {
protected:
    fakes::FakeContainerRuntime runtime;
    fakes::FakePodLogs logs;
    fakes::FakeClock clock;
    RuntimeInventory inventory{runtime, logs, clock};
};

TEST_F(RuntimeInventoryTest, FollowsSinceWhenAnImageIsKnownAndUsed) {
    runtime.all_images = {image("a", "web:1"), image("b", "db:1")};
    runtime.all_containers = {container("c1", "web:1")};
    runtime.all_containers[0].image_id = "a";
    const auto start = clock.wall();
    const auto first = inventory.look();
    ASSERT_THAT(first.runtime->images, SizeIs(2));
    EXPECT_TRUE(first.runtime->images[0].in_use);
    EXPECT_EQ(first.runtime->images[0].last_used, start);
    EXPECT_FALSE(first.runtime->images[1].in_use);
    EXPECT_FALSE(first.runtime->images[1].last_used) << "never used, as far as is known";
    clock.advance(1h);
    runtime.all_containers.clear();
    runtime.all_images.push_back(image("c", "new:1"));
    const auto second = inventory.look();
    EXPECT_FALSE(second.runtime->images[0].in_use);
    EXPECT_EQ(second.runtime->images[0].last_used, start);
    EXPECT_EQ(second.runtime->images[0].first_detected, WallTime{}) << "it was there before";
    EXPECT_EQ(second.runtime->images[2].first_detected, start + 1h);
    EXPECT_EQ(second.runtime->since, first.runtime->at);
    EXPECT_EQ(second.runtime->at - first.runtime->at, 1h);
    EXPECT_EQ(second.runtime->sandbox_image, "pause:1");
    EXPECT_TRUE(second.runtime->whole.images && second.runtime->whole.containers && second.runtime->whole.sandboxes &&
                second.runtime->whole.logs);
    EXPECT_THAT(second.troubles, IsEmpty());
}

TEST_F(RuntimeInventoryTest, AnImageThatComesBackIsANewOne) {
    runtime.all_images = {image("a")};
    (void)inventory.look();
    clock.advance(1h);
    runtime.all_images.clear();
    (void)inventory.look();
    clock.advance(1h);
    runtime.all_images = {image("a")};
    EXPECT_EQ(inventory.look().runtime->images[0].first_detected, clock.wall());
}

TEST_F(RuntimeInventoryTest, WithoutAllContainersEachImageMayBeInUse) {
    runtime.all_images = {image("a")};
    runtime.fails.emplace("containers", unreachable);
    const auto look = inventory.look();
    EXPECT_FALSE(look.runtime->whole.containers);
    EXPECT_FALSE(look.runtime->whole.images) << "a runtime that does not answer is not asked for the rest";
    EXPECT_THAT(look.troubles, SizeIs(1));
    runtime.fails.clear();
    EXPECT_TRUE(inventory.look().runtime->whole.images);
}

TEST_F(RuntimeInventoryTest, AFailedListForgetsNoImage) {
    runtime.all_images = {image("a")};
    (void)inventory.look();
    clock.advance(1h);
    runtime.all_images.push_back(image("b"));
    const auto found = clock.wall();
    (void)inventory.look();
    clock.advance(1h);
    runtime.fails.emplace("images", unreachable);
    EXPECT_FALSE(inventory.look().runtime->whole.images);
    runtime.fails.clear();
    EXPECT_EQ(inventory.look().runtime->images[1].first_detected, found);
}

TEST_F(RuntimeInventoryTest, NoImageGoesUntilTheSandboxesImageIsKnown) {
    runtime.all_images = {image("a")};
    runtime.fails.emplace("sandbox_image", unreachable);
    EXPECT_FALSE(inventory.look().runtime->whole.images);
    runtime.fails.clear();
    EXPECT_TRUE(inventory.look().runtime->whole.images);
}

TEST_F(RuntimeInventoryTest, NoImageGoesUntilItIsKnownWhatIsMounted) {
    runtime.all_images = {image("a", "app:1"), image("b", "data:1")};
    runtime.all_containers = {container("c1", "app:1")};
    runtime.image_volumes = {{"c1", {"data:1"}}};
    runtime.fails.emplace("add_image_volumes", unreachable);
    EXPECT_FALSE(inventory.look().runtime->whole.images);
    runtime.fails.clear();
    const auto now = inventory.look().runtime;
    EXPECT_TRUE(now->whole.images);
    EXPECT_TRUE(now->images[1].last_used);
}

TEST_F(RuntimeInventoryTest, ARuntimeThatIsStartedAgainMayHaveAnotherImageOfSandboxes) {
    runtime.all_images = {image("a")};
    EXPECT_EQ(inventory.look().runtime->sandbox_image, "pause:1");
    runtime.sandbox_image_name = "pause:2";
    EXPECT_EQ(inventory.look().runtime->sandbox_image, "pause:2");
}

TEST_F(RuntimeInventoryTest, LogsAreTheirContainers) {
    auto older = container("old", "web:1");
    auto newer = container("new", "web:1");
    newer.created = older.created + 1h;
    newer.state = ContainerState::running;
    runtime.all_containers = {newer, older};
    logs.all.directories = {"default_web_uid-1"};
    logs.all.links = {{"/links/web-new.log", "new", true}, {"/links/web-gone.log", "gone", true}};
    logs.all.rotated = {{"default_web_uid-1", "app", "/logs/0.log.20261125-150405", 5_MiB}};
    const auto look = inventory.look();
    EXPECT_EQ(look.runtime->log_directories.at(0).name, "default_web_uid-1");
    EXPECT_EQ(look.runtime->log_links.at(0).container, ContainerState::running);
    EXPECT_FALSE(look.runtime->log_links.at(1).container);
    EXPECT_EQ(look.runtime->rotated_logs.at(0).container, "new");
    EXPECT_EQ(look.runtime->rotated_logs.at(0).pod, "uid-1");
    EXPECT_EQ(look.runtime->rotated_logs.at(0).size, 5_MiB);
    logs.all.trouble = "/var/log/pods: Input/output error";
    EXPECT_FALSE(inventory.look().runtime->whole.logs);
}

}  // namespace
}  // namespace evictd::observe
