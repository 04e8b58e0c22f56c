// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What is wanted of a reconciler in a thread of its own: the newest counts, nothing is lost, and at the end all is put
// back.
#include "reconcile/control_loop.hpp"

#include <future>
#include <memory>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/fake_cgroups.hpp"
#include "fakes/fake_pod_controls.hpp"
#include "fakes/fake_scores.hpp"
#include "fakes/temp_dir.hpp"
#include "reconcile/reclaimer.hpp"
#include "reconcile/rung_keeper.hpp"
#include "reconcile/score_keeper.hpp"

namespace evictd::reconcile {
namespace {

using testing::ElementsAre;

// Whether the thread or the end comes first is up to the scheduler: often enough for both.
constexpr int rounds = 200;

TEST(Mailbox, HasTheNewestAndAsksForOneTask) {
    Mailbox<int> box;
    EXPECT_TRUE(box.put(1, 0));
    EXPECT_FALSE(box.put(2, 0)) << "a task is on its way";
    EXPECT_TRUE(box.put(3, 5)) << "a more urgent one";
    EXPECT_FALSE(box.put(4, 5));
    EXPECT_FALSE(box.put(5, 0));
    EXPECT_EQ(box.take(), 5);
    EXPECT_EQ(box.take(), std::nullopt);
    EXPECT_TRUE(box.put(6, 0));
}

TEST(Mailbox, AsksAgainForATaskThatWasRefused) {
    Mailbox<int> box;
    EXPECT_TRUE(box.put(1, 0));
    box.refused();
    EXPECT_TRUE(box.put(2, 0));
    EXPECT_EQ(box.take(), 2);
}

// What happened, in the reconciler's thread; to be read once that has ended.
struct Told {
    std::vector<int> reconciled;
    int timed = 0;
    int released = 0;
    std::thread::id released_by;
};

class Recorder {
public:
    using Desired = int;
    explicit Recorder(Told& told) : told_(told) {}
    void reconcile(int desired) {
        EXPECT_EQ(told_.released, 0) << "nothing is done after the end";
        told_.reconciled.push_back(desired);
    }
    [[nodiscard]] std::optional<MonotonicTime> due() const {
        return told_.timed < wanted_timed ? std::optional(MonotonicTime{}) : std::nullopt;
    }
    void act_on_time() {
        if (++told_.timed == wanted_timed) timed.set_value();
    }
    void release() {
        ++told_.released;
        told_.released_by = std::this_thread::get_id();
    }
    void wait_for(std::promise<void>& running, std::future<void>& go) {
        running.set_value();
        go.wait();
        told_.reconciled.push_back(0);
    }

