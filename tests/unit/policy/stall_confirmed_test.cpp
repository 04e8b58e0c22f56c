// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Thresholds that a stall has to confirm (evictd.confirmPressure).
#include <gmock/gmock.h>

#include "stalling.hpp"

namespace evictd::policy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Confirmed : Stalling {
    Confirmed() {
        node.config.confirm_pressure = true;
        node.set(50_MiB);
    }
};

TEST_F(Confirmed, BytesAloneEvictNoPod) {
    lose(5);
    const auto decision = look(1s);
    EXPECT_EQ(evicted(decision), "");
    EXPECT_THAT(decision.conditions, ElementsAre(Condition::memory_pressure)) << "it is met all the same";
    EXPECT_THAT(decision.why, HasSubstr("no task stalls for memory"));
}

TEST_F(Confirmed, BytesAndAStallDo) {
    lose(5);
    (void)look(1s);
    lose(25);
    const auto decision = look(2s);
    EXPECT_EQ(evicted(decision), "uid-big");
    EXPECT_FALSE(decision.evict->stall) << "it is the threshold's eviction, in the kubelet's order";
}

TEST_F(Confirmed, AnOomKillConfirmsToo) {
    lose(0);
    Observation observation = node.observe(1s);
    observation.stalls = stalls;
    observation.cause = {CauseKind::kernel_event, KernelEvent{at(1s), OomKill{}}, at(1s)};
    EXPECT_EQ(evicted(decide(node.config, observation, node.state).decision), "uid-big");
}

TEST_F(Confirmed, WhereStallsAreNotCountedTheThresholdIsEnough) { EXPECT_EQ(evicted(look(1s)), "uid-big"); }

TEST_F(Confirmed, OtherSignalsNeedNoConfirmation) {
    node.config.thresholds = {hard(100_MiB), {Signal::pid_available, {Quantity::of(1000)}, 0s, std::nullopt}};
    node.set(500_B, Signal::pid_available, 32768_B);
    lose(5);
    const auto decision = look(1s);
    ASSERT_TRUE(decision.evict);
    EXPECT_EQ(decision.evict->threshold.threshold.signal, Signal::pid_available);
}

TEST_F(Confirmed, ASoftEvictionIsNotCutShortByAThresholdWithoutStalls) {
    node.config.soft_eviction_grace = SoftEvictionGrace::pod;
    node.config.thresholds = {hard(100_MiB), {Signal::pid_available, {Quantity::of(1000)}, 1s, std::nullopt}};
    node.set(4_GiB).set(500_B, Signal::pid_available, 32768_B);
    lose(5);
    (void)look(1s);
    const auto softly = look(2s);
    ASSERT_TRUE(softly.evict);
    node.carry_out(softly, OutcomeStatus::delivered, 2s);
    node.set(50_MiB);
    EXPECT_THAT(look(3s).actions, IsEmpty());
}

}  // namespace
}  // namespace evictd::policy
