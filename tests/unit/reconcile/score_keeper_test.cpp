// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What is set, what is left alone, what is told and how often, and that whatever was raised is put back.
#include <filesystem>

#include "unit/reconcile/score_fixture.hpp"

namespace evictd::reconcile {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(Keeper, SetsTheClassScoreOfEveryProcessAndReportsItOnce) {
    scores.processes = {{{1}, {{.pid = 10, .score = 0}, {.pid = 11, .score = 1000}}},
                        {{2}, {{.pid = 20, .score = wanted}}}};
    make();
    look();
    EXPECT_THAT(scores.log, ElementsAre("10=900", "11=900"));
    ASSERT_EQ(told.size(), 1U);
    EXPECT_THAT(told[0].message, HasSubstr("Set oom_score_adj of 2 processes of pod default/a"));
    EXPECT_THAT(told[0].message, HasSubstr("pid 11 in app had 1000, not 900"));
    EXPECT_EQ(told[0].pod, a.pod);
    EXPECT_TRUE(told[0].error.empty());
    EXPECT_EQ(keeper->figures().repaired, 2U);
}

TEST_F(Keeper, DriftIsSetAtOnceAndReportedAsASum) {
    scores.processes = {{{1}, {{.pid = 10, .score = wanted}}}, {{2}, {}}};
    make();
    look();
    for (int i = 0; i < 4; i++) {
        scores.at(1).score = -500;
        keeper->check(a.pod->uid);
        EXPECT_EQ(scores.at(1).score, wanted);
        clock.advance(seconds(1));
    }
    EXPECT_EQ(told.size(), 1U);
    pass(seconds(10));
    ASSERT_EQ(told.size(), 2U);
    EXPECT_THAT(told[1].message, HasSubstr("Set oom_score_adj of 3 processes"));
}

TEST_F(Keeper, WhatWasWrittenWhileTheKernelKeptSilentIsSeenAMomentLater) {
    scores.processes = {{{1}, {{.pid = 10, .score = 0}}}, {{2}, {}}};
    make();
    look();
    scores.at(1).score = 3;  // no event comes of it
    ASSERT_TRUE(keeper->due());
    EXPECT_LE(*keeper->due() - clock.monotonic(), milliseconds(200));
    pass(milliseconds(200));
    EXPECT_EQ(scores.at(1).score, wanted);
}

TEST_F(Keeper, AlsoAfterTheKernelSpokeOfOurOwnWriteOrOfOneThatWasRight) {
    scores.processes = {{{1}, {{.pid = 10, .score = 0}}}, {{2}, {{.pid = 20, .score = wanted}}}};
    make();
    look();
    keeper->check(a.pod->uid);
    keeper->check(b.pod->uid);
    scores.at(1).score = 3;  // no event comes of these
    scores.at(2).score = 3;
    pass(milliseconds(200));
    EXPECT_EQ(scores.at(1).score, wanted);
    EXPECT_EQ(scores.at(2).score, wanted);
    pass(milliseconds(200));
    pass(seconds(11));  // and has told all
    EXPECT_FALSE(keeper->due()) << "and then it is quiet";
}

TEST_F(Keeper, ALoopingPodIsLeftAloneForAWhileAndThatIsReported) {
    scores.processes = {{{1}, {{.pid = 10, .score = 0}}}, {{2}, {}}};
    make();
    look();
    for (int i = 0; i < 50; i++) {
        scores.at(1).score = 0;
        keeper->check(a.pod->uid);
        clock.advance(milliseconds(100));
        keeper->act_on_time();
    }
    EXPECT_LT(scores.log.size(), 12U);
    pass(seconds(11));
    EXPECT_EQ(count("leaves this pod alone for 10s"), 1U);
    EXPECT_EQ(scores.at(1).score, wanted) << "and then it is set again";
    EXPECT_LE(told.size(), 3U);
}

TEST_F(Keeper, WhatMayNotBeLoweredIsReportedOnceForEachPodAndNothingFails) {
    scores.processes = {{{1}, {{.pid = 10, .score = 1000, .lowest = 950}, {.pid = 11, .score = 0}}},
                        {{2}, {{.pid = 20, .score = 1000, .lowest = 1000}}}};
    make();
    for (int i = 0; i < 5; i++) {
        look();
        clock.advance(seconds(20));
    }
    EXPECT_EQ(scores.at(1, 1).score, wanted) << "the others are set all the same";
    ASSERT_EQ(told.size(), 2U);
    for (const auto& notice : told) {
        EXPECT_THAT(notice.error, HasSubstr("oom_score_adj 900 for pid"));
        EXPECT_THAT(notice.error, HasSubstr("give evictd CAP_SYS_RESOURCE"));
    }
    EXPECT_EQ(keeper->figures().pods_refused, 2U);
}

TEST_F(Keeper, ObservingAndDryRunsWriteNothing) {
    for (const bool dry_run : {false, true}) {
        scores.processes = {{{1}, {{.pid = 10, .score = 0}}}, {{2}, {{.pid = 20, .score = wanted}}}};
        told.clear();
        make({.policy = dry_run ? OomScoreAdjPolicy::enforce : OomScoreAdjPolicy::observe, .dry_run = dry_run});
        for (int i = 0; i < 5; i++) {
            look();
            keeper->check(a.pod->uid);
            keeper->steer(dry_run ? std::optional(a.pod->uid) : std::nullopt);
            clock.advance(seconds(20));
        }
        EXPECT_THAT(scores.log, IsEmpty());
        ASSERT_EQ(told.size(), 1U) << "once, as long as it stays so";
        EXPECT_EQ(told[0].dry_run, dry_run);
        EXPECT_THAT(told[0].message, HasSubstr(dry_run ? "Dry run: would have set" : "Observe only, not changed"));
    }
}

TEST_F(Keeper, OffReadsNoScores) {
    scores.processes = {{{1}, {{.pid = 10, .score = 0}}}, {{2}, {}}};
    make({.policy = OomScoreAdjPolicy::off});
    look();
    keeper->check(a.pod->uid);
    EXPECT_EQ(scores.rounds, 0);
}

TEST_F(Keeper, ASandboxAndAPodThatIsNotKnownAreLeftAlone) {
    scores.processes = {{{1}, {{.pid = 10, .score = -998, .container = "cri-containerd-0123.scope"}}},
                        {{2}, {{.pid = 20, .score = -998}}},
                        {{3}, {{.pid = 30, .score = 0}}}};
    make();
    look();
    keeper->check(PodUid{"uid-c"});
    EXPECT_THAT(scores.log, ElementsAre("20=900")) << "-998 in a known container is no sandbox's";
}

TEST_F(Keeper, ANewPodIsLookedAtWhenItHasHadTimeToStart) {
    scores.processes = {{{1}, {}}, {{2}, {{.pid = 20, .score = 0}}}};
    make();
    keeper->look({a}, 1_GiB);
    keeper->expect(b);
    EXPECT_EQ(scores.at(2).score, 0);
    pass(milliseconds(1900));
    EXPECT_EQ(scores.at(2).score, 0);
    pass(milliseconds(200));
    EXPECT_EQ(scores.at(2).score, wanted);
}

TEST_F(Keeper, ManyPodsAtOnceAreReportedInOneSentence) {
    std::vector<KeptPod> pods;
    for (std::uint64_t i = 1; i <= 30; i++) {
        pods.push_back(pod("p" + std::to_string(i), i));
        scores.processes[{i}] = {{.pid = static_cast<pid_t>(i), .score = 0}};
    }
    make();
    keeper->look(pods, 1_GiB);
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].message, "Set oom_score_adj of 30 processes in 30 pods");
}

