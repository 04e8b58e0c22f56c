// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Each field of a pod that some decision reads, and what Kubernetes makes of odd values in it.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "pod_objects.hpp"

namespace evictd::kube {
namespace {

using nlohmann::json;

TEST(PodFields, AmountsAreRoundedUpToTheThousandthAsTheApiServerKeepsThem) {
    const auto cpu = [](const char* text) {
        return to_string(*read(with("/spec/containers/0/resources/requests/cpu", text)).containers[0].requests.cpu);
    };
    EXPECT_EQ(cpu("100u"), "1m");
    EXPECT_EQ(cpu("1000001u"), "1001m");
    EXPECT_EQ(cpu("1500m"), "1500m");
    EXPECT_EQ(cpu("0"), "0");
}

TEST(PodFields, VolumesAreEmptyDirsHostPathsOrOthers) {
    const Pod pod = read(with("/spec/volumes", json::parse(R"([
        {"name": "a", "emptyDir": {}}, {"name": "b", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}},
        {"name": "c", "emptyDir": {"medium": "HugePages-2Mi"}}, {"name": "d", "hostPath": {"path": "/"}},
        {"name": "e", "configMap": {"name": "x"}}, {"name": "f", "gitRepo": {"repository": "x"}}, {"name": "g"},
        {"name": "h", "emptyDir": null, "secret": {"secretName": "x"}}, {"hostPath": {"path": "/"}}])")));
    using Kind = VolumeKind;
    const std::vector<Kind> kinds{Kind::empty_dir, Kind::empty_dir, Kind::empty_dir, Kind::host_path, Kind::other,
                                  Kind::other,     Kind::empty_dir, Kind::other,     Kind::host_path};
    ASSERT_EQ(pod.volumes.size(), kinds.size());
    for (std::size_t i = 0; i < kinds.size(); ++i) EXPECT_EQ(pod.volumes[i].kind, kinds[i]) << i;
    EXPECT_FALSE(pod.volumes[0].in_memory || pod.volumes[0].size_limit);
    EXPECT_TRUE(pod.volumes[1].in_memory && pod.volumes[2].in_memory);
    EXPECT_EQ(to_string(*pod.volumes[1].size_limit), "1Gi");
    EXPECT_EQ(pod.volumes[1].name, "b");
}

TEST(PodFields, TolerationsAndOwners) {
    json object = with("/spec/tolerations", json::parse(R"([{"operator": "Exists"},
        {"key": "k", "value": "v", "effect": "NoExecute", "tolerationSeconds": -5}])"));
    object["metadata"]["ownerReferences"] = json::parse(R"([{"apiVersion": "apps/v1", "kind": "ReplicaSet",
        "name": "rs", "uid": "u", "controller": true, "blockOwnerDeletion": true}, {"kind": "Node", "uid": "n"}])");
    const Pod pod = read(object);
    ASSERT_EQ(pod.tolerations.size(), 2);
    EXPECT_EQ(pod.tolerations[0].op, "Exists");
    EXPECT_FALSE(pod.tolerations[0].seconds);
    EXPECT_EQ(pod.tolerations[1].key + pod.tolerations[1].value + pod.tolerations[1].effect, "kvNoExecute");
    EXPECT_EQ(pod.tolerations[1].seconds, -5);
    ASSERT_EQ(pod.owners.size(), 2);
    EXPECT_EQ(pod.owners[0].kind + pod.owners[0].name + pod.owners[0].uid, "ReplicaSetrsu");
    EXPECT_TRUE(pod.owners[0].controller && pod.owners[0].block_owner_deletion);
    EXPECT_FALSE(pod.owners[1].controller || pod.owners[1].block_owner_deletion);
}

TEST(PodFields, NodeNameDeadlinesAndReason) {
    json object = with("/spec/nodeName", "node-1");
    object["spec"]["activeDeadlineSeconds"] = 60;
    object["metadata"]["deletionGracePeriodSeconds"] = 0;
    object["status"] = {{"phase", "Failed"}, {"reason", "Evicted"}};
    const Pod pod = read(object);
    EXPECT_EQ(pod.node_name, "node-1");
    EXPECT_EQ(pod.active_deadline, std::chrono::seconds(60));
    EXPECT_EQ(pod.deletion_grace_period, std::chrono::seconds(0));
    EXPECT_EQ(pod.status_reason, "Evicted");
    EXPECT_FALSE(read(minimal()).active_deadline || read(minimal()).deletion_grace_period);
}

TEST(PodFields, TheGenerationIsUnknownWhereItIsNotGiven) {
    EXPECT_EQ(read(with("/metadata/generation", 7)).generation, 7);
    EXPECT_EQ(read(minimal()).generation, 0);
    EXPECT_NE(fault(with("/metadata/generation", -1)), "none");
}

