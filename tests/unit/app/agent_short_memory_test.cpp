// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the agent does while memory is short and no pod is evicted yet: looks, rehearsal, shedding.
#include <gtest/gtest.h>

#include "app/agent.hpp"
#include "unit/app/agent_fixture.hpp"

namespace evictd::app {
namespace {

TEST_F(Agents, WhileMemoryIsShortTheFirstInOrderGetsNoSocketsAndThenItDoes) {
    eviction.thresholds[0].grace_period = std::chrono::seconds(30);
    eviction.shed_sockets = true;
    declare(100_MiB);
    make();
    EXPECT_TRUE(sockets.refused_now.empty());
    declare(800_MiB);
    cross(124_MiB);
    EXPECT_EQ(sockets.refused_now, std::vector{CgroupId{hog_id}});
    ASSERT_EQ(last().shed.size(), 1U);
    EXPECT_TRUE(last().shed[0].begun);
    EXPECT_EQ(tree.handle(hog_id)->kills, 0);
    declare(100_MiB);
    cross(824_MiB, false);
    EXPECT_TRUE(sockets.refused_now.empty());
    ASSERT_EQ(last().shed.size(), 1U);
    EXPECT_FALSE(last().shed[0].begun);
}

TEST_F(Agents, ADryRunShedsNoPod) {
    eviction.thresholds[0].grace_period = std::chrono::seconds(30);
    eviction.shed_sockets = true;
    declare(100_MiB);
    make(true);
    declare(800_MiB);
    cross(124_MiB);
    EXPECT_EQ(last().shed.size(), 1U);
    EXPECT_EQ(sockets.asked, 0);
}

TEST_F(Agents, LooksAgainAtOnceWhenTheKernelSawACrossingThatIsOverAlready) {
    declare(100_MiB);
    make();
    cross(199_MiB);  // and by the time of our look 824Mi are available again
    EXPECT_EQ(agent->next_look() - clock.monotonic(), std::chrono::milliseconds(5));
    cross(300_MiB, false);
    EXPECT_EQ(agent->next_look() - clock.monotonic(), std::chrono::seconds(10));
}

TEST_F(Agents, LooksAgainSoonWhereTheLookForACrossingFailed) {
    declare(100_MiB);
    make();
    declare(800_MiB);
    tree.broken = "Too many open files";
    cross(124_MiB);
    EXPECT_EQ(tree.handle(hog_id)->kills, 0);
    EXPECT_EQ(agent->next_look() - clock.monotonic(), std::chrono::milliseconds(100));
    tree.broken.clear();
    clock.advance(std::chrono::seconds(1));
    agent->request_look();
    EXPECT_EQ(tree.handle(hog_id)->kills, 1);
}

TEST_F(Agents, LooksMoreRarelyWhereEachMakesTheKernelAddUpAPodOfManyCgroups) {
    tree.declare({{.id = root_id, .level = 1, .usage = 200_MiB, .limit = 1_GiB},
                  {.id = hog_id, .level = 2, .usage = 100_MiB, .processes = 1, .pod = "hog", .whole = true}});
    make();
    cross(199_MiB);
    EXPECT_EQ(agent->next_look() - clock.monotonic(), std::chrono::milliseconds(100));
}

TEST_F(Agents, TimedLooksTakeATwentiethOfACpuAndAreNoMoreThanASecondApart) {
    using std::chrono::milliseconds;
    declare(100_MiB);
    events.timed = milliseconds(10);
    node.clock = &clock;
    make();
    const auto pause_after = [&](Duration cost) {
        node.takes = cost;
        agent->set_config(eviction);
        return agent->next_look() - clock.monotonic();
    };
    EXPECT_EQ(pause_after(std::chrono::microseconds(100)), milliseconds(10));
    EXPECT_EQ(pause_after(milliseconds(40)), milliseconds(10)) << "one slow look makes nobody blind";
    EXPECT_EQ(pause_after(milliseconds(4)), milliseconds(80));
    EXPECT_EQ(pause_after(milliseconds(4)), milliseconds(80));
    (void)pause_after(milliseconds(200));
    EXPECT_EQ(pause_after(milliseconds(200)), milliseconds(1000));

    declare(900_MiB);
    EXPECT_EQ(pause_after(milliseconds(200)), milliseconds(5)) << "exits were asked for";
    EXPECT_EQ(pause_after(milliseconds(200)), milliseconds(200)) << "a victim was killed";
    clock.advance(milliseconds(1500));
    (void)pause_after(milliseconds(30));
    EXPECT_EQ(pause_after(milliseconds(30)), milliseconds(600)) << "it does not die";
}

TEST_F(Agents, FilesThatChangeAndMemoryThatFallsAreLookedAtAtOnceWhileTheBudgetLasts) {
    using std::chrono::milliseconds;
    declare(100_MiB);
    events.timed = milliseconds(10);
    node.clock = &clock;
    node.takes = milliseconds(10);
    make();
    agent->set_config(eviction);
    EXPECT_EQ(agent->next_look() - clock.monotonic(), milliseconds(200));
    declare(400_MiB);
    clock.advance(milliseconds(200));
    agent->set_config(eviction);
    EXPECT_EQ(agent->next_look() - clock.monotonic(), milliseconds(10)) << "it falls";

    // A soft line that is crossed hides no fall towards the hard one.
    auto both = eviction;
    both.thresholds.push_back(both.thresholds.front());
    both.thresholds.back().grace_period = std::chrono::minutes(1);
    both.thresholds.back().value = ThresholdValue{Quantity::of((700_MiB).value, Quantity::Format::binary_si)};
    for (const auto& [usage, pause] : {std::pair(400_MiB, 200), std::pair(600_MiB, 10)}) {
        declare(usage);
        clock.advance(milliseconds(200));
        agent->set_config(both);
        EXPECT_EQ(agent->next_look() - clock.monotonic(), milliseconds(pause)) << usage.value;
    }
    agent->set_config(eviction);

    int looks = 0;
    for (; looks < 100; looks++) {
        const auto before = records.size();
        clock.advance(milliseconds(10));
        events.tell(StallTriggered{"memory.pressure"}, clock.monotonic());
        turn();
        if (records.size() == before) break;
    }
    EXPECT_GE(looks, 18) << "200 ms of a CPU";
    EXPECT_LE(looks, 25) << "and no more";
    EXPECT_EQ(agent->next_look() - clock.monotonic(), milliseconds(390)) << "then they take half of a twentieth";
}

// With a rehearsal after each timed look they took nearly twice the twentieth of a CPU that they may.
TEST_F(Agents, NearALineTimedLooksAreRehearsalEnough) {
    for (const auto& timed : {std::optional<Duration>(), std::optional<Duration>(std::chrono::milliseconds(50))}) {
        declare(700_MiB);
        tree.line(root_id).limit = 1024_MiB + 16_MiB;  // 240Mi are available, 40 more than the threshold
        make();
        clock.set(MonotonicTime{std::chrono::milliseconds(1)});  // long past: timers fire at once
        events.timed = timed;
        agent->set_config(eviction);
        const auto looks = records.size();
        const auto listings = tree.handle(hog_id)->listings;
        clock.advance(std::chrono::milliseconds(10));
        turn();
        EXPECT_EQ(records.size() - looks, timed ? 1U : 0U);
        EXPECT_EQ(tree.handle(hog_id)->listings - listings, timed ? 0 : 1);
        agent.reset();
    }
}

TEST_F(Agents, DoesNotHurryWhereOnlyTheMinimumReclaimIsMissing) {
    declare(700_MiB);  // 224Mi are available: above the threshold, below the threshold plus minimum reclaim
    make();
    events.tell(WatermarkCrossed{Signal::allocatable_memory_available, true, 250_MiB, 224_MiB}, clock.monotonic());
    turn();
    EXPECT_EQ(agent->next_look() - clock.monotonic(), std::chrono::seconds(10));
}

TEST_F(Agents, TheApproachToALineIsRehearsedAndNoPodIsTouched) {
    declare(100_MiB);
    make();
    const auto looks = records.size();
    tree.line(hog_id).usage = 700_MiB;
    tree.line(root_id).usage = 800_MiB;
    events.tell(WatermarkCrossed{Signal::allocatable_memory_available, true, 264_MiB, 240_MiB}, clock.monotonic());
    turn();
    EXPECT_EQ(records.size(), looks + 1) << "whom the kernel is steered to is decided and recorded";
    EXPECT_EQ(last().decision.steer_to, PodUid{"hog"});
    EXPECT_TRUE(last().decision.actions.empty());
    EXPECT_EQ(tree.handle(hog_id)->kills, 0);
    EXPECT_EQ(tree.handle(hog_id)->listings, 2) << "once when the pods became known, once now";
    events.tell(WatermarkCrossed{Signal::allocatable_memory_available, true, 264_MiB, 240_MiB}, clock.monotonic());
    turn();
    EXPECT_EQ(records.size(), looks + 1) << "rehearsed again, and nothing is new";
    EXPECT_EQ(tree.handle(hog_id)->listings, 3);
}

}  // namespace
}  // namespace evictd::app
