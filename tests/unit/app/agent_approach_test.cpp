// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The agent while memory is near a threshold: steering, the ladder, exits.
#include <gtest/gtest.h>

#include "app/agent.hpp"
#include "unit/app/agent_fixture.hpp"

namespace evictd::app {
namespace {

struct NearALine : Agents {
    // The timer is due at once, and the pod that would go first is known.
    void make_near_a_line() {
        declare(100_MiB);
        make();
        declare(650_MiB);
        clock.set(MonotonicTime{});
        events.tell(WatermarkCrossed{Signal::allocatable_memory_available, true, 264_MiB, 240_MiB}, clock.monotonic());
        turn();  // a real look
    }
};

TEST_F(Agents, OnceMemoryIsNoLongerNearALineNoPodIsSteeredTo) {
    declare(700_MiB);
    make();
    EXPECT_EQ(scores.steered, (std::vector<std::string>{"hog"}));
    declare(100_MiB);
    clock.advance(std::chrono::milliseconds(10));
    events.tell(WatermarkCrossed{Signal::allocatable_memory_available, true, 264_MiB, 240_MiB}, clock.monotonic());
    turn();
    EXPECT_EQ(scores.steered.back(), "");
}

// A rehearsal reads older figures of a pod of very many cgroups than a look does, and memory may move in between.
TEST_F(Agents, AnApproachThatTheLookDoesNotSeeIsSeenAtTheNextOne) {
    declare(100_MiB);
    make();
    const auto approach = [&] {
        clock.advance(std::chrono::seconds(1));
        events.tell(WatermarkCrossed{Signal::allocatable_memory_available, true, 264_MiB, 240_MiB}, clock.monotonic());
        turn();
    };
    int reads = 0;
    tree.before_read = [&] { tree.line(root_id).usage = reads++ == 0 ? 800_MiB : 200_MiB; };
    approach();
    EXPECT_GE(reads, 2);
    EXPECT_TRUE(scores.steered.empty());
    tree.before_read = nullptr;
    declare(700_MiB);
    approach();
    EXPECT_EQ(scores.steered, (std::vector<std::string>{"hog"}));
}

// Waking a sleeping thread takes time.
TEST_F(NearALine, WhileALineIsReachedSoonItWaitsAwakeAndServesACrossingAtOnce) {
    make_near_a_line();
    events.on_await = [&] {
        if (events.awaited.back() > clock.monotonic()) {  // else it only asks, before it rehearses
            declare(900_MiB);
            events.tell(WatermarkCrossed{Signal::allocatable_memory_available, true, 200_MiB, 124_MiB},
                        clock.monotonic());
        }
    };
    clock.advance(std::chrono::milliseconds(2));
    ASSERT_TRUE(loop.run_once(std::chrono::seconds(5)));
    EXPECT_EQ(tree.handle(hog_id)->kills, 1);
}

// Where the next rehearsal is due, the timer is one; else it would be a look.
TEST_F(NearALine, ARehearsalThatWaitedForItsCpuIsFollowedByAnotherSoon) {
    make_near_a_line();
    const auto looks = records.size();
    int reads = 0;
    tree.before_read = [&] {
        reads++;
        clock.wait(std::chrono::milliseconds(100));
    };
    for (int i = 1; i <= 3; i++) {
        clock.advance(std::chrono::milliseconds(100));
        ASSERT_TRUE(loop.run_once(std::chrono::seconds(5)));
        EXPECT_EQ(reads, i);
    }
    EXPECT_EQ(records.size(), looks);
}

struct Flapping : Agents {
    // A pod makes memory flap around an approach, every 3 ms for a minute: what the agent costs of a CPU, if a look or
    // a rehearsal costs this much in turns.
    double share(Duration odd, Duration even) {
        declare(100_MiB);
        make();
        const auto begin = clock.monotonic();
        Duration spent{0};
        tree.before_read = [&, i = 0]() mutable {
            const Duration cost = i++ % 2 == 0 ? even : odd;
            spent += cost;
            clock.advance(cost);
        };
        while (clock.monotonic() - begin < std::chrono::minutes(1)) {
            clock.advance(std::chrono::milliseconds(3));
            events.tell(WatermarkCrossed{Signal::allocatable_memory_available, true, 264_MiB, 254_MiB},
                        clock.monotonic());
            turn();
        }
        tree.before_read = nullptr;
        return std::chrono::duration<double>(spent) / (clock.monotonic() - begin);
    }
    void keep_an_event_waiting() {
        events.on_await = [&] { events.tell(CgroupLife{.change = CgroupChange::populated}, clock.monotonic()); };
    }
};

TEST_F(Flapping, ApproachesAreRehearsedForASmallShareOfACpu) {
    EXPECT_LT(share(std::chrono::milliseconds(18), std::chrono::milliseconds(18)), 0.08) << "10,000 pods";
    EXPECT_LT(share(std::chrono::microseconds(200), std::chrono::microseconds(4200)), 0.08);
}

TEST_F(Flapping, SoAreApproachesWhereAnEventWaitsEachTime) {
    keep_an_event_waiting();
    EXPECT_LT(share(std::chrono::microseconds(240), std::chrono::microseconds(240)), 0.08);
    EXPECT_LT(share(std::chrono::milliseconds(18), std::chrono::milliseconds(18)), 0.08);
    EXPECT_LT(share(std::chrono::microseconds(200), std::chrono::microseconds(4200)), 0.08);
}

// The look that a rehearsal calls for a rung finds no shortage any more.
TEST_F(Agents, RehearsalsCallForLooksTenTimesASecondAtMost) {
    declare(100_MiB);
    make();
    const auto looks = records.size();
    tree.line(hog_id).active_file = 100_MiB;
    tree.before_read = [&, reads = 0]() mutable {
        const bool low = reads++ % 2 == 0;
        tree.line(root_id).usage = low ? 770_MiB : 200_MiB;
        tree.line(hog_id).usage = low ? 670_MiB : 100_MiB;
    };
    for (int i = 0; i < 100; i++) {
        clock.advance(std::chrono::milliseconds(10));
        events.tell(WatermarkCrossed{Signal::allocatable_memory_available, true, 264_MiB, 254_MiB}, clock.monotonic());
        turn();
    }
    EXPECT_GE(records.size(), looks + 1);
    EXPECT_LE(records.size(), looks + 10);
}

// Looks that readers cause warm the choice, not the way to the victim's processes.
TEST_F(NearALine, LooksDoNotPutOffRehearsals) {
    make_near_a_line();
    tree.before_read = [&] { clock.advance(std::chrono::milliseconds(1)); };
    const int rehearsed = tree.handle(hog_id)->listings;
    auto next = clock.monotonic();
    for (const auto end = next + std::chrono::seconds(10); clock.monotonic() < end;) {
        clock.advance(std::chrono::milliseconds(1));
        if (clock.monotonic() < next) {
            (void)loop.run_once(std::chrono::nanoseconds(0));
            continue;
        }
        next = clock.monotonic() + std::chrono::milliseconds(30);
        agent->request_look();
    }
    EXPECT_GE(tree.handle(hog_id)->listings, rehearsed + 100) << "not even ten a second";
}

// Pods can cause as many as they like.
TEST_F(Flapping, ARehearsalGivesWayToAnEventButNotTwiceInARow) {
    declare(100_MiB);
    make();
    declare(650_MiB);
    keep_an_event_waiting();
    for (int i = 0; i < 2; i++) {
        EXPECT_TRUE(scores.steered.empty());
        clock.advance(std::chrono::milliseconds(10));
        events.tell(WatermarkCrossed{Signal::allocatable_memory_available, true, 264_MiB, 240_MiB}, clock.monotonic());
        turn();
    }
    EXPECT_EQ(scores.steered, (std::vector<std::string>{"hog"}));
}

// Each look is published; two pods of one size take turns at each rehearsal.
TEST_F(Agents, AnotherFirstPodIsARealLookTenTimesASecondAtMost) {
    declare(100_MiB);
    make();
    const auto looks = records.size();
    for (int i = 0; i < 100; i++) {
        const bool odd = i % 2 == 1;
        tree.line(hog_id).usage = odd ? 390_MiB : 410_MiB;
        tree.line(quiet_id).usage = odd ? 410_MiB : 390_MiB;
        tree.line(root_id).usage = 800_MiB;
        clock.advance(std::chrono::milliseconds(10));
        events.tell(WatermarkCrossed{Signal::allocatable_memory_available, true, 264_MiB, 240_MiB}, clock.monotonic());
        turn();
    }
    EXPECT_GE(records.size(), looks + 5);
    EXPECT_LE(records.size(), looks + 10);
}

TEST_F(Agents, OnTheApproachCacheIsAskedForAndWhatCameOfItIsPartOfTheNextLook) {
    declare(100_MiB);
    make();
    const auto before = records.size();
    tree.line(hog_id).usage = 670_MiB;
    tree.line(hog_id).active_file = 100_MiB;
    tree.line(root_id).usage = 770_MiB;
    clock.advance(std::chrono::milliseconds(1));
    events.tell(WatermarkCrossed{Signal::allocatable_memory_available, true, 264_MiB, 254_MiB}, clock.monotonic());
    turn();
    ASSERT_EQ(rungs.said.size(), 1U);
    ASSERT_EQ(rungs.said[0].size(), 1U);
    const Rung rung = rungs.said[0][0].rung;
    EXPECT_EQ(rung.pod, PodUid{"hog"});
    EXPECT_EQ(rung.bytes, 16_MiB) << "10 MiB are missing, and less than 16 is not asked for";
    EXPECT_EQ(rungs.said[0][0].cgroup, tree.handle(hog_id));
    EXPECT_EQ(records.size(), before + 1) << "what is asked for is decided, told and recorded";
    EXPECT_EQ(tree.handle(hog_id)->kills, 0);

    agent->note_rung(
        {.rung = rung, .status = RungStatus::ended, .at = clock.monotonic(), .bytes = 16_MiB, .error = {}});
    ASSERT_EQ(last().observation.rungs.size(), 1U);
    EXPECT_TRUE(last().decision.ladder.empty());
    ASSERT_EQ(rungs.said.size(), 2U);
    EXPECT_TRUE(rungs.said[1].empty());
}

TEST_F(Agents, ExitsAreReportedFromTheApproachUntilSomeTimeAfterIt) {
    declare(100_MiB);
    make();
    EXPECT_TRUE(events.exits.empty());
    tree.line(hog_id).usage = 700_MiB;
    tree.line(root_id).usage = 800_MiB;
    events.tell(WatermarkCrossed{Signal::allocatable_memory_available, true, 264_MiB, 240_MiB}, clock.monotonic());
    turn();
    EXPECT_EQ(events.exits, std::vector{true});
    tree.line(hog_id).usage = 100_MiB;
    tree.line(root_id).usage = 200_MiB;
    for (const auto& [seconds, asked] : {std::pair{5, 1U}, {6, 2U}, {60, 2U}}) {
        clock.advance(std::chrono::seconds(seconds));
        agent->request_look();
        EXPECT_EQ(events.exits.size(), asked) << seconds;
    }
    EXPECT_FALSE(events.exits.back());
}

TEST_F(Agents, WhereNoApproachWasSeenItLooksSoonAfterAskingForExits) {
    declare(100_MiB);
    make();
    declare(800_MiB);
    cross(124_MiB);
    EXPECT_EQ(events.exits, std::vector{true});
    EXPECT_LE(agent->next_look() - clock.monotonic(), std::chrono::milliseconds(5)) << "it may have ended before";
    EXPECT_EQ(tree.handle(hog_id)->kills, 1);
}

TEST_F(Agents, WhileALineIsNearTheFirstVictimIsTheOneForTheKernelToo) {
    declare(100_MiB);
    make();
    EXPECT_TRUE(scores.steered.empty()) << "memory is not short";
    declare(700_MiB);  // 224 MiB are left, and the thresholds are 200 and 250
    events.tell(WatermarkCrossed{Signal::allocatable_memory_available, true, 264_MiB, 240_MiB}, clock.monotonic());
    turn();
    EXPECT_EQ(scores.steered, (std::vector<std::string>{"hog"}));
    events.tell(WatermarkCrossed{Signal::allocatable_memory_available, true, 264_MiB, 240_MiB}, clock.monotonic());
    turn();
    EXPECT_EQ(scores.steered.size(), 1U) << "said once";
    EXPECT_EQ(scores.urgent, 1);
    declare(100_MiB);
    clock.advance(std::chrono::seconds(1));
    agent->request_look();
    EXPECT_EQ(scores.steered.back(), "");
    EXPECT_EQ(scores.urgent, 1) << "putting back has time";
}

TEST_F(Agents, TheVictimOnItsWayStaysTheKernelsChoice) {
    declare(100_MiB);
    make();
    declare(800_MiB);
    cross(124_MiB);
    cross(124_MiB);
    EXPECT_EQ(scores.steered, (std::vector<std::string>{"hog"}));
}

}  // namespace
}  // namespace evictd::app