TEST(PodFields, APodIsReadyByTheFirstConditionOfThatType) {
    const auto pod = [](const char* conditions) { return read(with("/status/conditions", json::parse(conditions))); };
    const Pod ready = pod(R"([{"type": "Initialized", "status": "False"},
        {"type": "Ready", "status": "True", "lastTransitionTime": "1970-01-01T00:01:00Z"},
        {"type": "Ready", "status": "False"}])");
    EXPECT_TRUE(ready.ready);
    EXPECT_EQ(ready.ready_time, WallTime(std::chrono::seconds(60)));
    const Pod timeless = pod(R"([{"type": "Ready", "status": "True", "lastTransitionTime": null}])");
    EXPECT_TRUE(timeless.ready && !timeless.ready_time);
    EXPECT_FALSE(pod(R"([{"type": "Ready", "status": "Unknown"}])").ready);
    EXPECT_FALSE(read(minimal()).ready);
}

TEST(PodFields, TheMostRestartsCountAndOnlySidecarsAmongInitContainers) {
    json object =
        with("/spec/initContainers", json::parse(R"([{"name": "side", "restartPolicy": "Always"}, {"name": "once"}])"));
    object["status"] = json::parse(R"({"containerStatuses": [{"name": "app", "restartCount": 2},
        {"name": "b", "restartCount": 7}, {"name": "c"}], "initContainerStatuses":
        [{"name": "side", "restartCount": 3}, {"name": "once", "restartCount": 9}]})");
    EXPECT_EQ(read(object).restarts, 7);
    EXPECT_EQ(read(object).sidecar_restarts, 3);
}

TEST(PodFields, ContainersHaveTheIdThatTheRuntimeGaveThem) {
    json object = with("/spec/initContainers", json::parse(R"([{"name": "side"}])"));
    object["status"] = json::parse(R"({"containerStatuses": [{"name": "app", "containerID": "containerd://0123"},
        {"name": "stranger", "containerID": "containerd://4567"}], "initContainerStatuses": [{"name": "side"}]})");
    const Pod pod = read(object);
    EXPECT_EQ(pod.containers.at(0).name, "app");
    EXPECT_EQ(pod.containers.at(0).id, "containerd://0123");
    EXPECT_EQ(pod.init_containers.at(0).id, "");
}

TEST(PodFields, ContainersHaveTheImageThatTheyAreToRun) {
    json object =
        with("/spec/initContainers", json::parse(R"([{"name": "side", "image": "mesh:1"}, {"name": "once"}])"));
    object["spec"]["containers"][0]["image"] = "docker.io/library/nginx:1.27";
    const Pod pod = read(object);
    EXPECT_EQ(pod.containers.at(0).image, "docker.io/library/nginx:1.27");
    EXPECT_EQ(pod.init_containers.at(0).image, "mesh:1");
    EXPECT_EQ(pod.init_containers.at(1).image, "");
    object["spec"]["containers"][0]["image"] = std::string(1025, 'x');
    EXPECT_EQ(read(object).containers.at(0).image, "") << "it would be kept, whatever its length";
}

TEST(PodFields, ADeletionCostThatIsNoneIsZero) {
    const std::vector<std::pair<std::string, int>> rows{
        {"10", 10}, {"-10", -10},      {"0", 0},
        {"-0", 0},  {"-08", -8},       {"+10", 0},
        {"08", 0},  {"", 0},           {"many", 0},
        {"1.5", 0}, {"10 ", 0},        {"2147483647", 2147483647},
        {"-", 0},   {"2147483648", 0}, {"-2147483648", -2147483647 - 1}};
    for (const auto& [text, cost] : rows) {
        json object = minimal();
        object["metadata"]["annotations"]["controller.kubernetes.io/pod-deletion-cost"] = text;
        EXPECT_EQ(read(object).deletion_cost, cost) << text;
    }
    EXPECT_EQ(read(minimal()).deletion_cost, 0);
}

TEST(PodFields, GosZeroTimeIsNone) {
    EXPECT_FALSE(read(with("/metadata/creationTimestamp", "0001-01-01T00:00:00Z")).creation_time);
}

TEST(PodSpec, HasNoMoreContainersThanAPodCanRun) {
    json containers = json::array();
    for (int i = 0; i < 1000; ++i) containers.push_back({{"name", "c" + std::to_string(i)}});
    EXPECT_EQ(fault(with("/spec/containers", containers)), "none");
    containers.push_back({{"name", "c0"}});
    EXPECT_EQ(fault(with("/spec/containers", containers)), "spec.containers: has more than 1000 containers");
    EXPECT_EQ(fault(with("/spec/initContainers", containers)), "spec.initContainers: has more than 1000 containers");
}

}  // namespace
}  // namespace evictd::kube
