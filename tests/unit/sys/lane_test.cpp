// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "sys/lane.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>
#include <sched.h>

#include "sys/clock.hpp"

namespace evictd::sys {
namespace {

TEST(Lane, WorksOffInOrderAndDrainsWhatItAcceptedWhenItGoes) {
    std::string order;
    {
        auto lane = Lane::make("drain");
        ASSERT_TRUE(lane);
        for (char c = 'a'; c <= 'z'; ++c) ASSERT_TRUE((*lane)->post([&order, c] { order += c; }));
    }
    EXPECT_EQ(order, "abcdefghijklmnopqrstuvwxyz");
}

TEST(Lane, WhatIsWorkedOffAtItsEndMayUseIt) {
    auto lane = Lane::make("close");
    ASSERT_TRUE(lane);
    std::promise<void> go;
    Timer timer;
    bool armed = false;
    ASSERT_TRUE((*lane)->post([&] { go.get_future().wait(); }));
    ASSERT_TRUE((*lane)->post([&] { armed = (*lane)->arm(timer, std::nullopt, [] {}); }));
    std::thread closer([&] { (*lane)->close(); });
    (*lane)->loop().stop();
    go.set_value();
    closer.join();
    EXPECT_TRUE(armed);
    EXPECT_FALSE((*lane)->post([] {})) << "it is closed";
    timer = {};
}

TEST(Lane, ATaskThatThrowsEndsTheProgramAndWhatComesLaterIsStillWorkedOff) {
    bool put_back = false;
    std::promise<void> failed;
    ProofOfLife::of_this_program().on_failure([&] { failed.set_value(); });
    {
        auto lane = Lane::make("throws");
        ASSERT_TRUE(lane);
        ASSERT_TRUE((*lane)->post([] { throw std::runtime_error("expected by the test"); }));
        failed.get_future().wait();
        ASSERT_TRUE((*lane)->post([&] { put_back = true; }));
    }
    ProofOfLife::of_this_program().on_failure({});
    EXPECT_TRUE(put_back);
    EXPECT_EQ(ProofOfLife::of_this_program().failure()->text(), "throws: a callback failed: expected by the test");
}

TEST(Lane, IsOnTheListOfThoseThatProveTheirLife) {
    const auto lane = Lane::make("listed");
    ASSERT_TRUE(lane);
    std::promise<void> begun;
    ASSERT_TRUE((*lane)->post([&] { begun.set_value(); }));
    begun.get_future().wait();
    const auto signs = ProofOfLife::of_this_program().check();
    EXPECT_TRUE(std::any_of(signs.begin(), signs.end(), [](const LifeSign& sign) { return sign.name == "listed"; }));
}

TEST(Lane, AFullQueueDropsAndCounts) {
    std::promise<void> go;
    std::promise<void> running;
    int ran = 0;
    auto lane = Lane::make("full", 1);
    ASSERT_TRUE(lane);
    ASSERT_TRUE((*lane)->post([&] {
        running.set_value();
        go.get_future().wait();
    }));
    running.get_future().wait();
    EXPECT_TRUE((*lane)->post([&] { ++ran; }));
    EXPECT_FALSE((*lane)->post([&] { ++ran; }));
    EXPECT_EQ((*lane)->dropped(), 1U);
    go.set_value();
    lane->reset();
    EXPECT_EQ(ran, 1);
}

TEST(Lane, WithoutTimeToDrainWhatHasNotStartedIsDropped) {
    std::promise<void> running;
    std::atomic<bool> closing = false;
    int ran = 0;
    {
        auto lane = Lane::make("no-drain", 8, Duration::zero());
        ASSERT_TRUE(lane);
        ASSERT_TRUE((*lane)->post([&] {
            running.set_value();
            while (!closing) sched_yield();
        }));
        running.get_future().wait();
        ASSERT_TRUE((*lane)->post([&] { ++ran; }));
        // Freed by the destructor's own order: the flag is set after stop() was, because run() is still in the
        // callback.
        (*lane)->loop().stop();
        closing = true;
    }
    EXPECT_EQ(ran, 0);
}

TEST(Lane, ItsThreadIsNamedBlocksAllSignalsAndIsNotRealTime) {
    std::array<char, 16> name{};
    sigset_t mask{};
    int policy = -1;
    {
        auto lane = Lane::make("a-name-that-is-too-long");
        ASSERT_TRUE(lane);
        (*lane)->post([&] {
            pthread_getname_np(pthread_self(), name.data(), name.size());
            pthread_sigmask(SIG_BLOCK, nullptr, &mask);
            policy = sched_getscheduler(0);
        });
    }
    EXPECT_STREQ(name.data(), "a-name-that-is-");
    EXPECT_EQ(sigismember(&mask, SIGTERM), 1);
    EXPECT_EQ(sigismember(&mask, SIGHUP), 1);
    EXPECT_EQ(policy, SCHED_OTHER);
}

TEST(Lane, OfARealTimeThreadIsStillNormal) {
    const sched_param real_time{.sched_priority = 1};
    if (sched_setscheduler(0, SCHED_FIFO, &real_time) != 0) GTEST_SKIP() << "may not become SCHED_FIFO here";
    int policy = -1;
    {
        auto lane = Lane::make("normal");
        if (lane) (*lane)->post([&] { policy = sched_getscheduler(0); });
    }
    const sched_param normal{};
    sched_setscheduler(0, SCHED_OTHER, &normal);
    EXPECT_EQ(policy, SCHED_OTHER);
}

TEST(Lane, IsRealTimeForWhatIsUrgentAndNoLonger) {
    const sched_param real_time{.sched_priority = 1};
    if (sched_setscheduler(0, SCHED_FIFO, &real_time) != 0) GTEST_SKIP() << "may not become SCHED_FIFO here";
    const sched_param normal{};
    sched_setscheduler(0, SCHED_OTHER, &normal);
    std::array<int, 4> policies{-1, -1, -1, -1};
    std::promise<void> go;
    {
        auto lane = Lane::make("urgent");
        ASSERT_TRUE(lane);
        const auto note = [&](std::size_t at) { return [&, at] { policies.at(at) = sched_getscheduler(0); }; };
        ASSERT_TRUE((*lane)->post([&] { go.get_future().wait(); }));  // so that both are posted before either is done
        ASSERT_TRUE((*lane)->post_urgent(note(0), 1));
        ASSERT_TRUE((*lane)->post_urgent(note(1), 1));
        ASSERT_TRUE((*lane)->post(note(2)));
        ASSERT_TRUE((*lane)->post_urgent(note(3), 0));
        go.set_value();
    }
    EXPECT_EQ(policies, (std::array<int, 4>{SCHED_FIFO, SCHED_FIFO, SCHED_OTHER, SCHED_OTHER}));
}

TEST(Lane, GivesWayInTheMiddleOfWhatIsUrgent) {
    const sched_param real_time{.sched_priority = 1};
    if (sched_setscheduler(0, SCHED_FIFO, &real_time) != 0) GTEST_SKIP() << "may not become SCHED_FIFO here";
    const sched_param normal{};
    sched_setscheduler(0, SCHED_OTHER, &normal);
    std::array<int, 2> policies{-1, -1};
    std::promise<void> begun;
    std::promise<void> go_on;
    {
        auto lane = Lane::make("gives way");
        ASSERT_TRUE(lane);
        ASSERT_TRUE((*lane)->post_urgent(
            [&] {
                policies[0] = sched_getscheduler(0);
                begun.set_value();
                go_on.get_future().wait();
                policies[1] = sched_getscheduler(0);
            },
            1));
        begun.get_future().wait();
        (*lane)->give_way();
        go_on.set_value();
    }
    EXPECT_EQ(policies[0], SCHED_FIFO);
    EXPECT_EQ(policies[1], SCHED_OTHER);
}

// As a system call that never returns: it is in the task until the test lets it go on.
struct Hanging {
    std::promise<void> begun;
    std::promise<void> go_on;
    std::promise<void> ended;
    std::atomic<int> later = 0;
};

TEST(Lane, AnExpendableOneWhoseTaskHangsIsLeftBehindWithWhatTheTaskOwns) {
    const auto hanging = std::make_shared<Hanging>();
    auto ended = hanging->ended.get_future();
    std::weak_ptr<int> owned;
    {
        auto lane = Lane::make("hangs", 8, Duration::zero(), Duty::expendable);
        ASSERT_TRUE(lane);
        auto kept = std::make_shared<int>(7);
        owned = kept;
        ASSERT_TRUE((*lane)->post([hanging, kept] {
            hanging->begun.set_value();
            hanging->go_on.get_future().wait();
            EXPECT_EQ(*kept, 7);
            hanging->ended.set_value();
        }));
        ASSERT_TRUE((*lane)->post([hanging, kept] { ++hanging->later; }));
        kept.reset();
        hanging->begun.get_future().wait();
        const auto begin = SystemClock().monotonic();
        (*lane)->close();
        EXPECT_LT(SystemClock().monotonic() - begin, std::chrono::seconds(10));
        EXPECT_TRUE(Lane::any_left_behind());
        EXPECT_FALSE((*lane)->post([] {}));
    }
    EXPECT_FALSE(owned.expired());
    hanging->go_on.set_value();
    ended.wait();
    while (!owned.expired()) std::this_thread::yield();  // its thread is gone but for what the C library does
    EXPECT_EQ(hanging->later, 0);
}

TEST(Lane, AnExpendableOneThatDoesNotHangIsWaitedForAsAnyOther) {
    bool ran = false;
    {
        auto lane = Lane::make("ends", 8, Lane::default_drain, Duty::expendable);
        ASSERT_TRUE(lane);
        ASSERT_TRUE((*lane)->post([&] { ran = true; }));
    }
    EXPECT_TRUE(ran);
}

TEST(Lane, ItsTimersRunInIt) {
    Timer timer;
    std::promise<pthread_t> fired;
    auto lane = Lane::make("timer");
    ASSERT_TRUE(lane);
    pthread_t worker{};
    (*lane)->post([&] {
        worker = pthread_self();
        timer = std::move(*(*lane)->loop().add_timer([&] { fired.set_value(pthread_self()); }));
        timer.arm(SystemClock().monotonic());
    });
    EXPECT_EQ(fired.get_future().get(), worker);
    lane->reset();
}

}  // namespace
}  // namespace evictd::sys
