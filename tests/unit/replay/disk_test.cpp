// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Filesystems: which signal reads as which, what a reclaim gives back, and limits of a pod's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/replay/play.hpp"

namespace evictd::replay {
namespace {

using nlohmann::ordered_json;

std::string disk_node(const std::string& hard, const std::string& node, const std::string& steps) {
    return "config: {evictionHard: {" + hard + "}}\nnode: {" + node + "}\n" + R"(
pods:
- {metadata: {name: a}, spec: {containers: [{name: c}], volumes: [{name: disk, emptyDir: {}}, {name: ram, emptyDir: {medium: Memory}}]}}
- {metadata: {name: b}, spec: {containers: [{name: c}, {name: d}]}}
steps:
)" + steps;
}

std::vector<std::string> met(const ordered_json& step) {
    std::vector<std::string> names;
    for (const auto& threshold : step.at("thresholds_met")) names.push_back(threshold.at("signal"));
    return names;
}

TEST(Disk, OnOneFilesystemImagefsAndContainerfsReadAsNodefsUnlessGiven) {
    const auto steps = play(disk_node("imagefs.available: 10Gi", "capacity: {nodefs: 100Gi}",
                                      "- {at: 0s, available: {nodefs.available: 5Gi}}\n"
                                      "- {at: 1s, available: {imagefs.available: 50Gi}}\n"
                                      "- {at: 2s, available: {imagefs.available: null}}\n"));
    EXPECT_THAT(met(steps.at(0)), testing::ElementsAre("imagefs.available"));
    EXPECT_THAT(met(steps.at(1)), testing::IsEmpty());
    EXPECT_THAT(met(steps.at(2)), testing::IsEmpty());
}

TEST(Disk, APercentageIsTakenOfTheCapacityThatIsReadToo) {
    const auto steps = play(disk_node("imagefs.available: 10%", "capacity: {nodefs: 100Gi}",
                                      "- {at: 0s, available: {nodefs.available: 9Gi}}\n"
                                      "- {at: 1s, available: {nodefs.available: 11Gi}}\n"));
    EXPECT_THAT(met(steps.at(0)), testing::ElementsAre("imagefs.available"));
    EXPECT_THAT(met(steps.at(1)), testing::IsEmpty());
}

TEST(Disk, WhatReadsAsNodefsHasItsCapacityWhateverElseIsNamed) {
    const auto steps = play(disk_node("imagefs.available: 10%", "capacity: {nodefs: 100Gi, imagefs: 10Gi}",
                                      "- {at: 0s, available: {nodefs.available: 9Gi}}\n"
                                      "- {at: 1s, available: {imagefs.available: 2Gi}}\n"));
    EXPECT_THAT(met(steps.at(0)), testing::ElementsAre("imagefs.available"));
    EXPECT_THAT(met(steps.at(1)), testing::IsEmpty());
}

TEST(Disk, ADedicatedFilesystemReadsAsNothingElse) {
    const auto steps = play(disk_node("imagefs.available: 10Gi", "dedicatedImageFs: true",
                                      "- {at: 0s, available: {nodefs.available: 5Gi}}\n"));
    EXPECT_THAT(met(steps.at(0)), testing::IsEmpty());
}

TEST(Disk, DerivedContainerfsThresholdsAppearLikeAnyOther) {
    const auto steps = play(disk_node("nodefs.available: 10Gi", "capacity: {nodefs: 100Gi}",
                                      "- {at: 0s, available: {nodefs.available: 5Gi}}\n"));
    EXPECT_THAT(met(steps.at(0)), testing::ElementsAre("nodefs.available", "containerfs.available"));
}

TEST(Disk, AReclaimThatIsEnoughEvictsNoPodAndLastsUntilAvailableChanges) {
    const auto steps =
        play(disk_node("nodefs.available: 10Gi", "capacity: {nodefs: 100Gi}",
                       "- at: 0s\n"
                       "  available: {nodefs.available: 5Gi}\n"
                       "  gcFrees: {containers: {nodefs.available: 1Gi}, images: {nodefs.available: 4Gi}}\n"
                       "- {at: 1s}\n"
                       "- {at: 2s, available: {nodefs.available: 9Gi}}\n"));
    EXPECT_EQ(steps.at(0).at("reclaim").dump(), R"(["containers","images"])");
    EXPECT_TRUE(steps.at(0).at("evict").is_null());
    EXPECT_THAT(met(steps.at(0)), testing::ElementsAre("nodefs.available", "containerfs.available"));
    EXPECT_FALSE(steps.at(1).contains("reclaim"));
    EXPECT_THAT(met(steps.at(1)), testing::IsEmpty());
    EXPECT_FALSE(steps.at(2).at("evict").is_null()) << "nothing is freed any more, so a pod goes";
}

TEST(Disk, OnlyWhatThePolicyAsksForIsFreed) {
    const auto steps = play(disk_node("nodefs.available: 10Gi", "dedicatedImageFs: true, dedicatedContainerFs: true",
                                      "- at: 0s\n"
                                      "  available: {nodefs.available: 5Gi}\n"
                                      "  gcFrees: {images: {nodefs.available: 50Gi}}\n"));
    EXPECT_EQ(steps.at(0).at("reclaim").dump(), R"(["containers"])");
    EXPECT_FALSE(steps.at(0).at("evict").is_null());
}

TEST(Disk, WhatContainersAndVolumesUseAddsUpToThePod) {
    const auto steps = play(disk_node("nodefs.available: 10Gi", "capacity: {nodefs: 100Gi}",
                                      "- at: 0s\n"
                                      "  available: {nodefs.available: 5Gi}\n"
                                      "  usage:\n"
                                      "    default/a: {emptyDirs: {disk: 2Gi, ram: 50Gi}, hostPath: 1Gi}\n"
                                      "    default/b: {containers: {c: {rootfs: 1Gi, logs: 1Gi}, d: {rootfs: 2Gi}}}\n"
                                      "- at: 1s\n"
                                      "  available: {nodefs.available: 5Gi}\n"));
    EXPECT_EQ(steps.at(0).at("ranking").dump(), R"(["default/b","default/a"])") << "4Gi against 3Gi; memory is no disk";
}

TEST(Disk, LimitEvictionsComeInsteadOfARankedOneAndThereMayBeSeveral) {
    const auto steps = play(R"(
config: {evictionHard: {memory.available: 1Gi}}
pods:
- {metadata: {name: a}, spec: {containers: [{name: c}], volumes: [{name: cache, emptyDir: {sizeLimit: 1Gi}}]}}
- {metadata: {name: b}, spec: {containers: [{name: c, resources: {limits: {ephemeral-storage: 1Gi}}}]}}
- {metadata: {name: c}, spec: {containers: [{name: c}]}}
steps:
- at: 0s
  available: {memory.available: 1Mi}
  usage: {default/a: {emptyDirs: {cache: 2Gi}}, default/b: {rootfs: 2Gi}, default/c: {memory: 1Gi}}
  evictionFails: [default/b]
- {at: 1s}
)");
    const auto& limits = steps.at(0).at("limit_evictions");
    EXPECT_EQ(limits.at(0).dump(),
              R"({"pod":"default/a","message":"Usage of EmptyDir volume \"cache\" exceeds the limit \"1Gi\". "})");
    EXPECT_EQ(limits.at(1).at("pod"), "default/b");
    EXPECT_EQ(limits.at(1).at("failed"), true);
    EXPECT_TRUE(steps.at(0).at("evict").is_null());
    EXPECT_TRUE(steps.at(0).at("ranking").is_null());
}

