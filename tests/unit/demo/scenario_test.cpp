// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The figures of a scenario have to hold on every machine it can be played on: who is bigger than whom is its point.
#include "demo/scenario.hpp"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

namespace evictd::demo {
namespace {

constexpr std::int64_t step = std::int64_t{16} << 20U;

class OnEveryMachine : public testing::TestWithParam<std::int64_t> {
protected:
    [[nodiscard]] Bytes limit() const { return Bytes{GetParam()}; }
    [[nodiscard]] static std::int64_t held(const Plan& plan) {
        return std::accumulate(plan.pods.begin(), plan.pods.end(), std::int64_t{0},
                               [](std::int64_t sum, const PodPlan& pod) { return sum + pod.holds.value; });
    }
    [[nodiscard]] static const PodPlan& critical(const Plan& plan) {
        return *std::find_if(plan.pods.begin(), plan.pods.end(), [](const auto& pod) { return pod.critical; });
    }
};

TEST_P(OnEveryMachine, SpikeEvictsTheGrowerWhileTheCriticalPodIsStillBigger) {
    const auto plan = plan_for(Scenario::spike, limit());
    const auto at_crossing = plan.actor_pod().holds.value + limit().value - plan.hard.value - held(plan);
    EXPECT_GT(at_crossing, plan.actor_pod().request.value);
    EXPECT_LT(at_crossing, critical(plan).holds.value);
}

TEST_P(OnEveryMachine, LeakMeetsTheSoftThresholdAfterASecondAndNeverTheHardOne) {
    const auto plan = plan_for(Scenario::leak, limit());
    ASSERT_TRUE(plan.soft);
    const auto left = limit().value - held(plan);
    EXPECT_GE(left - plan.soft->value, plan.growth);
    const auto grown_in_grace = plan.growth * plan.soft_grace.count();
    EXPECT_GT(plan.soft->value - grown_in_grace - plan.growth / 2, plan.hard.value);
    const auto at_end = plan.actor_pod().holds.value + left - plan.soft->value + grown_in_grace;
    EXPECT_LT(at_end, critical(plan).holds.value);
}

TEST_P(OnEveryMachine, NoOtherPodIsFurtherOverItsRequestAtTheSamePriority) {
    const auto plan = plan_for(Scenario::spike, limit());
    const auto at_crossing = plan.actor_pod().holds.value + limit().value - plan.hard.value - held(plan);
    for (const auto& pod : plan.pods) {
        if (pod.priority <= plan.actor_pod().priority && pod.uid != plan.actor_pod().uid) {
            EXPECT_LT(pod.holds.value - pod.request.value, at_crossing - plan.actor_pod().request.value) << pod.name;
        }
    }
}

TEST_P(OnEveryMachine, GuaranteedPodsStayWithinWhatTheyAskedFor) {
    for (const auto& pod : plan_for(Scenario::spike, limit()).pods) {
        if (pod.qos == QosClass::guaranteed) {
            EXPECT_LT(pod.holds, pod.request) << pod.name;
        }
        EXPECT_EQ(pod.request.value == 0, pod.qos == QosClass::best_effort) << pod.name;
    }
}

TEST_P(OnEveryMachine, PageCacheIsMoreThanFits) {
    const auto plan = plan_for(Scenario::pagecache, limit());
    EXPECT_GT(plan.files.value + held(plan), limit().value);
    EXPECT_FALSE(plan.expects_eviction());
}

TEST_P(OnEveryMachine, SocketsMeetTheSoftThresholdWithManyOfThemAndNeverTheHardOne) {
    const auto plan = plan_for(Scenario::sockets, limit());
    ASSERT_TRUE(plan.soft && plan.neighbour);
    const auto connections = (limit().value - held(plan) - plan.soft->value) >> 20U;  // each takes a mebibyte
    EXPECT_GE(connections, 10);
    EXPECT_LE(connections, 512) << "more than the usual limit of open files allows";
    EXPECT_GT(plan.soft->value - plan.growth, plan.hard.value);
    EXPECT_FALSE(plan.expects_eviction());
    EXPECT_NE(*plan.neighbour, plan.actor);
}

INSTANTIATE_TEST_SUITE_P(Limits, OnEveryMachine, testing::Values(8 * step, 11 * step, 29 * step, 64 * step));

TEST(Limit, TakesAQuarterOfWhatIsLeftAndNeverMoreThanAGibibyte) {
    EXPECT_EQ(limit_for(1_GiB)->value, (256_MiB).value);
    EXPECT_EQ(limit_for(Bytes{(1_GiB).value - 1})->value, (240_MiB).value);
    EXPECT_EQ(limit_for(64_GiB)->value, (1_GiB).value);
}

TEST(Limit, AMachineWithTooLittleLeftGetsTheAmountNeeded) {
    const auto limit = limit_for(511_MiB);
    ASSERT_FALSE(limit);
    EXPECT_NE(limit.error().remedy.find("512Mi"), std::string::npos);
}

TEST(Pods, ThereAreAllClassesAndOneCriticalPod) {
    const auto plan = plan_for(Scenario::spike, 1_GiB);
    const auto count = [&](QosClass qos) {
        return std::count_if(plan.pods.begin(), plan.pods.end(), [&](const auto& pod) { return pod.qos == qos; });
    };
    EXPECT_EQ(count(QosClass::guaranteed), 2);
    EXPECT_GE(count(QosClass::burstable), 3);
    EXPECT_EQ(count(QosClass::best_effort), 2);
    EXPECT_EQ(std::count_if(plan.pods.begin(), plan.pods.end(), [](const auto& pod) { return pod.critical; }), 1);
}

TEST(Pods, LieWhereTheCgroupfsDriverPutsThem) {
    PodPlan pod;
    pod.uid = "u";
    pod.qos = QosClass::guaranteed;
    EXPECT_EQ(pod_cgroup(pod), "/kubepods/podu");
    pod.qos = QosClass::burstable;
    EXPECT_EQ(pod_cgroup(pod), "/kubepods/burstable/podu");
    pod.qos = QosClass::best_effort;
    EXPECT_EQ(container_cgroup(pod), "/kubepods/besteffort/podu/app");
}

}  // namespace
}  // namespace evictd::demo