TEST_F(Keeper, SteeringRaisesTheFirstAndOnlyIt) {
    scores.processes = {{{1}, {{.pid = 10, .score = wanted}, {.pid = 11, .score = wanted}}},
                        {{2}, {{.pid = 20, .score = wanted}}}};
    make();
    look();
    keeper->steer(a.pod->uid);
    EXPECT_THAT(scores.log, ElementsAre("10=1000", "11=1000"));
    EXPECT_EQ(count("Raised oom_score_adj of 2 processes of pod default/a to 1000"), 1U);
    EXPECT_EQ(keeper->figures().steered, "default/a");
    look();
    keeper->check(a.pod->uid);
    EXPECT_EQ(scores.at(1).score, 1000) << "enforcing does not undo it";
    keeper->steer(b.pod->uid);
    EXPECT_EQ(scores.at(1).score, wanted) << "the order changed";
    EXPECT_EQ(scores.at(2).score, 1000);
}

TEST_F(Keeper, WhenMemoryIsNotShortAnyMoreEverythingIsPutBack) {
    for (const auto policy : {OomScoreAdjPolicy::enforce, OomScoreAdjPolicy::off}) {
        scores.processes = {{{1}, {{.pid = 10, .score = 700}, {.pid = 11, .score = 1000}}}, {{2}, {}}};
        make({.policy = policy});
        look();
        keeper->steer(a.pod->uid);
        keeper->steer(std::nullopt);
        EXPECT_EQ(scores.at(1).score, 1000) << "not at the first tremble";
        pass(milliseconds(1100));
        const bool enforced = policy == OomScoreAdjPolicy::enforce;
        EXPECT_EQ(scores.at(1, 0).score, enforced ? wanted : 700);
        EXPECT_EQ(scores.at(1, 1).score, enforced ? wanted : 1000);
        EXPECT_FALSE(std::filesystem::exists(memory));
    }
}

