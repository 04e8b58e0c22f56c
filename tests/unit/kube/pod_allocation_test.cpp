// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the kubelet has allocated, over the spec: one rule of updatePodFromAllocation a test.
#include "kube/pod_allocation.hpp"

#include <gtest/gtest.h>

#include "pod_objects.hpp"

namespace evictd::kube {
namespace {

const PodRules of_kubelet{.source = {}, .origin = {}, .status_from_kubelet = true};

Pod allocated(const json& object) {
    auto pod = pod_from_json(object, of_kubelet);
    EXPECT_TRUE(pod) << pod.error().text();
    return pod ? *pod : Pod{};
}

json requesting(const json& requests) { return with("/spec/containers/0/resources/requests", requests); }

json with_allocated(json object, const json& resources) {
    object["status"]["containerStatuses"] = json::array({{{"name", "app"}, {"allocatedResources", resources}}});
    return object;
}

std::string text_of(const std::optional<Quantity>& quantity) { return quantity ? to_string(*quantity) : "none"; }

TEST(PodAllocation, ReplacesTheRequestsThatItNames) {
    const json object = requesting({{"cpu", "1"}, {"memory", "2Gi"}, {"ephemeral-storage", "1Gi"}});
    const Pod pod = allocated(with_allocated(object, {{"cpu", "1"}, {"memory", "256Mi"}}));
    EXPECT_EQ(text_of(pod.containers[0].requests.memory), "256Mi");
    EXPECT_EQ(text_of(pod.containers[0].requests.cpu), "1");
    EXPECT_EQ(text_of(pod.containers[0].requests.ephemeral_storage), "1Gi");
    EXPECT_EQ(text_of(allocated(object).containers[0].requests.memory), "2Gi") << "nothing is told";
    json other = with_allocated(object, {{"memory", "256Mi"}});
    other["status"]["containerStatuses"][0]["name"] = "other";
    EXPECT_EQ(text_of(allocated(other).containers[0].requests.memory), "2Gi") << "no container of the pod";
}

TEST(PodAllocation, ComesAfterTheDefaults) {
    json object = with("/spec/containers/0/resources/limits/memory", "2Gi");
    EXPECT_EQ(text_of(allocated(with_allocated(object, {{"memory", "1Gi"}})).containers[0].requests.memory), "1Gi");
    object["spec"]["resources"]["limits"]["cpu"] = 1;
    const Pod pod = allocated(with_allocated(object, {{"memory", "1Gi"}}));
    EXPECT_EQ(text_of(pod.requests.memory), "2Gi") << "the sum of what the spec requests";
}

TEST(PodAllocation, OfInitContainersAndSidecarsIsTold) {
    json object = with("/spec/initContainers", json::parse(R"([{"name": "proxy", "restartPolicy": "Always",
        "resources": {"requests": {"memory": "100Mi"}}}, {"name": "setup"}])"));
    object["status"]["initContainerStatuses"] = json::parse(R"([{"name": "setup", "allocatedResources": {"memory": 1}},
        {"name": "proxy", "allocatedResources": {"memory": "64Mi"}}])");
    const Pod pod = allocated(object);
    EXPECT_EQ(text_of(pod.init_containers[0].requests.memory), "64Mi");
    EXPECT_EQ(text_of(pod.init_containers[1].requests.memory), "1");
}

TEST(PodAllocation, OfThePodCountsWithPodLevelResourcesAlone) {
    json object = requesting({{"memory", "1Gi"}});
    object["status"]["allocatedResources"] = {{"memory", "4Gi"}};
    EXPECT_FALSE(allocated(object).requests.memory) << "only a sum";
    object["spec"]["resources"]["requests"] = {{"memory", "2Gi"}};
    EXPECT_EQ(text_of(allocated(object).requests.memory), "4Gi");
}

TEST(PodAllocation, EqualByValueKeepsTheSpecsSpelling) {
    const json object = requesting({{"cpu", "1"}, {"memory", "1.250G"}});
    const Pod same = allocated(with_allocated(object, {{"cpu", "1000m"}, {"memory", "1250M"}}));
    EXPECT_EQ(text_of(same.containers[0].requests.memory), "1.250G");
    EXPECT_FALSE(same.qos);
    const Pod other = allocated(with_allocated(object, {{"cpu", "2"}, {"memory", "1250M"}}));
    EXPECT_EQ(text_of(other.containers[0].requests.memory), "1250M") << "the allocation is taken as a whole";
}

