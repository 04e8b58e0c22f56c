// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What goes of containers, sandboxes and logs, in which order, and why the rest stays.
#include "garbage.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inventory.hpp"

namespace evictd::policy::testing {
namespace {

using ::testing::HasSubstr;

TEST(GarbageContainers, OnlyTheNewestDeadOneOfAContainerStays) {
    Inventory node;
    node.sandbox("s", "web", 4h, true);
    node.container("running", "web", "s", 1h, ContainerState::running);
    node.container("old", "web", "s", 3h);
    node.container("new", "web", "s", 2h);
    EXPECT_EQ(node.goes(), "container old");
    EXPECT_EQ(node.why_gone("old"), "it has exited, and is not the newest of its container");
    EXPECT_EQ(node.why_kept("new"), "it is the newest of its container, and its pod is known");
    EXPECT_EQ(node.why_kept("running"), "it is running");
    EXPECT_EQ(node.why_kept("s"), "it is ready");
    const GarbagePlan plan = node.plan();
    EXPECT_EQ(plan.removals.at(0).name, "default/web/app");
    EXPECT_EQ(plan.removals.at(0).pod.value, "web");
}

// The kubelet removes both; a moment later they may run.
TEST(GarbageContainers, WhatIsOnlyCreatedOrOfUnknownStateStays) {
    Inventory node;
    node.fates["web"] = PodFate::deleted;
    node.sandbox("s", "web", 4h);
    node.container("created", "web", "s", 3h, ContainerState::created);
    node.container("unknown", "web", "s", 2h, ContainerState::unknown);
    node.container("exited", "web", "s", 1h);
    EXPECT_EQ(node.goes(), "container exited");
    EXPECT_EQ(node.why_kept("created"), "it was created and may be started");
    EXPECT_EQ(node.why_kept("unknown"), "the runtime does not know its state");
    EXPECT_EQ(node.why_kept("s"), "container app is in it");
}

TEST(GarbageContainers, ASandboxComesAfterItsContainers) {
    Inventory node;
    node.fates["web"] = PodFate::deleted;
    node.sandbox("s2", "web", 1h);
    node.sandbox("s1", "web", 5h);
    node.container("c1", "web", "s1", 4h);
    node.container("c2", "web", "s2", 50min);
    EXPECT_EQ(node.goes(), "container c1, container c2, sandbox s2, sandbox s1");
    EXPECT_EQ(node.why_gone("s1"), "it is not ready, and its pod is gone");
}

TEST(GarbageContainers, OfAnEndedPodAllGoUnderPressureAndTheNewestStaysOtherwise) {
    Inventory node;
    node.fates["job"] = PodFate::terminated;
    node.sandbox("s", "job", 2h);
    node.container("c", "job", "s", 1h);
    EXPECT_EQ(node.goes(), "container c, sandbox s");
    node.request.forced = false;
    node.request.images = false;
    EXPECT_EQ(node.goes(), "");
    EXPECT_EQ(node.why_kept("s"), "container app is in it");
}

TEST(GarbageContainers, TheNewestSandboxOfAKnownPodStays) {
    Inventory node;
    node.sandbox("old", "web", 5h);
    node.sandbox("new", "web", 1h);
    EXPECT_EQ(node.goes(), "sandbox old");
    EXPECT_EQ(node.why_kept("new"), "it is the newest of its pod, and its pod is known");
}

TEST(GarbageContainers, AnIdThatIsListedTwiceOrEmptyIsNotTouched) {
    Inventory node;
    node.fates["web"] = PodFate::deleted;
    node.sandbox("s", "web", 5h);
    node.sandbox("s", "web", 5h);
    node.container("twice", "web", "x", 4h);
    node.container("twice", "web", "x", 4h, ContainerState::running);
    node.container("", "web", "x", 4h);
    EXPECT_EQ(node.goes(), "");
    EXPECT_EQ(node.why_kept("s"), "the runtime lists its id more than once, or lists none");
    EXPECT_EQ(node.why_kept(""), "the runtime lists its id more than once, or lists none");
}

TEST(GarbageContainers, NothingGoesOfAListThatIsNotWhole) {
    Inventory node;
    node.fates["web"] = PodFate::deleted;
    node.sandbox("s", "web", 5h);
    node.container("c", "web", "s", 4h);
    node.runtime.whole.containers = false;
    EXPECT_EQ(node.goes(), "");
    EXPECT_EQ(node.why_kept("c"), "the list of containers is not complete");
    node.runtime.whole = {.images = true, .sandboxes = false, .containers = true, .logs = true};
    EXPECT_EQ(node.goes(), "");
    EXPECT_EQ(node.why_kept("c"), "the list of sandboxes is not complete");
}

TEST(GarbageContainers, NothingGoesByAnInventoryThatIsTooOld) {
    Inventory node;
    node.fates["web"] = PodFate::deleted;
    node.container("c", "web", "s", 4h);
    node.image(image_id(1));
    node.runtime.log_directories.push_back({"default_web_web"});
    node.runtime.at = inventory_now - longest_inventory_age;
    EXPECT_EQ(node.goes(), "container c, log directory default_web_web, image " + image_id(1));
    node.runtime.at -= 1s;
    EXPECT_EQ(node.goes(), "");
    for (const std::string& id : {std::string("c"), std::string("default_web_web"), image_id(1)}) {
        EXPECT_EQ(node.why_kept(id), "the inventory is 11s old");
    }
}

TEST(GarbageLogs, DirectoriesOfGonePodsGoAfterTheirContainers) {
    Inventory node;
    node.fates["gone"] = PodFate::deleted;
    node.fates["busy"] = PodFate::deleted;
    node.container("c", "gone", "", 4h);
    node.container("running", "busy", "", 4h, ContainerState::running);
    node.runtime.log_directories = {{"default_gone_gone", 3_MiB}, {"default_busy_busy", {}}, {"default_web_web", {}}};
    EXPECT_EQ(node.goes(), "container c, log directory default_gone_gone");
    EXPECT_EQ(node.plan().removals.back().size, 3_MiB);
    EXPECT_EQ(node.why_kept("default_busy_busy"), "container app of its pod is not removed");
    EXPECT_EQ(node.why_kept("default_web_web"), "its pod is known");
}

TEST(GarbageLogs, WhatIsNotTheNameOfADirectoryIsNotTouched) {
    Inventory node;
    for (const char* name : {"", ".", "..", "../etc_gone", "a/b_gone", "/_gone"}) {
        node.runtime.log_directories.push_back({name});
    }
    for (const char* uid : {"", ".", "..", "gone"}) node.fates[uid] = PodFate::deleted;
    EXPECT_EQ(node.goes(), "");
    EXPECT_EQ(node.why_kept("../etc_gone"), "not the name of a directory");
}

TEST(GarbageLogs, ADanglingLinkGoesOnceItsContainerIsDead) {
    Inventory node;
    node.runtime.log_links = {{"/l/dead", true, ContainerState::exited},
                              {"/l/none", true, std::nullopt},
                              {"/l/rotating", true, ContainerState::running},
                              {"/l/good", false, ContainerState::exited}};
    EXPECT_EQ(node.goes(), "log link /l/dead, log link /l/none");
    EXPECT_EQ(node.why_kept("/l/rotating"), "its container may be rotating the log");
    EXPECT_EQ(node.why_kept("/l/good"), "it points to a log");
    node.runtime.whole.containers = false;
    EXPECT_EQ(node.goes(), "");
}

TEST(GarbageRotatedLogs, TheOnesOfTheBiggestContainerGoFirstUntilItIsEnough) {
    Inventory node;
    node.request = {.forced = true,
                    .containers = false,
                    .images = false,
                    .rotated_logs = true,
                    .now = inventory_now,
                    .wall = inventory_wall,
                    .missing = 25_MiB};
    node.runtime.rotated_logs = {{"/p/a/0.log.20261125-150405", "a", "web", 20_MiB},
                                 {"/p/b/0.log.20261125-150406", "b", "db", 12_MiB},
                                 {"/p/b/0.log.20261125-150405.gz", "b", "db", 11_MiB},
                                 {"/p/c/0.log.20261125-150405", "c", "db", 1_MiB}};
    EXPECT_EQ(node.goes(),
              "rotated log /p/b/0.log.20261125-150406, rotated log /p/b/0.log.20261125-150405.gz, "
              "rotated log /p/a/0.log.20261125-150405");
    EXPECT_THAT(node.why_kept("/p/c/0.log.20261125-150405"), HasSubstr("not needed"));
    node.request.missing = 0_B;
    EXPECT_EQ(node.goes(), "");
    node.request.missing.reset();
    EXPECT_EQ(node.plan().removals.size(), 4U);
}

TEST(GarbageRotatedLogs, NoneGoesBeforeItIsMeasuredWhatAllElseHasFreed) {
    Inventory node;
    node.request.rotated_logs = true;
    node.request.missing.reset();
    node.runtime.log_links = {{"/l/dead", true, ContainerState::exited}};
    node.runtime.rotated_logs = {{"/p/a/0.log.20261125-150405", "a", "web", 20_MiB}};
    EXPECT_EQ(node.goes(), "log link /l/dead");
    EXPECT_TRUE(node.plan().more);
    EXPECT_EQ(node.why_kept("/p/a/0.log.20261125-150405"), "goes only if what is removed before is not enough");
}

// The runtime lists neither container any more.
TEST(GarbageRotatedLogs, ContainersWithoutAnIdAreNotTakenForOne) {
    Inventory node;
    node.request.rotated_logs = true;
    node.request.missing = 1_MiB;
    node.runtime.rotated_logs = {{"/p/a/0.log.20261125-150405", "", "web", 20_MiB},
                                 {"/p/b/0.log.20261125-150405", "", "db", 30_MiB},
                                 {"/p/a/0.log.20261125-150406", "", "web", 15_MiB}};
    EXPECT_EQ(node.plan().removals.back().id, "/p/a/0.log.20261125-150405") << "35 MiB are more than 30";
}

TEST(GarbageRotatedLogs, NeverTheLiveFileNorAnyOther) {
    Inventory node;
    node.request.rotated_logs = true;
    for (const char* path : {"/p/a/0.log", "/p/a/0.log.", "/p/a/0.log.gz", "/p/a/0.log.20261125-15040",
                             "/p/a/0.log.20261125-150405.tmp", "/p/a/0.log.20261125-150405/0.log", "/etc/passwd"}) {
        node.runtime.rotated_logs.push_back({path, "a", "web", 1_MiB});
    }
    EXPECT_EQ(node.goes(), "");
    EXPECT_EQ(node.why_kept("/p/a/0.log"), "not the name of a rotated log");
}

TEST(SayGarbage, CountsByKindAndSumsWhatIsKnown) {
    EXPECT_EQ(say_garbage({}), "");
    std::vector<Garbage> garbage(3);
    garbage[2].kind = GarbageKind::sandbox;
    EXPECT_EQ(say_garbage(garbage), "2 containers and 1 sandbox");
    garbage.push_back({GarbageKind::image, "i", "n", {}, 2_MiB, ""});
    EXPECT_EQ(say_garbage(garbage), "2 containers, 1 sandbox and 1 image, 2Mi");
    garbage.push_back({GarbageKind::cgroup, "/kubepods/poda", "n", {"a"}, {}, ""});
    EXPECT_EQ(say_garbage(garbage), "2 containers, 1 sandbox, 1 image and 1 cgroup, 2Mi");
    for (Garbage& one : garbage) one.size = Bytes{INT64_MAX};
    EXPECT_EQ(bytes_of(garbage).value, INT64_MAX);
}

}  // namespace
}  // namespace evictd::policy::testing
