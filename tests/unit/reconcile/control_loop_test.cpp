// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The threads that hold limits, freezes and scores, when the agent ends while they have work: all is put back, and
// what is still worked off finds its lane.
#include <memory>

#include <gtest/gtest.h>

#include "app/ladder_lanes.hpp"
#include "app/score_lane.hpp"
#include "fakes/fake_cgroups.hpp"
#include "fakes/fake_pod_controls.hpp"
#include "fakes/fake_scores.hpp"
#include "fakes/temp_dir.hpp"

namespace evictd::app {
namespace {

// Whether the lane's thread or the end comes first is up to the scheduler: often enough for both.
constexpr int rounds = 200;

struct Lanes : testing::Test {
    Lanes() { config.agent.state_path = directory / "state"; }

    fakes::TempDir directory;
    sys::SystemClock clock;
    Config config;
    port::PodCgroupPtr cgroup = std::make_shared<fakes::FakePodCgroup>(CgroupId{7}, "/kubepods/poduid-web");
};

TEST_F(Lanes, ALimitThatIsWantedWhenTheAgentEndsIsPutBack) {
    fakes::FakePodControls controls;
    for (int round = 0; round < rounds; round++) {
        controls.pods[{7}] = {.usage = 500_MiB};
        int told = 0;
        {
            auto lanes = LadderLanes::make({controls, clock, [&](const RungOutcome&) { told++; }}, config);
            ASSERT_TRUE(lanes) << lanes.error().text();
            const Rung rung{
                RungKind::squeeze, {"uid-web"}, "default/web", {7}, 512_MiB, clock.monotonic() + std::chrono::hours(1)};
            (*lanes)->want({{rung, cgroup}});
        }
        EXPECT_EQ(controls.pods.at({7}).high, port::no_limit);
        EXPECT_EQ(told, 2) << "squeezed and released";
    }
}

TEST_F(Lanes, AScoreThatIsRaisedWhenTheAgentEndsIsPutBack) {
    Pod pod;
    pod.uid = {"uid-web"};
    pod.name = "web";
    pod.containers.push_back({.name = "app", .requests = {}, .limits = {}});
    const auto shared = std::make_shared<const Pod>(std::move(pod));
    config.agent.oom_score_adj_policy = OomScoreAdjPolicy::observe;
    config.agent.oom_score_adj_steering = true;
    fakes::FakeScores scores;
    for (int round = 0; round < rounds; round++) {
        scores.processes[{7}] = {{.pid = 100, .score = 500}};
        scores.log.clear();
        {
            auto lane = ScoreLane::make({scores, clock, [](const AgentNotice&) {}, [](const SourceRow&) {}}, config);
            ASSERT_TRUE(lane) << lane.error().text();
            (*lane)->look({{shared, cgroup}}, 1_GiB);
            (*lane)->steer(shared->uid);
        }
        EXPECT_EQ(scores.log, (std::vector<std::string>{"100=1000", "100=500"}));
    }
}

}  // namespace
}  // namespace evictd::app
