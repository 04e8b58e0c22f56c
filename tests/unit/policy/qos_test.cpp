// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Requests, quality of service and what makes a pod critical, in tables.
#include "qos.hpp"

#include <array>

#include <gtest/gtest.h>

#include "evictd/model/pod_requests.hpp"
#include "local_storage.hpp"
#include "unit/policy/node.hpp"
#include "unit/policy/random_node.hpp"

namespace evictd::policy::testing {
namespace {

struct RequestRow {
    const char* rule;
    std::vector<std::optional<Bytes>> containers;
    std::vector<std::pair<Bytes, bool>> init_containers;  // request, sidecar
    std::optional<Bytes> pod_level;
    std::optional<Bytes> overhead;
    Bytes expected;
};

TEST(PodRequest, FollowsTheResourceHelper) {
    const std::vector<RequestRow> rows{
        {"containers add up", {1_MiB, 2_MiB}, {}, {}, {}, 3_MiB},
        {"nothing is requested", {std::nullopt}, {}, {}, {}, 0_B},
        {"a large init container counts alone", {1_MiB, 2_MiB}, {{8_MiB, false}, {5_MiB, false}}, {}, {}, 8_MiB},
        {"a small init container does not", {4_MiB}, {{2_MiB, false}}, {}, {}, 4_MiB},
        {"a sidecar adds to the containers", {4_MiB}, {{2_MiB, true}}, {}, {}, 6_MiB},
        {"an init container runs beside the sidecars before it",
         {1_MiB},
         {{2_MiB, true}, {8_MiB, false}},
         {},
         {},
         10_MiB},
        {"and not beside those after it", {1_MiB}, {{8_MiB, false}, {2_MiB, true}}, {}, {}, 8_MiB},
        {"sidecars alone add up", {0_MiB}, {{2_MiB, true}, {3_MiB, true}}, {}, {}, 5_MiB},
        {"a pod-level request replaces the containers'", {4_MiB}, {{9_MiB, false}}, 6_MiB, {}, 6_MiB},
        {"overhead is added", {4_MiB}, {}, {}, 1_MiB, 5_MiB},
        {"overhead is added to a pod-level request", {4_MiB}, {}, 6_MiB, 1_MiB, 7_MiB},
        {"overhead is not added to nothing", {std::nullopt}, {}, {}, 1_MiB, 0_B},
    };
    for (const auto& row : rows) {
        Pod pod;
        for (const auto& request : row.containers) pod.containers.push_back(container("c", request));
        for (const auto& [request, sidecar] : row.init_containers) {
            pod.init_containers.push_back(container("i", request, sidecar));
        }
        if (row.pod_level) pod.requests.memory = quantity(*row.pod_level);
        if (row.overhead) pod.overhead.memory = quantity(*row.overhead);
        EXPECT_EQ(pod_request(pod, &ResourceList::memory).value(), row.expected.value) << row.rule;
    }
}

TEST(PodRequest, OfAPodWithPodLevelResourcesIsThoseAlone) {
    Pod pod;
    pod.containers = {container("c", 4_MiB)};
    pod.containers[0].requests.ephemeral_storage = quantity(1_GiB);
    pod.requests.cpu = Quantity::of(1);
    EXPECT_TRUE(pod_request(pod, &ResourceList::memory).is_zero());
    EXPECT_TRUE(pod_request(pod, &ResourceList::ephemeral_storage).is_zero());
    EXPECT_EQ(pod_request(pod, &ResourceList::cpu).value(), 1);
    pod.requests.cpu.reset();
    pod.limits.memory = quantity(8_MiB);
    EXPECT_TRUE(pod_request(pod, &ResourceList::memory).is_zero());
    pod.limits.memory.reset();
    pod.requests.ephemeral_storage = quantity(9_GiB);  // no such thing
    EXPECT_EQ(pod_request(pod, &ResourceList::memory).value(), (4_MiB).value);
    EXPECT_EQ(pod_request(pod, &ResourceList::ephemeral_storage).value(), (1_GiB).value);
}

TEST(PodRequest, HugePagesArePodLevelResourcesToo) {
    Pod pod;
    pod.containers = {container("c", 4_MiB)};
    pod.containers[0].requests.ephemeral_storage = quantity(1_GiB);
    pod.containers[0].limits.hugepages = true;
    EXPECT_EQ(pod_request(pod, &ResourceList::ephemeral_storage).value(), (1_GiB).value) << "of a container alone";
    for (ResourceList* list : {&pod.requests, &pod.limits}) {
        list->hugepages = true;
        EXPECT_TRUE(pod_request(pod, &ResourceList::ephemeral_storage).is_zero());
        EXPECT_TRUE(pod_request(pod, &ResourceList::memory).is_zero());
        list->hugepages = false;
    }
}

struct LimitRow {
    const char* rule;
    std::vector<std::optional<Bytes>> containers;
    std::vector<std::pair<std::optional<Bytes>, bool>> init_containers;  // limit, sidecar
    std::optional<Bytes> pod_level;
    std::optional<Bytes> overhead;
    std::optional<Bytes> expected;
};

TEST(PodLimit, FollowsTheResourceHelper) {
    const std::vector<LimitRow> rows{
        {"nobody sets one", {std::nullopt, std::nullopt}, {{std::nullopt, true}}, {}, 1_MiB, {}},
        {"containers add up", {1_MiB, 2_MiB}, {}, {}, {}, 3_MiB},
        {"those without one are left out", {1_MiB, std::nullopt}, {}, {}, {}, 1_MiB},
        {"zero is a limit", {0_B}, {}, {}, {}, 0_B},
        {"a large init container counts alone", {1_MiB}, {{8_MiB, false}}, {}, {}, 8_MiB},
        {"an init container alone sets one", {std::nullopt}, {{8_MiB, false}}, {}, {}, 8_MiB},
        {"a sidecar adds to the containers", {4_MiB}, {{2_MiB, true}}, {}, {}, 6_MiB},
        {"an init container runs beside the sidecars before it",
         {1_MiB},
         {{2_MiB, true}, {8_MiB, false}},
         {},
         {},
         10_MiB},
        {"a pod-level limit replaces the containers'", {4_MiB}, {}, 2_MiB, {}, 2_MiB},
        {"overhead is added", {4_MiB}, {}, {}, 1_MiB, 5_MiB},
        {"overhead is added to a pod-level limit", {}, {}, 2_MiB, 1_MiB, 3_MiB},
        {"overhead is not added to nothing", {0_B}, {}, {}, 1_MiB, 0_B},
    };
    const auto quantity_of = [](const std::optional<Bytes>& bytes) {
        return bytes ? std::optional(quantity(*bytes)) : std::nullopt;
    };
    for (const auto& row : rows) {
        Pod pod;
        for (const auto& limit : row.containers) pod.containers.emplace_back().limits.memory = quantity_of(limit);
        for (const auto& [limit, sidecar] : row.init_containers) {
            pod.init_containers.emplace_back().limits.memory = quantity_of(limit);
            pod.init_containers.back().restartable = sidecar;
        }
        pod.limits.memory = quantity_of(row.pod_level);
        pod.overhead.memory = quantity_of(row.overhead);
        EXPECT_EQ(pod_limit(pod, &ResourceList::memory), quantity_of(row.expected)) << row.rule;
    }
}

TEST(PodLimit, ThereIsNoPodLevelLimitOfStorage) {
    Pod pod;
    pod.limits.ephemeral_storage = quantity(1_GiB);
    EXPECT_FALSE(pod_limit(pod, &ResourceList::ephemeral_storage));
    pod.limits.memory = quantity(1_GiB);
    pod.containers.emplace_back().limits.ephemeral_storage = quantity(2_GiB);
    EXPECT_EQ(pod_limit(pod, &ResourceList::ephemeral_storage), quantity(2_GiB));
}

using Amounts = std::array<int, 4>;  // cpu request, cpu limit, memory request, memory limit; -1: not set

std::pair<ResourceList, ResourceList> lists(const Amounts& amounts) {
    const auto quantity_of = [](int amount) { return amount < 0 ? std::nullopt : std::optional(Quantity::of(amount)); };
    return {{quantity_of(amounts[0]), quantity_of(amounts[2]), {}},
            {quantity_of(amounts[1]), quantity_of(amounts[3]), {}}};
}

struct QosRow {
    const char* rule;
    std::vector<Amounts> containers;
    std::vector<Amounts> init_containers;
    std::optional<Amounts> pod_level;
    QosClass expected;
};

TEST(QosClass, FollowsComputePodQos) {
    constexpr Amounts none{-1, -1, -1, -1};
    constexpr Amounts full{1, 1, 8, 8};
    const std::vector<QosRow> rows{
        {"nothing set", {none}, {}, {}, QosClass::best_effort},
        {"no containers", {}, {}, {}, QosClass::best_effort},
        {"zero is not set", {{0, 0, 0, 0}}, {}, {}, QosClass::best_effort},
        {"limits are requests for both", {full}, {}, {}, QosClass::guaranteed},
        {"all of two containers", {full, full}, {}, {}, QosClass::guaranteed},
        {"one of two containers", {full, none}, {}, {}, QosClass::burstable},
        {"memory alone", {{-1, -1, 8, 8}}, {}, {}, QosClass::burstable},
        {"a request below its limit", {{1, 1, 4, 8}}, {}, {}, QosClass::burstable},
        {"a request without a limit", {{1, 1, 8, -1}}, {}, {}, QosClass::burstable},
        {"an init container without", {full}, {none}, {}, QosClass::burstable},
        {"an init container with", {full}, {full}, {}, QosClass::guaranteed},
        {"only an init container asks", {none}, {{-1, -1, 4, -1}}, {}, QosClass::burstable},
        {"pod-level resources stand for all", {none, none}, {}, full, QosClass::guaranteed},
        {"pod-level resources win", {full}, {}, Amounts{1, 2, 8, 8}, QosClass::burstable},
    };
    for (const auto& row : rows) {
        Pod pod;
        for (const auto& amounts : row.containers) {
            const auto [requests, limits] = lists(amounts);
            pod.containers.push_back({"c", requests, limits, false});
        }
        for (const auto& amounts : row.init_containers) {
            const auto [requests, limits] = lists(amounts);
            pod.init_containers.push_back({"i", requests, limits, false});
        }
        if (row.pod_level) std::tie(pod.requests, pod.limits) = lists(*row.pod_level);
        EXPECT_EQ(qos_class(pod), row.expected) << row.rule;
    }
}

// Each resource summed over all containers before anything is said of it.
QosClass by_sums(const Pod& pod) {
    bool asks = false;
    bool guaranteed = true;
    for (const auto resource : {&ResourceList::cpu, &ResourceList::memory}) {
        Quantity request;
        Quantity limit;
        for (const auto* list : {&pod.containers, &pod.init_containers}) {
            for (const auto& container : *list) {
                const Quantity own = (container.limits.*resource).value_or(Quantity{});
                request = request + (container.requests.*resource).value_or(Quantity{});
                limit = limit + own;
                guaranteed = guaranteed && !own.is_zero();
            }
        }
        asks = asks || !request.is_zero() || !limit.is_zero();
        guaranteed = guaranteed && request == limit;
    }
    return !asks ? QosClass::best_effort : guaranteed ? QosClass::guaranteed : QosClass::burstable;
}

TEST(QosClass, IsThatOfTheSumsWhateverTheContainers) {
    Dice dice(1);
    std::array<int, 3> seen{};
    for (int i = 0; i < 20'000; ++i) {
        Pod pod;
        const auto most = 1 + dice.below(4);  // from "never" to "mostly" zero or absent
        const auto draw = [&] { return static_cast<int>(dice.below(most)) - static_cast<int>(dice.below(2)); };
        const int usual = draw();
        const auto one = [&] {
            const auto amount = [&] { return dice.one_in(6) ? draw() : usual; };
            const auto [requests, limits] = lists({amount(), amount(), amount(), amount()});
            return Container{"c", requests, limits, false};
        };
        for (auto left = 1 + dice.below(3); left > 0; --left) pod.containers.push_back(one());
        if (dice.one_in(3)) pod.init_containers.push_back(one());
        ASSERT_EQ(compute_qos(pod), by_sums(pod)) << i;
        ++seen.at(static_cast<std::size_t>(by_sums(pod)));
    }
    for (const int count : seen) EXPECT_GT(count, 500);
}

TEST(QosClass, OfEmptyPodLevelResourcesIsBestEffort) {
    Pod pod = *testing::pod({.name = "a", .request = 1_MiB}).pod;
    EXPECT_EQ(qos_class(pod), QosClass::burstable);
    pod.has_resources = true;
    EXPECT_EQ(qos_class(pod), QosClass::best_effort);
    EXPECT_EQ(pod_request(pod, &ResourceList::memory).value(), (1_MiB).value) << "the rank is unchanged";
    pod.requests.hugepages = true;
    EXPECT_EQ(qos_class(pod), QosClass::best_effort) << "cpu and memory alone make a class";
}

TEST(QosClass, TheStatusWins) {
    Pod pod = *testing::pod({.name = "a", .request = 1_MiB}).pod;
    pod.qos = QosClass::guaranteed;
    EXPECT_EQ(qos_class(pod), QosClass::guaranteed);
}

TEST(IsCriticalPod, StaticMirrorOrOfSystemPriority) {
    EXPECT_TRUE(is_critical_pod(*pod({.name = "a", .origin = PodOrigin::static_file}).pod));
    EXPECT_TRUE(is_critical_pod(*pod({.name = "a", .origin = PodOrigin::mirror}).pod));
    EXPECT_TRUE(is_critical_pod(*pod({.name = "a", .priority = 2'000'000'000}).pod));
    EXPECT_FALSE(is_critical_pod(*pod({.name = "a", .priority = 1'999'999'999}).pod));
    EXPECT_FALSE(is_critical_pod(*pod({.name = "a"}).pod));
}

TEST(ComputedResources, AreWhatTheContainersSay) {
    Dice dice(1);
    for (std::size_t i = 0; i < 2'000; ++i) {
        const PodPtr read = random_observed(dice, i).pod;
        const PodPtr made = make_pod(*read);
        ASSERT_EQ(read->computed.known(), nullptr);
        ASSERT_NE(made->computed.known(), nullptr);
        EXPECT_EQ(qos_class(*made), qos_class(*read));
        ObservedPod full = pod({.name = "full", .working_set = 1_MiB});
        full.usage->disk = {.rootfs = 1_GiB, .logs = 1_GiB, .volumes = 1_GiB, .host_path = {}};
        full.usage->disk.empty_dirs = {{"cache", 1_GiB}};
        full.pod = read;
        const auto broken = broken_limit(full, FsLayout::single);
        full.pod = made;
        EXPECT_EQ(broken_limit(full, FsLayout::single).has_value(), broken.has_value());
        for (const auto resource : {&ResourceList::memory, &ResourceList::ephemeral_storage, &ResourceList::cpu}) {
            const Quantity request = pod_request(*made, resource);
            EXPECT_EQ(request, pod_request(*read, resource));
            EXPECT_EQ(request.spelling(), pod_request(*read, resource).spelling());
        }
    }
}

TEST(ComputedResources, OfAPodThatIsChangedAreNotThoseOfTheOther) {
    const PodPtr web = make_pod(*pod({.name = "web", .request = 1_MiB}).pod);
    Pod changed = *web;
    changed.containers.front().requests.memory = quantity(5_MiB);
    EXPECT_EQ(pod_request(changed, &ResourceList::memory), quantity(5_MiB));
    EXPECT_EQ(pod_request(*make_pod(changed), &ResourceList::memory), quantity(5_MiB));
    changed = *web;
    EXPECT_EQ(changed.computed.known(), nullptr) << "nor if it is assigned";
}

}  // namespace
}  // namespace evictd::policy::testing
