// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The kubelet's wording, to the letter: other people's tools search for it.
#include "message.hpp"

#include <functional>

#include <gmock/gmock.h>

#include "unit/policy/node.hpp"

namespace evictd::policy::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

MetThreshold met(Threshold threshold, Amount available, Amount capacity = {(8_GiB).value}) {
    return {std::move(threshold), {}, available, capacity, boot};
}

EvictionMessage message_for(const ObservedPod& observed) {
    return eviction_message(observed, {met(hard(100_MiB), {(96_MiB).value})});
}

const std::string low = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 96Mi. ";

TEST(EvictionMessage, NamesTheContainerOverItsRequest) {
    const auto message = message_for(pod({.name = "web", .working_set = 612_MiB, .request = 100_MiB}));
    EXPECT_EQ(message.text,
              low + "Container app was using 612Mi, request is 100Mi, has larger consumption of memory. ");
    EXPECT_THAT(message.annotations,
                UnorderedElementsAre(Pair("offending_containers", "app"), Pair("offending_containers_usage", "612Mi"),
                                     Pair("starved_resource", "memory")));
}

TEST(EvictionMessage, AContainerWithoutARequestHasZero) {
    EXPECT_EQ(message_for(pod({.name = "web", .working_set = 1025_B})).text,
              low + "Container app was using 1025, request is 0, has larger consumption of memory. ");
}

TEST(EvictionMessage, AContainerWithinItsRequestIsNotNamed) {
    const auto message = message_for(pod({.name = "web", .working_set = 100_MiB, .request = 100_MiB}));
    EXPECT_EQ(message.text, low);
    EXPECT_THAT(message.annotations,
                UnorderedElementsAre(Pair("offending_containers", ""), Pair("offending_containers_usage", ""),
                                     Pair("starved_resource", "memory")));
}

TEST(EvictionMessage, WithoutUsageThereAreNoContainersAndNoAnnotations) {
    const auto message = message_for(pod({.name = "web", .working_set = {}}));
    EXPECT_EQ(message.text, low);
    EXPECT_THAT(message.annotations, IsEmpty());
}

ObservedPod changed(const ObservedPod& observed, const std::function<void(Pod&)>& change) {
    auto copy = std::make_shared<Pod>(*observed.pod);
    change(*copy);
    ObservedPod made = observed;
    made.pod = copy;
    return made;
}

TEST(EvictionMessage, ContainersWhoseUsageIsNotKnownAreLeftOut) {
    const ObservedPod plain = pod({.name = "web", .working_set = 1_GiB});
    EXPECT_EQ(message_for(changed(plain, [](Pod& one) { one.containers.push_back(container("b")); })).text, low);
    EXPECT_EQ(message_for(changed(plain, [](Pod& one) { one.init_containers = {container("s", {}, true)}; })).text,
              low);
    const auto initializing = [](Pod& one) {
        one.init_containers = {container("i")};
        one.phase = PodPhase::pending;
    };
    EXPECT_EQ(message_for(changed(plain, initializing)).text, low);
}

// A container for each letter of `names`, all running; capitals are sidecars, and come as init containers.
ObservedPod several(const std::string& names, std::vector<ContainerUsage> usage) {
    ObservedPod made = changed(pod({.name = "web", .working_set = 9_GiB}), [&](Pod& one) {
        one.containers.clear();
        for (const char letter : names) {
            auto& list = letter >= 'a' ? one.containers : one.init_containers;
            list.push_back(container({letter}, 10_B, letter < 'a'));
            list.back().requests.ephemeral_storage = quantity(100_B);
        }
    });
    made.usage->containers = std::move(usage);
    return made;
}

EvictionMessage storage_message(const ObservedPod& observed) {
    return eviction_message(observed, {met(hard(10_GiB, {}, Signal::nodefs_available), {(1_GiB).value})});
}

struct ContainerRow {
    const char* rule;
    std::string names;
    std::vector<ContainerUsage> usage;
    std::string named;  // and its usage, in the order of the message
    std::string used;
};

TEST(EvictionMessage, NamesEveryContainerOverItsMemoryRequest) {
    const std::vector<ContainerRow> rows{
        {"those over, regular first, in the order of the spec, whatever the order of the figures",
         "Sbai",
         {{"S", 11_B, {}, {}}, {"i", 10_B, {}, {}}, {"a", 12_B, {}, {}}, {"b", 1_KiB, {}, {}}},
         "b,a,S",
         "1Ki,12,11"},
        {"those without a figure are left out", "ab", {{"a", {}, 9_GiB, 9_GiB}, {"b", 11_B, {}, {}}}, "b", "11"},
        {"those without a row are left out", "ab", {{"b", 11_B, {}, {}}}, "b", "11"},
        {"a single one with a row has its own figures", "a", {{"a", 11_B, {}, {}}}, "a", "11"},
        {"a single one with a row has none but its own", "a", {{"a", {}, 1_B, 1_B}}, "", ""},
        {"a single one without a row has the pod's", "a", {{"ephemeral", 1_B, {}, {}}}, "a", "9Gi"},
        {"a container that is not of the pod is not named", "ab", {{"ephemeral", 9_GiB, {}, {}}}, "", ""},
    };
    for (const auto& row : rows) {
        const auto message = message_for(several(row.names, row.usage));
        EXPECT_EQ(message.annotations.at("offending_containers"), row.named) << row.rule;
        EXPECT_EQ(message.annotations.at("offending_containers_usage"), row.used) << row.rule;
    }
}