TEST(Gc, AnswersOnlyWhatIsAskedAndChangesNothing) {
    const auto steps = play(R"(
pods: [{metadata: {name: a, uid: uid-1}, spec: {containers: [{name: app}]}, status: {phase: Running}}]
runtime:
  sandboxImage: sha256:pause
  images:
  - {id: sha256:a, size: 10Gi, firstDetected: -2h, lastUsed: -1h}
  - {id: sha256:b, size: 10Gi, firstDetected: -2h, lastUsed: -1h, inUse: true}
  sandboxes:
  - {id: s0, pod: nobody, state: notready, created: -2h}
  - {id: s1, pod: uid-1, state: ready, created: -1h}
  containers:
  - {id: c1, pod: uid-1, name: app, sandbox: s1, state: exited, created: -2h}
  - {id: c2, pod: uid-1, name: app, sandbox: s1, state: exited, created: -1h}
  - {id: c3, pod: uid-1, name: app, sandbox: s1, state: running, created: -30m}
steps:
- {at: 0s, gc: {images: {capacity: 100Gi, available: 15Gi}}}
- {at: 1s, gc: {images: {capacity: 100Gi, available: 1Gi}, containers: {maxPerPodContainer: 1}}}
- {at: 2s}
)");
    EXPECT_EQ(steps.at(0).at("gc").dump(), R"({"images":["sha256:a"]})");
    EXPECT_EQ(steps.at(1).at("gc").at("images").dump(), R"(["sha256:a"])");
    EXPECT_EQ(steps.at(1).at("gc").at("containers").dump(), R"(["c1"])");
    EXPECT_EQ(steps.at(1).at("gc").at("sandboxes").dump(), R"(["s0"])");
    EXPECT_THAT(
        steps.at(1).at("gc").at("error").get<std::string>(),
        testing::StartsWith("Insufficient free disk space on the node's image filesystem (99% of 100.0 GiB used)"));
    EXPECT_FALSE(steps.at(2).contains("gc"));
}

TEST(Gc, PodsAndRemainsAreCollectedAsThePodGarbageCollectorWould) {
    const auto steps = play(R"(
pods:
- {metadata: {name: a, creationTimestamp: "2025-12-01T00:00:00Z"}, spec: {nodeName: here, containers: [{name: c}]}, status: {phase: Failed}}
- {metadata: {name: b, creationTimestamp: "2025-12-02T00:00:00Z"}, spec: {nodeName: here, containers: [{name: c}]}, status: {phase: Failed, reason: Evicted}}
runtime:
  sandboxes: [{id: s0, pod: nobody, state: notready, created: -2h}]
steps:
- {at: 0s, gc: {pods: {terminatedThreshold: 1}}}
- {at: 40s, gc: {pods: {terminatedThreshold: 1}}}
)");
    EXPECT_EQ(steps.at(0).at("gc").dump(), R"({"pods":["default/b"],"remains":[]})") << "evicted ones first";
    EXPECT_EQ(steps.at(1).at("gc").dump(), R"({"pods":["default/b"],"remains":["s0"]})") << "after the quarantine";
}

}  // namespace
}  // namespace evictd::replay
