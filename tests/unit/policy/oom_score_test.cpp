// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// oom_score_adj of containers on a node of 1000 MiB, where a MiB is a point.
#include "oom_score.hpp"

#include <gtest/gtest.h>

#include "unit/policy/node.hpp"

namespace evictd::policy::testing {
namespace {

constexpr Bytes node_memory = 1000_MiB;
constexpr int guaranteed_adj = -997;

// A pod whose first container, "app", asks for this much.
Pod asking(std::optional<Bytes> request) { return *pod({.name = "a", .request = request}).pod; }

Pod guaranteed() {
    Pod pod = asking(10_MiB);
    pod.containers[0].requests.cpu = Quantity::of(1);
    pod.containers[0].limits = pod.containers[0].requests;
    return pod;
}

int of_first(const Pod& pod, Bytes memory = node_memory, int guaranteed = guaranteed_adj) {
    return oom_score_adj(pod, pod.containers.front(), memory, guaranteed);
}

TEST(OomScoreAdj, OfTheClassesAndTheClampsOfBurstable) {
    // Beside it stands a container that makes any pod Burstable.
    struct Row {
        const char* rule;
        Bytes request;
        Bytes memory;
        int guaranteed;
        int expected;
    };
    const std::vector<Row> rows{
        {"a share of the node comes off 1000", 250_MiB, node_memory, -997, 750},
        {"the share is cut off, not rounded", 250_MiB + 1_MiB - 1_B, node_memory, -997, 750},
        {"a share below a thousandth is none: still before BestEffort", 1_MiB - 1_B, node_memory, -997, 999},
        {"no request likewise", 0_B, node_memory, -997, 999},
        {"a thousandth", 1_MiB, node_memory, -997, 999},
        {"two thousandths", 2_MiB, node_memory, -997, 998},
        {"the last one above the lower clamp", 996_MiB, node_memory, -997, 4},
        {"at the lower clamp", 997_MiB, node_memory, -997, 3},
        {"below the lower clamp", 998_MiB, node_memory, -997, 3},
        {"the whole node", 1000_MiB, node_memory, -997, 3},
        {"more than the node", 5000_MiB, node_memory, -997, 3},
        {"the lower clamp of older kubelets", 1000_MiB, node_memory, -998, 2},
        {"and just above it", 997_MiB, node_memory, -998, 3},
        {"a request of all bytes there are", {INT64_MAX}, node_memory, -997, 3},
        {"on a node of all bytes there are", {INT64_MAX}, {INT64_MAX}, -997, 3},
        {"a share of a node of all bytes there are", {INT64_MAX / 2}, {INT64_MAX}, -997, 501},
        {"a node of unknown size protects nobody", 500_MiB, 0_B, -997, 999},
    };
    for (const auto& row : rows) {
        Pod pod = asking(row.request);
        pod.containers.push_back(container("other", 1_MiB));
        EXPECT_EQ(of_first(pod, row.memory, row.guaranteed), row.expected) << row.rule;
    }
    EXPECT_EQ(of_first(guaranteed()), -997);
    EXPECT_EQ(of_first(guaranteed(), node_memory, -998), -998);
    EXPECT_EQ(of_first(guaranteed(), 0_B), -997);
    EXPECT_EQ(of_first(asking(std::nullopt)), 1000);
    EXPECT_EQ(of_first(asking(std::nullopt), 0_B), 1000);
}

TEST(OomScoreAdj, OfNodeCriticalPodsIsThatOfGuaranteedOnes) {
    struct Row {
        const char* rule;
        std::optional<Bytes> request;
        std::string priority_class;
        std::optional<std::int32_t> priority;
        PodOrigin origin;
        int expected;
    };
    const std::string node_critical = "system-node-critical";
    const auto api = PodOrigin::api;
    const std::vector<Row> rows{
        {"BestEffort by priority", {}, node_critical, 2'000'001'000, api, -997},
        {"Burstable by priority", 250_MiB, node_critical, 2'000'001'000, api, -997},
        {"static, whatever the priority", 250_MiB, node_critical, {}, PodOrigin::static_file, -997},
        {"mirror", {}, node_critical, 0, PodOrigin::mirror, -997},
        {"the class without the priority", 250_MiB, node_critical, {}, api, 750},
        {"cluster-critical is not enough", 250_MiB, "system-cluster-critical", 2'000'000'000, api, 750},
        {"nor is static alone", {}, "", {}, PodOrigin::static_file, 1000},
        {"nor priority alone", 250_MiB, "", 2'000'001'000, api, 750},
    };
    for (const auto& row : rows) {
        Pod pod = asking(row.request);
        pod.priority_class_name = row.priority_class;
        pod.priority = row.priority;
        pod.origin = row.origin;
        EXPECT_EQ(of_first(pod), row.expected) << row.rule;
    }
}

TEST(OomScoreAdj, OfASidecarIsAtMostThatOfTheSmallestContainer) {
    struct Row {
        const char* rule;
        Container container;
        std::vector<Bytes> regular;
        int expected;
    };
    const std::vector<Row> rows{
        {"a small sidecar goes with the smallest container", container("i", 10_MiB, true), {300_MiB, 200_MiB}, 800},
        {"one without a request too", container("i", std::nullopt, true), {200_MiB, 300_MiB}, 800},
        {"a large sidecar has its own", container("i", 400_MiB, true), {300_MiB, 200_MiB}, 600},
        {"a container without a request is the smallest", container("i", 10_MiB, true), {300_MiB, 0_B}, 990},
        {"another init container has its own", container("i", 10_MiB), {300_MiB, 200_MiB}, 990},
        {"the clamp comes last", container("i", 10_MiB, true), {2000_MiB}, 3},
        {"there is no smallest of none", container("i", 10_MiB, true), {}, 990},
    };
    for (const auto& row : rows) {
        Pod pod;
        for (const Bytes request : row.regular) pod.containers.push_back(container("app", request));
        pod.init_containers = {container("h", 1_MiB), row.container};
        EXPECT_EQ(oom_score_adj(pod, row.container, node_memory, guaranteed_adj), row.expected) << row.rule;
    }
    // A regular container has its own, whatever it says of restarts.
    Pod pod = asking(10_MiB);
    pod.containers[0].restartable = true;
    pod.containers.push_back(container("b", 300_MiB));
    EXPECT_EQ(of_first(pod), 990);
}

TEST(OomScoreAdj, CountsAnEqualShareOfWhatThePodAsksForBeyondItsContainers) {
    struct Row {
        const char* rule;
        std::optional<Bytes> pod_level;
        std::vector<Bytes> regular;
        std::vector<std::pair<Bytes, bool>> init;  // request, sidecar
        int first;                                 // of the first container
        int last_init;                             // 0: there is none
    };
    const std::vector<Row> rows{
        {"one container has all of it", 400_MiB, {100_MiB}, {}, 600, 0},
        {"two have half of the rest each", 400_MiB, {100_MiB, 200_MiB}, {}, 850, 0},
        {"the share is cut off, not rounded", 303_MiB - 1_B, {100_MiB, 200_MiB}, {}, 899, 0},
        {"an init container has its part, and uses none of it up",
         400_MiB,
         {100_MiB, 200_MiB},
         {{10_MiB, false}},
         867,
         957},
        {"a large init container uses up its own", 400_MiB, {100_MiB}, {{300_MiB, false}}, 850, 650},
        {"sidecars use up theirs", 400_MiB, {100_MiB}, {{200_MiB, true}}, 850, 750},
        {"a sidecar goes with the smallest container and its share", 400_MiB, {100_MiB}, {{20_MiB, true}}, 760, 760},
        {"nothing is left", 300_MiB, {100_MiB, 200_MiB}, {}, 900, 0},
        {"a pod-level request of zero is none", 0_B, {100_MiB}, {}, 900, 0},
        {"without one there is no share", {}, {100_MiB}, {}, 900, 0},
    };
    for (const auto& row : rows) {
        Pod pod;
        for (const Bytes request : row.regular) pod.containers.push_back(container("app", request));
        for (const auto& [request, sidecar] : row.init) pod.init_containers.push_back(container("i", request, sidecar));
        if (row.pod_level) pod.requests.memory = quantity(*row.pod_level);
        pod.requests.cpu = Quantity::of(1);  // Burstable by itself
        pod.overhead.memory = quantity(77_MiB);
        EXPECT_EQ(of_first(pod), row.first) << row.rule;
        if (row.last_init != 0) {
            EXPECT_EQ(oom_score_adj(pod, pod.init_containers.back(), node_memory, guaranteed_adj), row.last_init)
                << row.rule;
        }
    }
}

TEST(OomScoreAdj, OfACgroupIsItsContainersWhereThatIsKnownAndElseThePodsRange) {
    const auto range = [](const Pod& pod, std::string_view cgroup) {
        return oom_score_adj_range(pod, cgroup, node_memory, guaranteed_adj);
    };
    Pod pod = asking(100_MiB);
    pod.containers.push_back(container("helper", 300_MiB));
    pod.containers[1].id = "containerd://0123456789abcdef";
    EXPECT_EQ(range(pod, "app"), (ScoreRange{900, 900}));
    EXPECT_EQ(range(pod, "cri-containerd-0123456789abcdef.scope"), (ScoreRange{700, 700}));
    EXPECT_EQ(range(pod, "cri-containerd-ffff.scope"), (ScoreRange{700, 900})) << "some container, or the sandbox";
    EXPECT_EQ(range(pod, ""), (ScoreRange{700, 900})) << "in the pod's own cgroup";
    EXPECT_EQ(range(guaranteed(), ""), (ScoreRange{-997, -997}));
    EXPECT_EQ(range(Pod{}, ""), (ScoreRange{1000, 1000})) << "no container is told";
}

TEST(OomScoreAdj, OfANodeCriticalPodMayBeWhatKubeProxyGivesItself) {
    Pod pod = asking(100_MiB);
    pod.priority = 2'000'001'000;
    pod.priority_class_name = "system-node-critical";
    EXPECT_EQ(oom_score_adj_range(pod, "", node_memory, guaranteed_adj), (ScoreRange{-999, -997}));
}

TEST(ContainerIn, IsFoundByItsIdOrItsName) {
    Pod pod = asking(100_MiB);
    pod.init_containers.push_back(container("setup", 1_MiB));
    pod.containers[0].id = "cri-o://0123456789abcdef";
    pod.init_containers[0].id = "short";
    EXPECT_EQ(container_in(pod, "crio-0123456789abcdef.scope"), &pod.containers[0]);
    EXPECT_EQ(container_in(pod, "0123456789abcdef"), &pod.containers[0]);
    EXPECT_EQ(container_in(pod, "setup"), &pod.init_containers[0]);
    EXPECT_EQ(container_in(pod, "shortbread"), nullptr) << "an id that short is no id";
    EXPECT_EQ(container_in(pod, ""), nullptr);
}

}  // namespace
}  // namespace evictd::policy::testing
