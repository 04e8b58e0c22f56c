// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The lost race: is it lost by construction, would the kernel choose otherwise, and is the verdict spoken over facts?
#include "demo/oomrace.hpp"

#include <cstdlib>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.hpp"
#include "demo/documents.hpp"

namespace evictd::demo {
namespace {

using testing::Contains;
using testing::HasSubstr;

// oom_badness(): pages, and thousandths of what may be used.
std::int64_t badness(std::int64_t size, int score, Bytes limit) { return size + limit.value / 1000 * score; }

TEST(OomRacePlan, ByItselfTheKernelTakesTheQuietPodAndSteeredTheGrower) {
    constexpr int score = 520;  // 1000 - 48 %
    for (const Bytes limit : {128_MiB, 256_MiB, 1_GiB}) {
        const auto plan = oomrace_plan(limit, 16_GiB, true);
        const auto& grower = plan.actor_pod();
        const auto& quiet = plan.pods[plan.quiet];
        EXPECT_EQ(grower.request, quiet.request);
        EXPECT_LT(grower.priority, quiet.priority);
        EXPECT_LT(plan.grows_to, grower.request) << "neither exceeds its request: priority decides";
        const auto one = plan.grows_to.value / grower.processes;
        EXPECT_GT(badness(quiet.holds.value, score, limit), badness(one, score, limit));
        EXPECT_GT(badness(one, 1000, limit), badness(quiet.holds.value, score, limit) + limit.value / 20);
        const auto held = std::accumulate(plan.pods.begin(), plan.pods.end(), std::int64_t{0},
                                          [](auto sum, const auto& pod) { return sum + pod.holds.value; });
        EXPECT_GT(held - grower.holds.value + plan.grows_to.value, limit.value) << "the limit is hit";
        EXPECT_LT(held, limit.value * 3 / 4);
    }
}

TEST(OomRacePlan, TheAgentsConfigurationIsValidAndSetsSteering) {
    const AgentPlaces places{"/tmp/x", "/sys/fs/bpf/x", "/x"};
    for (const bool steering : {true, false}) {
        const auto config = config::load(agent_config(oomrace_plan(1_GiB, 16_GiB, steering), places, true), "c.yaml");
        ASSERT_TRUE(config);
        EXPECT_EQ(config->agent.oom_score_adj_steering, steering);
        for (const auto& threshold : config->eviction.thresholds) {
            EXPECT_FALSE(threshold.hard()) << "nobody may be evicted before the kernel has run out";
        }
        EXPECT_FALSE(config->eviction.thresholds.empty());
    }
}

class OomRaceVerdict : public testing::Test {
protected:
    void hear(codec::Reason reason, const PodPlan& pod, const std::string& message) {
        codec::Event event;
        event.reason = reason;
        event.message = message;
        event.pod = codec::EventPod{pod.name_space, pod.name, pod.uid, pod.qos, pod.priority};
        story.hear(event);
    }
    void raise(const PodPlan& pod) {
        hear(codec::Reason::oom_score_adjusted, pod, "Raised oom_score_adj of 8 processes");
    }
    void kill(const PodPlan& pod) {
        hear(codec::Reason::oom_killing, pod, "Memory cgroup out of memory");
        facts.oom_kills++;
    }

    Plan plan = oomrace_plan(1_GiB, 16_GiB, true);
    Story story;
    Facts facts;
};

TEST_F(OomRaceVerdict, TheKernelTookWhatEvictdRankedFirst) {
    raise(plan.actor_pod());
    kill(plan.actor_pod());
    const auto verdict = judge(plan, story, facts);
    EXPECT_TRUE(verdict.right) << testing::PrintToString(verdict.faults);
    EXPECT_THAT(verdict.sentence, HasSubstr("took what evictd would have taken: batch/report"));
}

TEST_F(OomRaceVerdict, AnotherPodIsWrongAndNamed) {
    raise(plan.actor_pod());
    kill(plan.actor_pod());
    kill(plan.pods[plan.quiet]);
    EXPECT_THAT(judge(plan, story, facts).faults, Contains(HasSubstr("shop/cache")));
}

TEST_F(OomRaceVerdict, NoKillIsNoRaceAndRaisingAfterwardsIsTooLate) {
    EXPECT_FALSE(judge(plan, story, facts).right);
    kill(plan.actor_pod());
    raise(plan.actor_pod());
    EXPECT_THAT(judge(plan, story, facts).faults, Contains(HasSubstr("did not raise")));
}

TEST_F(OomRaceVerdict, ABystandersEndIsWrong) {
    raise(plan.actor_pod());
    kill(plan.actor_pod());
    facts.others_ended = {"payments/db, killed by signal 9"};
    EXPECT_FALSE(judge(plan, story, facts).right);
}

TEST_F(OomRaceVerdict, WithoutSteeringTheQuietPodIsWhatIsExpected) {
    plan = oomrace_plan(1_GiB, 16_GiB, false);
    facts.others_ended = {"shop/cache, killed by signal 9"};
    kill(plan.pods[plan.quiet]);
    EXPECT_TRUE(judge(plan, story, facts).right);
    kill(plan.actor_pod());
    EXPECT_TRUE(judge(plan, story, facts).right) << "it was next";
}

TEST_F(OomRaceVerdict, WithoutSteeringTheGrowerFirstIsWrong) {
    plan = oomrace_plan(1_GiB, 16_GiB, false);
    facts.others_ended = {"shop/cache, killed by signal 9"};
    kill(plan.actor_pod());
    kill(plan.pods[plan.quiet]);
    EXPECT_FALSE(judge(plan, story, facts).right);
}

}  // namespace
}  // namespace evictd::demo
