// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kube/pod_object.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "document/value.hpp"
#include "pod_objects.hpp"

namespace evictd::kube {
namespace {

using nlohmann::json;

TEST(PodJson, WhatIsLeftOutGetsTheApiServersDefaults) {
    const Pod pod = read(minimal());
    EXPECT_EQ(pod.full_name(), "default/web");
    EXPECT_EQ(pod.termination_grace_period.count(), 30);
    EXPECT_EQ(pod.origin, PodOrigin::api);
    EXPECT_EQ(pod.phase, PodPhase::pending);
    EXPECT_FALSE(pod.priority || pod.creation_time || pod.start_time || pod.deletion_time);
    EXPECT_FALSE(pod.containers[0].requests.memory);
}

TEST(PodJson, ARequestLeftOutIsItsLimit) {
    const Pod pod = read(with("/spec/containers/0/resources",
                              {{"limits", {{"cpu", 0.5}, {"memory", "1Gi"}}}, {"requests", {{"memory", "64Mi"}}}}));
    EXPECT_EQ(pod.containers[0].requests.cpu->milli_value(), 500);
    EXPECT_EQ(pod.containers[0].requests.memory->value(), 64 << 20);
    EXPECT_EQ(pod.containers[0].limits.memory->value(), 1 << 30);
    EXPECT_FALSE(pod.containers[0].requests.ephemeral_storage);
}

TEST(PodJson, QuantitiesMayBeNumbersOfAnyForm) {
    for (const json& value : {json(1024), json("1Ki"), json(1024.0), json("1024"), json(1.024e3)})
        EXPECT_EQ(
            read(with("/spec/containers/0/resources/requests/memory", value)).containers[0].requests.memory->value(),
            1024)
            << value;
}

TEST(PodJson, NullIsAbsent) {
    json object = with("/metadata/creationTimestamp", nullptr);
    object["status"] = nullptr;
    object["spec"]["initContainers"] = nullptr;
    EXPECT_FALSE(read(object).creation_time);
}

TEST(PodJson, AnInitContainerThatAlwaysRestartsIsASidecar) {
    const Pod pod = read(
        with("/spec/initContainers", json::array({{{"name", "a"}, {"restartPolicy", "Always"}}, {{"name", "b"}}})));
    EXPECT_TRUE(pod.init_containers[0].restartable);
    EXPECT_FALSE(pod.init_containers[1].restartable);
}

TEST(PodJson, CriticalClassesHaveTheirPriorityWithoutAdmission) {
    EXPECT_EQ(read(with("/spec/priorityClassName", "system-node-critical")).priority, 2'000'001'000);
    EXPECT_EQ(read(with("/spec/priorityClassName", "system-cluster-critical")).priority, 2'000'000'000);
    EXPECT_FALSE(read(with("/spec/priorityClassName", "mine")).priority);
    json both = with("/spec/priorityClassName", "system-node-critical");
    both["spec"]["priority"] = 7;
    EXPECT_EQ(read(both).priority, 7);
}

TEST(PodJson, AnnotationsTellWhereThePodCameFrom) {
    const auto origin = [](const char* key, const char* value) {
        json object = minimal();
        object["metadata"]["annotations"][key] = value;
        return read(object).origin;
    };
    EXPECT_EQ(origin("kubernetes.io/config.source", "file"), PodOrigin::static_file);
    EXPECT_EQ(origin("kubernetes.io/config.source", "http"), PodOrigin::static_file);
    EXPECT_EQ(origin("kubernetes.io/config.source", "api"), PodOrigin::api);
    EXPECT_EQ(origin("kubernetes.io/config.mirror", "abc"), PodOrigin::mirror);
    EXPECT_EQ(pod_from_json(minimal(), {.origin = PodOrigin::static_file})->origin, PodOrigin::static_file);
}

TEST(PodJson, APodsOwnClaimsGrantNothingWhereItsSourceIsKnown) {
    const PodRules from_manifests{.origin = PodOrigin::api};
    json object = minimal();
    object["metadata"]["annotations"] = {{"kubernetes.io/config.source", "file"},
                                         {"kubernetes.io/config.mirror", "cafe"},
                                         {"kubernetes.io/config.hash", "cafe"}};
    EXPECT_EQ(pod_from_json(object, from_manifests)->origin, PodOrigin::api);
    EXPECT_EQ(pod_from_json(object, from_manifests)->uid.value, "uid-1") << "with a uid of its own it is no mirror";
    object["metadata"].erase("uid");
    EXPECT_EQ(pod_from_json(object, from_manifests)->origin, PodOrigin::mirror);
    EXPECT_EQ(pod_from_json(object, from_manifests)->uid.value, "cafe");
    EXPECT_EQ(pod_from_json(object, {.origin = PodOrigin::static_file})->origin, PodOrigin::static_file);
}

TEST(PodJson, TheHashIsTheUidOfStaticAndMirrorPods) {
    json object = minimal();
    object["metadata"]["annotations"] = {{"kubernetes.io/config.hash", "cafe"}};
    EXPECT_EQ(read(object).uid.value, "uid-1") << "an ordinary pod has its own";
    object["metadata"]["annotations"]["kubernetes.io/config.mirror"] = "cafe";
    EXPECT_EQ(read(object).uid.value, "cafe") << "a mirror pod's cgroup is that of the static pod";
    object["metadata"].erase("uid");
    object["metadata"]["annotations"].erase("kubernetes.io/config.mirror");
    EXPECT_EQ(read(object).uid.value, "cafe");
    object["metadata"].erase("annotations");
    EXPECT_EQ(fault(object), "metadata.uid: missing");
    EXPECT_NE(pod_from_json(object).error().remedy.find("kubernetes.io/config.hash"), std::string::npos);
}

TEST(PodJson, AUidThatCouldLeaveItsDirectoryIsRefused) {
    for (const std::string& uid :
         std::vector<std::string>{"..", "a/b", "../x", "a.b", "a_b", "-a", "a-", " a", "a\nb", std::string(64, 'a')})
        EXPECT_EQ(fault(with("/metadata/uid", uid)).substr(0, 27), "metadata.uid: invalid uid \"") << uid;
    EXPECT_EQ(fault(with("/metadata/uid", "5d1f9c1e-7f5b-4c5c-9a55-1c2b3a4d5e6f")), "none");
}

TEST(PodJson, NamesAreDnsNames) {
    for (const std::string& name :
         std::vector<std::string>{"", "Web", "-web", "web.", "a..b", "a/b", std::string(254, 'a')})
        EXPECT_EQ(fault(with("/metadata/name", name)).substr(0, 29), "metadata.name: invalid name \"") << name;
    EXPECT_EQ(fault(with("/metadata/name", "web.v1-2")), "none");
    EXPECT_EQ(fault(with("/metadata/namespace", "a.b")), "metadata.namespace: invalid name \"a.b\"");
    EXPECT_EQ(fault(with("/spec/containers/0/name", "A")), "spec.containers[0].name: invalid name \"A\"");
    json object = minimal();
    object["metadata"].erase("name");
    EXPECT_EQ(fault(object), "metadata.name: missing");
}

TEST(PodJson, FaultsNameTheField) {
    const auto memory = "/spec/containers/0/resources/requests/memory";
    EXPECT_EQ(fault(with(memory, "64Mb")).substr(0, 46), "spec.containers[0].resources.requests.memory: ");
    EXPECT_EQ(fault(with(memory, "-1")), "spec.containers[0].resources.requests.memory: must not be negative: -1");
    EXPECT_EQ(whole_fault(with(memory, true)),
              "spec.containers[0].resources.requests.memory: invalid value \"true\" (expected a quantity such as 500m, "
              "64Mi or 2)");
    EXPECT_EQ(fault(with("/spec/containers/0/resources", {{"requests", {{"cpu", 2}}}, {"limits", {{"cpu", 1}}}})),
              "spec.containers[0].resources.requests.cpu: must be less than or equal to the cpu limit of 1");
    EXPECT_EQ(whole_fault(with("/spec/priority", "high")),
              "spec.priority: invalid value \"high\" (expected a whole number from -2147483648 to 2147483647)");
    EXPECT_EQ(whole_fault(with("/spec/priority", 1LL << 31)),
              "spec.priority: invalid value \"2147483648\" (expected a whole number from -2147483648 to 2147483647)");
    EXPECT_EQ(whole_fault(with("/spec/containers", {{"name", "app"}})),
              "spec.containers: found a map (expected a list)");
    EXPECT_EQ(fault(with("/spec/containers", json::array())), "spec.containers: missing or empty");
    EXPECT_EQ(fault(with("/spec/containers/1", {{"name", "app"}})), "spec.containers[1].name: used twice: \"app\"");
    EXPECT_EQ(whole_fault(with("/spec/containers/0", 5)), "spec.containers[0]: invalid value \"5\" (expected a map)");
    EXPECT_EQ(whole_fault(with("/metadata/annotations", {{"a", 1}})),
              "metadata.annotations.a: invalid value \"1\" (expected text: put it in quotes)");
    EXPECT_EQ(whole_fault(with("/metadata/name", 5)),
              "metadata.name: invalid value \"5\" (expected text: put it in quotes)");
    EXPECT_EQ(fault(with("/metadata/creationTimestamp", "today")),
              "metadata.creationTimestamp: invalid time \"today\"");
    EXPECT_EQ(whole_fault(with("/status/phase", "Zombie")),
              "status.phase: invalid value \"Zombie\" (expected Pending, Running, Succeeded, Failed or Unknown)");
    EXPECT_EQ(fault(with("/kind", "Service")), "kind: unsupported kind \"Service\"");
    EXPECT_EQ(fault(with("/apiVersion", "v2")), "apiVersion: unsupported apiVersion \"v2\"");
    EXPECT_EQ(whole_fault(json::array()), ": found a list (expected a map)");
}

std::vector<std::string> all_faults(std::string_view text) {
    document::Reading reading(document::parse_one(text, "p.yaml", document::manifest_limits), "p.yaml");
    EXPECT_FALSE(read_pod(reading.root()));
    std::vector<std::string> keys;
    for (const auto& fault : reading.take_faults()) keys.push_back(fault.key + ": " + fault.what);
    return keys;
}

TEST(Pod, EveryFaultIsReportedAndNoneThatFollowsFromAnother) {
    using testing::ElementsAre;
    EXPECT_THAT(all_faults("metadata: {name: A, uid: a}\n"
                           "spec: {priority: high, containers: [{resources: {requests: {memory: 5Gx}}}]}\n"),
                testing::UnorderedElementsAre(
                    "metadata.name: invalid name \"A\"", testing::StartsWith("spec.priority: invalid value"),
                    "spec.containers[0].name: missing",
                    "spec.containers[0].resources.requests.memory: invalid quantity \"5Gx\""));
    EXPECT_THAT(all_faults("kind: Pod\n"), ElementsAre("metadata: missing", "spec: missing"));
    EXPECT_THAT(all_faults("metadata: 5\nspec: []\n"),
                ElementsAre("metadata: invalid value \"5\"", "spec: found a list"));
    EXPECT_THAT(all_faults("apiVersion: apps/v1\nkind: Deployment\nspec: {replicas: 1}\n"),
                ElementsAre("apiVersion: unsupported apiVersion \"apps/v1\"", "kind: unsupported kind \"Deployment\""));
}

TEST(Pod, NoMoreThanEightFaultsOfOneAreReported) {
    std::string text = "metadata: {name: a, uid: a}\nspec:\n  containers:\n";
    for (int i = 0; i < 20; ++i) text += "  - {name: X" + std::to_string(i) + "}\n";
    EXPECT_EQ(all_faults(text).size(), 8U);
}

TEST(PodJson, ForeignTextIsHarmlessInMessages) {
    EXPECT_EQ(fault(with("/metadata/name", "a\x1b[31m\n\xc3\xa4" + std::string(100, 'b'))),
              "metadata.name: invalid name \"a\\x1b[31m\\x0a\\xc3\\xa4" + std::string(71, 'b') + "...\"");
}

TEST(PodJson, GracePeriodsStayWithinReason) {
    const auto grace = [](const json& value) {
        return read(with("/spec/terminationGracePeriodSeconds", value)).termination_grace_period.count();
    };
    EXPECT_EQ(grace(0), 0);
    EXPECT_EQ(grace(-5), 1);
    EXPECT_EQ(grace(1LL << 62), 2147483647);
}

TEST(PodJson, PodLevelRequestsComeFromTheContainersElseFromThePodsLimits) {
    json object = minimal();
    object["spec"]["resources"]["limits"] = {{"memory", "1Gi"}, {"cpu", 4}};
    object["spec"]["containers"] = json::parse(R"([{"name": "a", "resources": {"requests": {"memory": "100Mi"}}},
                                                    {"name": "b", "resources": {"limits": {"memory": "50Mi"}}}])");
    object["spec"]["initContainers"] = json::parse(
        R"([{"name": "s", "restartPolicy": "Always", "resources": {"requests": {"memory": "20Mi"}}},
            {"name": "i", "resources": {"requests": {"memory": "200Mi"}}}])");
    const Pod pod = read(object);
    EXPECT_EQ(pod.requests.memory->value(), 220 << 20) << "the init container beside the sidecar is the peak";
    EXPECT_EQ(pod.requests.cpu->value(), 4) << "nobody asks for cpu: the pod's limit";
    EXPECT_FALSE(read(minimal()).requests.memory);
}

TEST(PodJson, AnInitContainersRequestIsItsLimitToo) {
    const Pod pod =
        read(with("/spec/initContainers/0", {{"name", "i"}, {"resources", {{"limits", {{"memory", "1Gi"}}}}}}));
    EXPECT_EQ(pod.init_containers[0].requests.memory->value(), 1 << 30);
}

TEST(PodJson, WhereNothingIsDoneToAPodItMayBeUnusual) {
    const PodRules replayed{.source = "scenario", .origin = {}, .uid_required = false};
    const auto loose = pod_from_json(json::parse(R"({"metadata": {"name": "runningButNotReady"}})"), replayed);
    ASSERT_TRUE(loose) << loose.error().text();
    EXPECT_EQ(loose->uid.value, "default/runningButNotReady");
    EXPECT_EQ(loose->source, "scenario");
    EXPECT_EQ(loose->termination_grace_period.count(), 30);
    json object = with("/spec/containers/0/resources", {{"requests", {{"cpu", 2}}}, {"limits", {{"cpu", 1}}}});
    object["metadata"]["uid"] = "pod.uid_1";
    object["spec"]["containers"][0].erase("name");
    object["spec"]["containers"].push_back(json::object());
    const auto odd = pod_from_json(object, replayed);
    ASSERT_TRUE(odd) << odd.error().text();
    EXPECT_EQ(odd->uid.value, "pod.uid_1");
    for (const char* name : {"", "a/b", "a b", "a\nb"}) {
        object["metadata"]["name"] = name;
        EXPECT_FALSE(pod_from_json(object, replayed)) << name;
    }
}

}  // namespace
}  // namespace evictd::kube