TEST(EvictionMessage, NamesEveryContainerOverItsStorageRequest) {
    const std::vector<ContainerRow> rows{
        {"writable layer and logs together", "ab", {{"a", {}, 60_B, 41_B}, {"b", {}, 60_B, 40_B}}, "a", "101"},
        {"half a figure is none",
         "abc",
         {{"a", 9_GiB, 9_GiB, {}}, {"b", 9_GiB, {}, 9_GiB}, {"c", {}, 101_B, 0_B}},
         "c",
         "101"},
        {"volumes are the pod's, not a container's", "a", {}, "a", "1Ki"},
    };
    for (const auto& row : rows) {
        ObservedPod observed = several(row.names, row.usage);
        observed.usage->disk = {.rootfs = 1000_B, .logs = 24_B, .volumes = 9_GiB};
        const auto message = storage_message(observed);
        EXPECT_EQ(message.annotations.at("offending_containers"), row.named) << row.rule;
        EXPECT_EQ(message.annotations.at("offending_containers_usage"), row.used) << row.rule;
        EXPECT_EQ(message.annotations.at("starved_resource"), "ephemeral-storage");
    }
}

TEST(EvictionMessage, ForDisksIsToTheLetterToo) {
    ObservedPod observed = several("ab", {{"a", {}, 1_GiB, 512_MiB}, {"b", {}, 101_B, 0_B}});
    EXPECT_EQ(storage_message(observed).text,
              "The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 1Gi. "
              "Container a was using 1536Mi, request is 100, has larger consumption of ephemeral-storage. "
              "Container b was using 101, request is 100, has larger consumption of ephemeral-storage. ");
}

TEST(EvictionMessage, NoContainerIsNamedForInodesOrProcessIds) {
    const ObservedPod observed = several("a", {{"a", 9_GiB, 9_GiB, 9_GiB}});
    for (const Signal signal : {Signal::nodefs_inodes_free, Signal::pid_available}) {
        const auto message = eviction_message(observed, {met(hard(2000_B, {}, signal), {1024})});
        EXPECT_EQ(message.text, "The node was low on resource: " + std::string(traits(signal).resource) +
                                    ". Threshold quantity: 2000, available: 1024. ");
        EXPECT_THAT(message.annotations,
                    UnorderedElementsAre(Pair("offending_containers", ""), Pair("offending_containers_usage", ""),
                                         Pair("starved_resource", traits(signal).resource)));
    }
}

TEST(EvictionMessage, APodLevelRequestIsNotReportedForDisks) {
    const ObservedPod observed =
        changed(several("a", {{"a", {}, 101_B, 0_B}}), [](Pod& one) { one.requests.memory = quantity(1_MiB); });
    EXPECT_FALSE(storage_message(observed).annotations.contains("offending_pod"));
}

TEST(EvictionMessage, AnInitContainerThatHasEndedLeavesTheOneThatRuns) {
    const ObservedPod plain = pod({.name = "web", .working_set = 1_GiB});
    EXPECT_EQ(message_for(changed(plain, [](Pod& one) { one.init_containers = {container("i")}; })).text,
              low + "Container app was using 1Gi, request is 0, has larger consumption of memory. ");
}

TEST(EvictionMessage, APodLevelRequestNamesThePodFirst) {
    const ObservedPod observed = changed(pod({.name = "web", .working_set = 1_GiB, .request = 512_MiB}),
                                         [](Pod& one) { one.requests.memory = quantity(768_MiB); });
    const auto message = message_for(observed);
    EXPECT_EQ(message.text, low +
                                "Pod web was using 1Gi, request is 768Mi, has larger consumption of memory. "
                                "Container app was using 1Gi, request is 512Mi, has larger consumption of memory. ");
    EXPECT_EQ(message.annotations.at("offending_pod"), "web");
    EXPECT_EQ(message.annotations.at("offending_pod_usage"), "1Gi");
}

TEST(EvictionMessage, TheThresholdKeepsItsOwnUnit) {
    const ObservedPod observed = pod({.name = "web"});
    const Threshold decimal{Signal::memory_available, {*parse_quantity("100M")}, {}, {}};
    EXPECT_EQ(eviction_message(observed, {met(decimal, {1})}).text,
              "The node was low on resource: memory. Threshold quantity: 100M, available: 1. ");
    const Threshold share{Signal::memory_available, {0.25F}, {}, {}};
    EXPECT_EQ(eviction_message(observed, {met(share, {1})}).text,
              "The node was low on resource: memory. Threshold quantity: 2Gi, available: 1. ");
}

TEST(EvictionMessage, SpeaksOfTheFirstThresholdOfItsResource) {
    const ObservedPod observed = pod({.name = "web"});
    const auto disk = met(hard(10_GiB, {}, Signal::nodefs_available), {(1_GiB).value});
    const auto inodes = met(hard(2000_B, {}, Signal::nodefs_inodes_free), {1024});
    EXPECT_EQ(eviction_message(observed, {disk, inodes}).text,
              "The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 1Gi. ");
    EXPECT_EQ(eviction_message(observed, {inodes, disk}).text,
              "The node was low on resource: inodes. Threshold quantity: 2000, available: 1024. ");
}

}  // namespace
}  // namespace evictd::policy::testing