TEST_F(Keeper, AnApproachThatComesBackWithinASecondWritesNothing) {
    scores.processes = {{{1}, {{.pid = 10, .score = wanted}}}, {{2}, {}}};
    make();
    look();
    for (int i = 0; i < 100; i++) {
        keeper->steer(a.pod->uid);
        pass(milliseconds(5));
        keeper->steer(std::nullopt);
        pass(milliseconds(5));
    }
    EXPECT_EQ(scores.log.size(), 1U);
}

TEST_F(Keeper, ChildrenOfTheRaisedAreRaisedAndGetWhatTheirParentHad) {
    scores.processes = {{{1}, {{.pid = 10, .score = 700}}}, {{2}, {}}};
    make({.policy = OomScoreAdjPolicy::off});
    look();
    keeper->steer(a.pod->uid);
    scores.processes[{1}].push_back({.pid = 11, .score = 1000});  // forked
    scores.processes[{1}].push_back({.pid = 12, .score = 300});   // brought in from outside
    pass(milliseconds(1100));
    EXPECT_EQ(scores.at(1, 2).score, 1000);
    keeper->release();
    EXPECT_EQ(scores.at(1, 0).score, 700);
    EXPECT_EQ(scores.at(1, 1).score, 700);
    EXPECT_EQ(scores.at(1, 2).score, 300);
}

TEST_F(Keeper, AConcurrentWriteIsNotOverruled) {
    scores.processes = {{{1}, {{.pid = 10, .score = 700}}}, {{2}, {}}};
    make({.policy = OomScoreAdjPolicy::off});
    look();
    keeper->steer(a.pod->uid);
    scores.at(1).score = 555;
    keeper->release();
    EXPECT_EQ(scores.at(1).score, 555);
}

TEST_F(Keeper, WhereTheClassIsOutOfReachTheOriginalComesBack) {
    scores.processes = {{{1}, {{.pid = 10, .score = 950, .lowest = 940}}}, {{2}, {}}};
    make();
    look();
    keeper->steer(a.pod->uid);
    keeper->release();
    EXPECT_EQ(scores.at(1).score, 950);
}

TEST_F(Keeper, WhatAKilledAgentLeftIsPutBackByTheNext) {
    scores.processes = {{{1}, {{.pid = 10, .score = 700, .started = 5}, {.pid = 11, .score = 600, .started = 6}}},
                        {{2}, {{.pid = 20, .score = 1000}}}};
    make({.policy = OomScoreAdjPolicy::off});
    look();
    keeper->steer(a.pod->uid);
    ASSERT_TRUE(std::filesystem::exists(memory));
    scores.at(1, 1).started = 99;  // that pid is another process now, forked from the first
    make({.policy = OomScoreAdjPolicy::off});
    keeper->recover(std::vector<port::FoundPod>{{a.pod->uid, a.cgroup}, {b.pod->uid, b.cgroup}});
    EXPECT_EQ(scores.at(1, 0).score, 700);
    EXPECT_EQ(scores.at(1, 1).score, 700);
    EXPECT_EQ(scores.at(2).score, 1000) << "it had that by itself";
    EXPECT_FALSE(std::filesystem::exists(memory));
    EXPECT_EQ(count("Put back oom_score_adj of 2 processes"), 1U);
}

TEST_F(Keeper, AnotherCgroupUnderTheSameUidIsNotTouched) {
    scores.processes = {{{1}, {{.pid = 10, .score = 700}}}, {{2}, {}}, {{3}, {{.pid = 10, .score = 1000}}}};
    make({.policy = OomScoreAdjPolicy::off});
    look();
    keeper->steer(a.pod->uid);
    make({.policy = OomScoreAdjPolicy::off});
    keeper->recover(std::vector<port::FoundPod>{{a.pod->uid, pod("a", 3).cgroup}});
    EXPECT_EQ(scores.at(3).score, 1000);
}

TEST_F(Keeper, ARaisedPodThatGoesAwayLeavesNothing) {
    scores.processes = {{{1}, {{.pid = 10, .score = wanted}}}, {{2}, {}}};
    make();
    look();
    keeper->steer(a.pod->uid);
    scores.processes.erase({1});
    keeper->look({b}, 1_GiB);
    EXPECT_FALSE(std::filesystem::exists(memory));
    keeper->release();
}

}  // namespace
}  // namespace evictd::reconcile