TEST(PodAllocation, ActualResourcesAreNotRead) {
    json object = requesting({{"memory", "1Gi"}});
    object["status"]["resources"]["requests"]["memory"] = "3Gi";
    object["status"]["containerStatuses"] =
        json::array({{{"name", "app"}, {"resources", {{"requests", {{"memory", "2Gi"}}}}}}});
    EXPECT_EQ(text_of(allocated(object).containers[0].requests.memory), "1Gi");
    EXPECT_FALSE(allocated(object).requests.memory);
}

TEST(PodAllocation, TheClassIsTheStatussElseTheSpecs) {
    json object = with("/spec/containers/0/resources/limits", {{"cpu", 1}, {"memory", "1Gi"}});
    EXPECT_FALSE(allocated(object).qos) << "as requests and limits say";
    object = with_allocated(object, {{"memory", "512Mi"}});
    EXPECT_EQ(allocated(object).qos, QosClass::guaranteed) << "not as the allocation says";
    object["status"]["qosClass"] = "BestEffort";
    EXPECT_EQ(allocated(object).qos, QosClass::best_effort);
    object["status"]["qosClass"] = "";
    EXPECT_EQ(allocated(object).qos, QosClass::guaranteed);
    object["status"]["qosClass"] = "Best";
    const auto refused = pod_from_json(object, of_kubelet);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().key, "status.qosClass");
}

// Its author writes the status as well: requests beyond limits, or the score of a class that the spec does not have.
TEST(PodAllocation, AManifestsStatusGrantsNothing) {
    json object = requesting({{"memory", "1Gi"}});
    object["spec"]["resources"]["requests"] = {{"memory", "2Gi"}};
    object = with_allocated(object, {{"memory", "64Gi"}});
    object["status"]["allocatedResources"] = {{"memory", "64Gi"}};
    object["status"]["qosClass"] = "Guaranteed";
    const Pod pod = read(object);
    EXPECT_EQ(text_of(pod.containers[0].requests.memory), "1Gi");
    EXPECT_EQ(text_of(pod.requests.memory), "2Gi");
    EXPECT_FALSE(pod.qos);
    object["status"]["containerStatuses"][0]["allocatedResources"]["memory"] = "lots";
    EXPECT_TRUE(pod_from_json(object)) << "what is not read is no fault";
}

TEST(PodLevelResources, EmptyOnesAreSet) {
    EXPECT_FALSE(read(minimal()).has_resources);
    EXPECT_FALSE(read(with("/spec/resources", nullptr)).has_resources);
    EXPECT_TRUE(read(with("/spec/resources", json::object())).has_resources);
}

TEST(PodLevelResources, HugePagesFillInRequestsOfCpuAndMemory) {
    const json container = {{"requests", {{"memory", "1Gi"}}}, {"limits", {{"hugepages-2Mi", "4Mi"}}}};
    const auto defaulted = [&](const json& of_pod) {
        json object = with("/spec/containers/0/resources", container);
        object["spec"]["resources"] = of_pod;
        return read(object);
    };
    const Pod huge = defaulted({{"limits", {{"hugepages-1Gi", "1Gi"}}}});
    EXPECT_TRUE(huge.limits.hugepages);
    EXPECT_EQ(text_of(huge.requests.memory), "1Gi");
    const Pod any = defaulted({{"requests", {{"cpu", 1}}}});
    EXPECT_TRUE(any.limits.hugepages) << "the container's have become the pod's";
    EXPECT_EQ(text_of(any.requests.memory), "1Gi");
    EXPECT_EQ(text_of(any.requests.cpu), "1");
    const Pod empty = defaulted(json::object());
    EXPECT_FALSE(empty.limits.hugepages || empty.requests.memory);
    EXPECT_FALSE(has_pod_level_resources(empty));
    json without = with("/spec/resources/requests/cpu", 1);
    EXPECT_FALSE(read(without).requests.memory) << "no limit, and no huge pages";
}

TEST(PodLevelResources, HugePagesAreQuantities) {
    EXPECT_EQ(fault(with("/spec/containers/0/resources/limits", {{"hugepages-2Mi", "lots"}})).substr(0, 50),
              "spec.containers[0].resources.limits.hugepages-2Mi:");
}

}  // namespace
}  // namespace evictd::kube