    int wanted_timed = 0;
    std::promise<void> timed;

private:
    Told& told_;
};

struct ControlLoops : testing::Test {
    using Loop = ControlLoop<Recorder>;
    void make(Loop::Options options) {
        options.name = "test";
        auto made = Loop::make(std::move(options), told);
        ASSERT_TRUE(made) << made.error().text();
        loop = std::move(*made);
    }
    // Until go: the thread works on something else.
    void keep_busy() {
        future = go.get_future();
        loop->tell([this](Recorder& recorder) { recorder.wait_for(running, future); });
        running.get_future().wait();
    }
    Told told;
    std::promise<void> running, go;
    std::future<void> future;
    std::unique_ptr<Loop> loop;
};

TEST_F(ControlLoops, OnlyTheNewestIsMadeTrueAndAtTheEndNothingIsDesired) {
    make({});
    keep_busy();
    for (int i = 1; i <= 5; i++) loop->want(i);
    go.set_value();
    loop.reset();
    EXPECT_THAT(told.reconciled, ElementsAre(0, 5));
    EXPECT_EQ(told.released, 1);
    EXPECT_NE(told.released_by, std::this_thread::get_id()) << "this one may be real-time";
}

TEST_F(ControlLoops, WhatIsWantedWhileTheQueueIsFullIsMadeTrue) {
    make({.queue = 1});
    keep_busy();
    loop->tell([](Recorder&) {});  // the queue is full
    for (int i = 1; i <= 5; i++) loop->want(i);
    go.set_value();
    loop.reset();
    EXPECT_THAT(told.reconciled, ElementsAre(0, 5));
    EXPECT_EQ(told.released, 1);
}

TEST_F(ControlLoops, ItEndsWithNothingDesiredAlsoWhereTheQueueIsFull) {
    make({.queue = 1});
    keep_busy();
    loop->tell([](Recorder&) {});
    std::thread ending([this] { loop.reset(); });
    go.set_value();
    ending.join();
    EXPECT_EQ(told.released, 1);
}

TEST_F(ControlLoops, ItEndsWithNothingDesiredAlsoWhereItsThreadHasNoTimeLeft) {
    for (int round = 0; round < rounds; round++) {
        told = {};
        make({.drain = Duration::zero()});
        loop->want(1);
        loop.reset();
        EXPECT_EQ(told.released, 1);
    }
}

TEST_F(ControlLoops, TheStartComesBeforeWhatIsWanted) {
    for (int round = 0; round < rounds; round++) {
        told = {};
        make({.start = [](Recorder& recorder) { recorder.reconcile(-1); }});
        loop->want(1);
        loop.reset();
        EXPECT_THAT(told.reconciled, ElementsAre(-1, 1));
    }
}

TEST_F(ControlLoops, ItIsCalledWheneverItIsDue) {
    int seen = 0;
    make({.after_each = [&](const Recorder&) { ++seen; }});
    std::future<void> timed;
    std::promise<void> begun;
    loop->tell([&](Recorder& recorder) {
        timed = recorder.timed.get_future();
        recorder.wanted_timed = 3;
        begun.set_value();
    });
    begun.get_future().wait();
    timed.wait();
    loop.reset();
    EXPECT_EQ(told.timed, 3);
    EXPECT_GE(seen, 4) << "what it was told, and three times";
}

TEST_F(ControlLoops, WhateverComesInBetweenTheLastIsMadeTrue) {
    make({.urgent_priority = 1, .queue = 4});
    for (int i = 1; i <= 20'000; i++) {
        loop->want(i, i % 3 == 0 ? Urgency::at_once : Urgency::can_wait);
        if (i % 7 == 0) loop->tell([](Recorder&) {});
    }
    loop.reset();
    ASSERT_FALSE(told.reconciled.empty());
    EXPECT_EQ(told.reconciled.back(), 20'000);
    EXPECT_TRUE(std::is_sorted(told.reconciled.begin(), told.reconciled.end()));
    EXPECT_EQ(told.released, 1);
}

// The reconcilers there are, when the agent ends while they have work: all is put back, and what is still worked off
// finds its thread.
struct AtTheEnd : testing::Test {
    fakes::TempDir directory;
    sys::SystemClock clock;
    port::PodCgroupPtr cgroup = std::make_shared<fakes::FakePodCgroup>(CgroupId{7}, "/kubepods/poduid-web");
};

TEST_F(AtTheEnd, ALimitThatIsWantedWhenTheAgentEndsIsPutBack) {
    fakes::FakePodControls controls;
    for (int round = 0; round < rounds; round++) {
        controls.pods[{7}] = {.usage = 500_MiB};
        int told = 0;
        {
            auto loop = ControlLoop<RungKeeper>::make({.name = "rungs"}, controls, clock,
                                                      RungOptions{.ledger_path = directory / "state/rungs"},
                                                      [&](const RungOutcome&) { told++; });
            ASSERT_TRUE(loop) << loop.error().text();
            const Rung rung{
                RungKind::squeeze, {"uid-web"}, "default/web", {7}, 512_MiB, clock.monotonic() + std::chrono::hours(1)};
            (*loop)->want({{rung, cgroup}});
        }
        EXPECT_EQ(controls.pods.at({7}).high, port::no_limit);
        EXPECT_EQ(told, 2) << "squeezed and released";
    }
}

TEST_F(AtTheEnd, AReclaimEndsWithThePieceThatItIsAt) {
    fakes::FakePodControls controls;
    controls.pods[{7}] = {.usage = Bytes{1LL << 60}, .cache = Bytes{1LL << 60}};
    std::promise<void> begun;
    controls.on_write = [&, pieces = 0](const std::string&) mutable {
        if (++pieces == 3) begun.set_value();
    };
    std::vector<RungOutcome> told;
    auto loop = ControlLoop<Reclaimer>::make({.name = "reclaim", .duty = sys::Duty::may_block}, controls, clock, false,
                                             [&](RungOutcome outcome) { told.push_back(std::move(outcome)); });
    ASSERT_TRUE(loop) << loop.error().text();
    const auto until = clock.monotonic() + std::chrono::hours(1);
    (*loop)->want({{{RungKind::reclaim, {"uid-web"}, "default/web", {7}, Bytes{1LL << 59}, until}, cgroup}});
    begun.get_future().wait();
    loop->reset();
    ASSERT_EQ(told.size(), 2U);
    EXPECT_TRUE(told[1].cut_short);
}

TEST_F(AtTheEnd, AScoreThatIsRaisedWhenTheAgentEndsIsPutBack) {
    Pod pod;
    pod.uid = {"uid-web"};
    pod.name = "web";
    pod.containers.push_back({.name = "app", .requests = {}, .limits = {}});
    const auto shared = std::make_shared<const Pod>(std::move(pod));
    const ScoreOptions options{.policy = OomScoreAdjPolicy::observe,
                               .ledger_path = directory / "state/raised_scores",
                               .wanted = [](const Pod&, const std::string&, Bytes) {
                                   return ScoreRange{1000, 1000};
                               }};
    fakes::FakeScores scores;
    for (int round = 0; round < rounds; round++) {
        scores.processes[{7}] = {{.pid = 100, .score = 500}};
        scores.log.clear();
        {
            auto loop =
                ControlLoop<ScoreKeeper>::make({.name = "scores"}, scores, clock, options, [](const AgentNotice&) {});
            ASSERT_TRUE(loop) << loop.error().text();
            const auto pods = std::make_shared<const KeptPods>(KeptPods{{{shared, cgroup}}, 1_GiB});
            (*loop)->want({pods, shared->uid}, Urgency::at_once);
        }
        EXPECT_EQ(scores.log, (std::vector<std::string>{"100=1000", "100=500"}));
    }
}

}  // namespace
}  // namespace evictd::reconcile
