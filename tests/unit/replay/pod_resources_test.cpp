// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What sidecars and huge pages make of a pod's requests and limits, from the Pod object to the step's line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/replay/play.hpp"

namespace evictd::replay {
namespace {

// GetResourceRequestQuantity, PodLimits, GetContainerOOMScoreAdjust: user namespaces make no difference either.
TEST(Sidecars, CountInRequestsLimitsAndScores) {
    const auto steps = play(R"(
config: {evictionHard: {memory.available: 1Gi}}
node: {capacity: {memory: 8Gi}}
pods:
- metadata: {name: within, uid: u1}
  spec:
    hostUsers: false
    initContainers: [{name: proxy, restartPolicy: Always, resources: {requests: {memory: 64Mi}}}]
    containers: [{name: app, resources: {requests: {memory: 1Gi}}}]
  status: {phase: Running}
- metadata: {name: beyond, uid: u2}
  spec:
    initContainers: [{name: setup, resources: {requests: {memory: 64Mi}}}]
    containers: [{name: app, resources: {requests: {memory: 1Gi}}}]
  status: {phase: Running}
steps:
- at: 0s
  available: {memory.available: 500Mi}
  usage:
    default/within: {memory: 1087Mi, containers: {app: {memory: 1000Mi}, proxy: {memory: 87Mi}}}
    default/beyond: {memory: 1025Mi}
  qos: [default/within, default/beyond]
- {at: 10s}
)");
    EXPECT_EQ(steps.at(0).at("ranking").dump(), R"(["default/beyond","default/within"])") << "1024Mi + 64Mi requested";
    EXPECT_EQ(steps.at(0).at("qos").at("default/within").at("oom_score_adj").dump(), R"({"app":875,"proxy":875})");
    EXPECT_EQ(steps.at(0).at("qos").at("default/beyond").at("oom_score_adj").dump(), R"({"app":875,"setup":993})");
    EXPECT_THAT(steps.at(1).at("evict").at("message").get<std::string>(),
                testing::EndsWith("available: 500Mi. Container proxy was using 87Mi, request is 64Mi, has larger "
                                  "consumption of memory. "));
}

TEST(Sidecars, CountInLimits) {
    const auto steps = play(R"(
config: {evictionHard: {memory.available: 1Gi}}
node: {capacity: {memory: 8Gi}}
pods:
- metadata: {name: a, uid: u1}
  spec:
    initContainers: [{name: proxy, restartPolicy: Always, resources: {limits: {ephemeral-storage: 1Gi}}}]
    containers: [{name: app, resources: {limits: {ephemeral-storage: 3Gi}}}]
  status: {phase: Running}
steps:
- {at: 0s, available: {memory.available: 4Gi}, usage: {default/a: {rootfs: 4Gi, containers: {app: {rootfs: 2Gi}, proxy: {rootfs: 2Gi}}}}}
- {at: 10s, usage: {default/a: {rootfs: 4097Mi}}}
)");
    EXPECT_FALSE(steps.at(0).contains("limit_evictions")) << "a sidecar has no limit of its own";
    EXPECT_EQ(steps.at(1).at("limit_evictions").at(0).at("message"),
              "Pod ephemeral local storage usage exceeds the total limit of containers 4Gi. ");
}

// A pod with huge pages alone at pod level requests nothing there: no storage either, whatever its containers request.
TEST(PodLevelResources, HugePagesAloneLeaveNoStorageRequest) {
    const auto steps = play(R"(
config: {evictionHard: {nodefs.available: 10Gi}}
node: {capacity: {nodefs: 100Gi}}
pods:
- metadata: {name: huge, uid: u1}
  spec:
    resources: {limits: {hugepages-2Mi: 4Mi}}
    containers: [{name: app, resources: {requests: {ephemeral-storage: 5Gi}}}]
  status: {phase: Running}
- metadata: {name: plain, uid: u2}
  spec: {containers: [{name: app, resources: {requests: {ephemeral-storage: 1Gi}}}]}
  status: {phase: Running}
steps:
- {at: 0s, available: {nodefs.available: 5Gi}, usage: {default/huge: {rootfs: 2Gi}, default/plain: {rootfs: 2Gi}}}
)");
    EXPECT_EQ(steps.at(0).at("ranking").dump(), R"(["default/huge","default/plain"])");
}

}  // namespace
}  // namespace evictd::replay
