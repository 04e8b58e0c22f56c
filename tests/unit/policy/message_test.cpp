// SPDX-License-Identifier: Apache-2.0
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
