// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "demo/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "demo/view.hpp"

namespace evictd::demo {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

codec::Event event(codec::Reason reason, const PodPlan& pod, Duration at) {
    codec::Event made;
    made.time = WallTime{at};
    made.reason = reason;
    made.message = name(reason);
    made.pod = codec::EventPod{pod.name_space, pod.name, pod.uid, pod.qos, pod.priority};
    made.threshold = codec::EventThreshold{true, {200}, {190}, {1000}, Duration{0}};
    return made;
}

class VerdictOnSpike : public testing::Test {
protected:
    VerdictOnSpike() {
        story.begin(WallTime{}, "begin");
        story.hear(event(codec::Reason::eviction_threshold_met, plan.actor_pod(), milliseconds(100)));
        facts.actor_gone = true;
        facts.actor_end = "killed by signal 9";
    }
    void evicted(const PodPlan& pod) {
        auto gone = event(codec::Reason::evicted, pod, milliseconds(120));
        gone.latency = {microseconds(60), microseconds(200), microseconds(300), microseconds(560), milliseconds(12)};
        story.hear(event(codec::Reason::evicting, pod, milliseconds(101)));
        story.hear(gone);
    }

    Plan plan = plan_for(Scenario::spike, 1_GiB);
    Story story;
    Facts facts;
};

TEST_F(VerdictOnSpike, TheRightPodAndOnlyItIsRight) {
    evicted(plan.actor_pod());
    const auto verdict = judge(plan, story, facts);
    EXPECT_TRUE(verdict.right);
    EXPECT_THAT(verdict.sentence, HasSubstr("batch/report was evicted, and only it"));
    EXPECT_THAT(verdict.remarks, Contains(HasSubstr("From the crossing to SIGKILL: 560 us")));
    EXPECT_THAT(verdict.remarks, Contains(HasSubstr("looks every 10s")));
}

TEST_F(VerdictOnSpike, WithoutTheKernelsTimeOnlyWhatWasMeasuredIsClaimed) {
    auto gone = event(codec::Reason::evicted, plan.actor_pod(), milliseconds(120));
    gone.latency = {Duration{0}, microseconds(200), microseconds(300), std::nullopt, std::nullopt};
    story.hear(event(codec::Reason::evicting, plan.actor_pod(), milliseconds(101)));
    story.hear(gone);
    EXPECT_THAT(judge(plan, story, facts).remarks, Contains(HasSubstr("From noticing it to SIGKILL: 500 us")));
    EXPECT_EQ(story.stretches().front().name, "decide");
}

TEST_F(VerdictOnSpike, NoEvictionIsWrong) { EXPECT_FALSE(judge(plan, story, facts).right); }

TEST_F(VerdictOnSpike, AnotherPodIsWrongAndNamed) {
    evicted(plan.pods.front());
    EXPECT_THAT(judge(plan, story, facts).faults, Contains(HasSubstr("payments/db")));
}

TEST_F(VerdictOnSpike, ASecondPodIsWrong) {
    evicted(plan.actor_pod());
    evicted(plan.pods.back());
    EXPECT_FALSE(judge(plan, story, facts).right);
}

TEST_F(VerdictOnSpike, TheAgentsReportIsNotEnough) {
    evicted(plan.actor_pod());
    facts.actor_gone = false;
    EXPECT_FALSE(judge(plan, story, facts).right);
}

TEST_F(VerdictOnSpike, ABystanderThatEndedIsWrong) {
    evicted(plan.actor_pod());
    facts.others_ended = {"shop/web, killed by signal 9"};
    EXPECT_THAT(judge(plan, story, facts).faults, Contains(HasSubstr("shop/web")));
}

TEST_F(VerdictOnSpike, AnOomKillInThePodsIsWrongAndOneElsewhereIsNot) {
    evicted(plan.actor_pod());
    codec::Event elsewhere;
    elsewhere.reason = codec::Reason::oom_killing;
    story.hear(elsewhere);
    EXPECT_TRUE(judge(plan, story, facts).right);
    facts.oom_kills = 1;
    EXPECT_FALSE(judge(plan, story, facts).right);
}

TEST(VerdictOnPageCache, IsRightOnlyWhenTheCacheWasFullAndNoPodWasEvicted) {
    const auto plan = plan_for(Scenario::pagecache, 1_GiB);
    Story story;
    Facts facts;
    facts.most_used = 500_MiB;
    EXPECT_FALSE(judge(plan, story, facts).right);
    facts.most_used = 1020_MiB;
    EXPECT_THAT(judge(plan, story, facts).faults, IsEmpty());
    story.hear(event(codec::Reason::evicted, plan.actor_pod(), milliseconds(1)));
    EXPECT_FALSE(judge(plan, story, facts).right);
}

struct VerdictOnSockets : testing::Test {
    VerdictOnSockets() {
        story.begin(WallTime{}, "begin");
        facts.actor_refused = facts.actor_opened_again = true;
        facts.opened_meanwhile = 12;
        shed.latency.total = microseconds(250);
    }
    [[nodiscard]] Verdict told() {
        story.hear(shed);
        story.hear(restored);
        return judge(plan, story, facts);
    }
    Plan plan = plan_for(Scenario::sockets, 1_GiB);
    Story story;
    Facts facts;
    codec::Event shed = event(codec::Reason::sockets_shed, plan.actor_pod(), milliseconds(100));
    codec::Event restored = event(codec::Reason::sockets_restored, plan.actor_pod(), milliseconds(1700));
};

TEST_F(VerdictOnSockets, ThePodAloneWasRefusedAndGotThemAgain) {
    const auto verdict = told();
    EXPECT_THAT(verdict.faults, IsEmpty());
    EXPECT_THAT(verdict.sentence, HasSubstr("batch/report got no new sockets while memory was short"));
    EXPECT_THAT(verdict.remarks, Contains(HasSubstr("refused: 250 us")));
    EXPECT_THAT(verdict.remarks, Contains(HasSubstr("shop/web opened more than 110 sockets")));
}

TEST_F(VerdictOnSockets, WhatTheProcessesSawCounts) {
    facts.actor_refused = facts.actor_opened_again = false;
    EXPECT_THAT(told().faults, Contains(HasSubstr("batch/report was never refused a socket")));
    facts.actor_refused = true;
    EXPECT_THAT(judge(plan, story, facts).faults, Contains(HasSubstr("got no sockets again")));
}

TEST_F(VerdictOnSockets, ABystanderMustHaveOpenedSomeAndBeenRefusedNone) {
    facts.opened_meanwhile = 0;
    EXPECT_THAT(told().faults, Contains(HasSubstr("shop/web opened no sockets")));
    facts.opened_meanwhile = 3;
    facts.neighbour_refused = true;
    EXPECT_THAT(judge(plan, story, facts).faults, Contains(HasSubstr("a bystander was refused a socket: shop/web")));
}

TEST_F(VerdictOnSockets, AnEvictionOrAnotherPodsNameIsWrong) {
    story.hear(event(codec::Reason::evicted, plan.actor_pod(), milliseconds(1)));
    EXPECT_FALSE(told().right);
    shed = event(codec::Reason::sockets_shed, plan.pods.front(), milliseconds(100));
    Story other;
    other.hear(shed);
    other.hear(restored);
    EXPECT_THAT(judge(plan, other, facts).faults, Contains(HasSubstr("did not report")));
}

TEST(StoryOfALeak, ShowsTheGracePeriodsInsteadOfLatencies) {
    const auto plan = plan_for(Scenario::leak, 1_GiB);
    Story story;
    story.begin(WallTime{}, "begin");
    for (const auto& [reason, at] : {std::pair{codec::Reason::eviction_threshold_met, milliseconds(1000)},
                                     {codec::Reason::evicting, milliseconds(3000)},
                                     {codec::Reason::evicted, milliseconds(4200)}}) {
        auto told = event(reason, plan.actor_pod(), at);
        told.threshold->hard = false;
        story.hear(told);
    }
    const auto stretches = story.stretches();
    ASSERT_EQ(stretches.size(), 2U);
    EXPECT_EQ(stretches[0].length, Duration(milliseconds(2000)));
    EXPECT_EQ(stretches[1].start, Duration(milliseconds(2000)));
    EXPECT_EQ(stretches[1].length, Duration(milliseconds(1200)));
}

TEST_F(VerdictOnSpike, ThePictureFitsTheTerminalAndKeepsTheNewestLines) {
    evicted(plan.actor_pod());
    for (const int rows : {8, 15, 24, 60}) {
        const auto lines =
            picture({plan, story, "now", "a hint", Bytes{0}, std::nullopt}, {.unicode = false, .columns = 80}, rows);
        EXPECT_LE(lines.size(), static_cast<std::size_t>(rows));
        if (rows >= 24) {
            EXPECT_THAT(lines, Contains(HasSubstr("gone       Evicted")));
        }
    }
}

TEST_F(VerdictOnSpike, TheTimelineLaysEachStretchWhereItWas) {
    evicted(plan.actor_pod());
    const auto lines = timeline(story, {.unicode = false});
    ASSERT_EQ(lines.size(), 4U);
    EXPECT_THAT(lines[0], HasSubstr("detect   ###  "));
    EXPECT_THAT(lines[2], HasSubstr("#################  300 us"));
    EXPECT_THAT(lines[3], HasSubstr("12 ms"));
}

}  // namespace
}  // namespace evictd::demo
