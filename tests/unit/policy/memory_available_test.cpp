// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Thresholds on memory are compared with what the configuration says, the kubelet's figure unless it does.
#include "memory_available.hpp"

#include <gtest/gtest.h>

#include "unit/policy/node.hpp"

namespace evictd::policy::testing {
namespace {

// Full of page cache that is in use: the kubelet sees 90 MiB, the kernel could give 3 GiB.
Node full_of_active_cache(Signal signal = Signal::memory_available) {
    Node node{.config = {.thresholds = {hard(100_MiB, std::nullopt, signal)}}, .pods = {pod({"reader", 1_GiB})}};
    node.set(90_MiB, signal);
    node.readings[static_cast<std::size_t>(signal)]->memory = AvailableMemory{.kubelet = 90_MiB, .reclaimable = 3_GiB};
    return node;
}

TEST(MemoryAvailableCounted, ActivePageCacheEvictsByTheKubeletsCountAndNotByWhatIsReclaimable) {
    for (const auto signal : {Signal::memory_available, Signal::allocatable_memory_available}) {
        auto node = full_of_active_cache(signal);
        compare_with(MemoryAvailable::kubelet, node.readings);
        EXPECT_EQ(evicted(node.look(0s)), "uid-reader");

        node = full_of_active_cache(signal);
        compare_with(MemoryAvailable::reclaimable, node.readings);
        const auto decision = node.look(0s);
        EXPECT_EQ(evicted(decision), "");
        EXPECT_TRUE(decision.thresholds_met.empty() && decision.conditions.empty());
    }
}

TEST(MemoryAvailableCounted, TheReportedValueIsTheOneCompared) {
    auto node = full_of_active_cache();
    node.config.thresholds = {hard(4_GiB)};
    compare_with(MemoryAvailable::reclaimable, node.readings);
    const auto decision = node.look(0s);
    ASSERT_TRUE(decision.evict);
    EXPECT_EQ(decision.evict->threshold.available.value, (3_GiB).value);
    EXPECT_NE(decision.evict->message.find("available: 3Gi"), std::string::npos) << decision.evict->message;
}

TEST(MemoryAvailableCounted, TheChoiceCanBeMadeAgainAndKeepsBoth) {
    auto node = full_of_active_cache();
    const auto& reading = node.readings[static_cast<std::size_t>(Signal::memory_available)];
    compare_with(MemoryAvailable::reclaimable, node.readings);
    EXPECT_EQ(reading->memory->compared, MemoryAvailable::reclaimable);
    compare_with(MemoryAvailable::kubelet, node.readings);
    EXPECT_EQ(reading->available.value, (90_MiB).value);
    EXPECT_EQ(reading->memory->reclaimable, 3_GiB);
    EXPECT_EQ(reading->memory->compared, MemoryAvailable::kubelet);
}

TEST(MemoryAvailableCounted, AReadingThatIsKnownOneWayOnlyStays) {
    Node node;
    node.set(5_GiB, Signal::nodefs_available).set(1_GiB);
    compare_with(MemoryAvailable::reclaimable, node.readings);
    EXPECT_EQ(node.readings[static_cast<std::size_t>(Signal::memory_available)]->available.value, (1_GiB).value);
    EXPECT_EQ(node.readings[static_cast<std::size_t>(Signal::nodefs_available)]->available.value, (5_GiB).value);
}

}  // namespace
}  // namespace evictd::policy::testing
