// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What of images is made of several inventories: since when they are there, when they were used, whether they are.
#include "evictd/model/image_uses.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace evictd {
namespace {

using namespace std::chrono_literals;

// "sha256:" and 64 digits.
std::string image_id(unsigned number) {
    const std::string digits = std::to_string(number);
    return "sha256:" + std::string(64 - digits.size(), '0') + digits;
}

constexpr WallTime noon{std::chrono::hours(1000)};

Runtime inventory_of(const std::vector<unsigned>& images, const std::string& used = "") {
    Runtime runtime;
    for (const unsigned number : images) runtime.images.emplace_back().id = image_id(number);
    if (!used.empty()) runtime.containers.emplace_back().image_ref = used;
    runtime.whole = {.images = true, .sandboxes = true, .containers = true, .logs = true};
    return runtime;
}

TEST(ImageUses, WhatTheFirstInventoryHasIsOldAndNeverUsed) {
    Runtime first = inventory_of({1, 2}, image_id(2));
    first.at = MonotonicTime(5s);
    note_image_uses(nullptr, noon, first);
    EXPECT_EQ(first.since, MonotonicTime(5s));
    EXPECT_EQ(first.images[0].first_detected, WallTime{});
    EXPECT_FALSE(first.images[0].last_used);
    EXPECT_FALSE(first.images[0].in_use);
    EXPECT_EQ(first.images[1].last_used, noon);
    EXPECT_TRUE(first.images[1].in_use);
}

TEST(ImageUses, AreRememberedFromOneToTheNext) {
    Runtime first = inventory_of({1, 2}, image_id(2));
    first.at = MonotonicTime(5s);
    note_image_uses(nullptr, noon, first);
    Runtime second = inventory_of({1, 2, 3});
    second.at = MonotonicTime(65s);
    note_image_uses(&first, noon + 1min, second);
    EXPECT_EQ(second.since, MonotonicTime(5s));
    EXPECT_EQ(second.images[1].last_used, noon) << "until then";
    EXPECT_FALSE(second.images[1].in_use);
    EXPECT_EQ(second.images[2].first_detected, noon + 1min);
    EXPECT_FALSE(second.images[2].last_used);
    Runtime third = inventory_of({3}, image_id(3));
    note_image_uses(&second, noon + 2min, third);
    EXPECT_EQ(third.images[0].first_detected, noon + 1min);
    EXPECT_EQ(third.images[0].last_used, noon + 2min);
}

TEST(ImageUses, TheImageOfSandboxesIsUsed) {
    Runtime runtime = inventory_of({1, 2});
    runtime.images[1].tags = {"pause:3.9"};
    runtime.sandbox_image = "pause:3.9";
    note_image_uses(nullptr, noon, runtime);
    EXPECT_FALSE(runtime.images[0].in_use);
    EXPECT_TRUE(runtime.images[1].in_use);
}

// What runtimes and configurations call the same image.
TEST(ImageUses, TheImageOfSandboxesIsUsedByWhateverNameItHas) {
    const std::string digest = image_id(9);
    for (const std::string& name :
         {std::string("pause:3.9"), std::string("docker.io/library/pause:3.9"), std::string("library/pause:3.9"),
          std::string("index.docker.io/library/pause:3.9"), "pause@" + digest, "docker.io/library/pause@" + digest,
          "pause:3.9@" + digest, "pause:3.9@" + image_id(8), digest, image_id(2), image_id(2).substr(7)}) {
        Runtime runtime = inventory_of({1, 2});
        runtime.images[0].tags = {"registry.k8s.io/pause:3.9", "docker.io/library/pause:3.8"};
        runtime.images[1].tags = {"docker.io/library/pause:3.9"};
        runtime.images[1].digests = {"docker.io/library/pause@" + digest};
        runtime.sandbox_image = name;
        note_image_uses(nullptr, noon, runtime);
        EXPECT_FALSE(runtime.images[0].in_use) << name;
        EXPECT_TRUE(runtime.images[1].in_use) << name;
    }
}

TEST(ImageUses, AContainersImageIsFoundUnderAnotherSpelling) {
    for (const std::string& name : {std::string("app"), "app@" + image_id(9), image_id(9)}) {
        Runtime runtime = inventory_of({1, 2}, name);
        runtime.images[1].tags = {"docker.io/library/app:latest"};
        runtime.images[1].digests = {"docker.io/library/app@" + image_id(9)};
        const ImageUsers users = find_image_users(runtime, {});
        EXPECT_EQ(users.unresolved, nullptr) << name;
        EXPECT_EQ(users.of[0].staying, nullptr) << name;
        EXPECT_EQ(users.of[1].staying, &runtime.containers[0]) << name;
    }
}

TEST(ImageUses, AnExactIdThatIsNotListedIsAUseAndWhatElseIsNamedStays) {
    Runtime runtime = inventory_of({1, 2}, "app:1");
    runtime.images[1].tags = {"app:1"};
    runtime.containers[0].image_id = image_id(7);
    const ImageUsers users = find_image_users(runtime, {});
    EXPECT_EQ(users.unresolved, nullptr);
    EXPECT_FALSE(users.some_untold) << "it is known what it uses";
    EXPECT_EQ(users.of[0].staying, nullptr);
    EXPECT_NE(users.of[1].staying, nullptr);
}

TEST(ImageUses, AnImageThatIsMountedIsUsed) {
    Runtime runtime = inventory_of({1, 2, 3}, image_id(3));
    runtime.images[1].tags = {"docker.io/library/data:1"};
    runtime.containers[0].image_volumes = {"data:1"};
    const ImageUsers users = find_image_users(runtime, {});
    EXPECT_EQ(users.of[0].staying, nullptr);
    EXPECT_EQ(users.of[1].staying, &runtime.containers[0]);
    EXPECT_EQ(users.unresolved, nullptr);
    runtime.containers[0].image_volumes = {"removed:1"};
    EXPECT_EQ(find_image_users(runtime, {}).unresolved, &runtime.containers[0]);
    runtime.containers[0].id = "c1";
    EXPECT_EQ(find_image_users(runtime, {"c1"}).unresolved, nullptr) << "it goes";
}

TEST(ImageUses, WhereItCannotBeToldEveryImageIsInUse) {
    Runtime unnamed = inventory_of({1});
    unnamed.containers.emplace_back();
    note_image_uses(nullptr, noon, unnamed);
    EXPECT_TRUE(unnamed.images[0].in_use);
    EXPECT_FALSE(unnamed.images[0].last_used);
    Runtime by_tag = inventory_of({1, 2}, "app:1");
    by_tag.images[0].tags = {"app:1"};
    note_image_uses(nullptr, noon, by_tag);
    EXPECT_TRUE(by_tag.images[1].in_use) << "the tag may have moved";
    Runtime partial = inventory_of({1});
    partial.whole.containers = false;
    note_image_uses(nullptr, noon, partial);
    EXPECT_TRUE(partial.images[0].in_use);
}

}  // namespace
}  // namespace evictd
