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

const std::string node_with_runtime = R"(
node: {capacity: {nodefs: 100Gi}}
pods:
- {metadata: {name: web, namespace: ns, uid: u1}, spec: {containers: [{name: app}]}, status: {phase: Running}}
- {metadata: {name: job, namespace: ns, uid: u2}, spec: {containers: [{name: app}]}, status: {phase: Succeeded}}
runtime:
  images:
  - {id: i1, size: 1Gi, firstDetected: -24h, lastUsed: -5h, tags: [example/one:1]}
  - {id: i2, size: 1Gi, firstDetected: -24h, lastUsed: -4h}
  - {id: i3, size: 1Gi, firstDetected: -24h, inUse: true}
  sandboxes: [{id: s2, pod: u2, state: notready, created: -3h}]
  containers:
  - {id: c2, pod: u2, name: app, sandbox: s2, created: -2h, image: i3, size: 100Mi}
  - {id: c1, pod: u1, name: app, state: running, created: -2h, image: i4}
  rotatedLogs: [{path: /var/log/pods/ns_web_u1/app/0.log.20261125-150405, container: c1, pod: u1, size: 2Gi}]
steps:
)";

std::string removed(const ordered_json& step) {
    std::string said;
    if (!step.contains("removed")) return said;
    for (const auto& one : step.at("removed")) {
        said += (said.empty() ? "" : ", ") + one.at("kind").get<std::string>() + " " + one.at("id").get<std::string>();
    }
    return said;
}

// What was removed is gone at the next step: nothing is named twice.
TEST(Gc, AReclaimNamesWhatItRemoves) {
    const auto steps =
        play("config: {evictionHard: {nodefs.available: 10Gi}}" + node_with_runtime +
             "- {at: 0s, available: {nodefs.available: 20Gi}, usage: {ns/web: {rootfs: 1Gi}}}\n"
             "- {at: 1m, available: {nodefs.available: 9Gi}, gcFrees: {images: {nodefs.available: 2Gi}}}\n"
             "- {at: 2m, available: {nodefs.available: 9Gi}}\n");
    EXPECT_EQ(removed(steps.at(0)), "");
    EXPECT_EQ(removed(steps.at(1)), "container c2, sandbox s2, image i1, image i2, image i3");
    EXPECT_TRUE(steps.at(1).at("evict").is_null());
    EXPECT_THAT(steps.at(1).at("why").get<std::string>(),
                testing::HasSubstr("1 container, 1 sandbox and 3 images, 3.09Gi"));
    EXPECT_EQ(removed(steps.at(2)), "");
    EXPECT_EQ(steps.at(2).at("evict").at("pod"), "ns/web");
}

TEST(Gc, EnoughTakesRoundsAndThenLogs) {
    const auto steps =
        play("config: {evictionHard: {nodefs.available: 10Gi}, evictd: {gc: {images: enough, logs: truncateRotated}}}" +
             node_with_runtime +
             "- {at: 0s, available: {nodefs.available: 9728Mi}, usage: {ns/web: {rootfs: 1Gi}}}\n"
             "- {at: 1m, available: {nodefs.available: 9728Mi}, usage: {ns/web: {rootfs: 1Gi}}}\n");
    // 512Mi are missing: a round takes the container and one image, which frees nothing here.
    EXPECT_EQ(removed(steps.at(0)),
              "container c2, sandbox s2, image i1, image i2, image i3, "
              "rotated log /var/log/pods/ns_web_u1/app/0.log.20261125-150405");
    EXPECT_EQ(steps.at(0).at("evict").at("pod"), "ns/web");
}

TEST(Gc, RoutineRemovesOnItsOwnPeriods) {
    const auto steps = play("config: {evictd: {gc: {routine: on}}, evictionHard: {}}" + node_with_runtime +
                            "- {at: 0s, available: {nodefs.available: 18Gi}}\n- {at: 5m}\n"
                            "- {at: 6m, available: {nodefs.available: 10Gi}}\n"
                            "- {at: 10m}\n");
    EXPECT_EQ(removed(steps.at(0)), "") << "below 85 %, and of a pod that is known the newest container stays";
    EXPECT_EQ(removed(steps.at(2)), "") << "images are looked at every five minutes";
    EXPECT_EQ(removed(steps.at(3)), "image i1, image i2") << "90 % used";
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
