// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "disk/workers.hpp"

#include <atomic>
#include <future>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "fakes/shared_clock.hpp"

namespace evictd::disk {
namespace {

using namespace std::chrono_literals;

// A job that runs until it is told to end.
struct Held {
    std::promise<void> begun;
    std::promise<void> go;
    std::promise<void> delivered;
};

class WorkersTest : public testing::Test {
protected:
    PulsePtr hold(const std::shared_ptr<Held>& held) {
        auto pulse = workers.start([held](Pulse& /*pulse*/) {
            held->begun.set_value();
            held->go.get_future().wait();
            return [held] { held->delivered.set_value(); };
        });
        if (pulse) held->begun.get_future().wait();
        return pulse;
    }
    static void end(const std::shared_ptr<Held>& held) {
        auto delivered = held->delivered.get_future();
        held->go.set_value();
        delivered.wait();
    }
    fakes::SharedClock clock;
    Workers workers{clock, {.threads = 2, .patience = 30s, .most_replaced = 2}};
};

TEST_F(WorkersTest, NoMoreThanTwoAtOnce) {
    const auto one = std::make_shared<Held>();
    const auto two = std::make_shared<Held>();
    ASSERT_TRUE(hold(one));
    ASSERT_TRUE(hold(two));
    EXPECT_FALSE(workers.has_free());
    EXPECT_FALSE(hold(std::make_shared<Held>()));
    end(one);
    EXPECT_TRUE(workers.has_free());  // also at the moment of the delivery
    end(two);
}

TEST_F(WorkersTest, OneThatHangsIsReplacedAndComesBack) {
    const auto stuck = std::make_shared<Held>();
    const auto pulse = hold(stuck);
    ASSERT_TRUE(pulse);
    clock.advance(29s);
    workers.check();
    EXPECT_FALSE(pulse->hangs());
    clock.advance(2s);
    workers.check();
    EXPECT_TRUE(pulse->hangs());
    EXPECT_EQ(workers.hanging(), 1U);
    const auto one = std::make_shared<Held>();
    const auto two = std::make_shared<Held>();
    ASSERT_TRUE(hold(one));
    ASSERT_TRUE(hold(two));
    EXPECT_FALSE(workers.has_free());
    end(stuck);
    workers.check();
    EXPECT_EQ(workers.hanging(), 0U);
    EXPECT_FALSE(workers.has_free());  // two are enough
    end(one);
    end(two);
    EXPECT_TRUE(workers.has_free());
}

TEST_F(WorkersTest, OneThatBeatsDoesNotHang) {
    const auto slow = std::make_shared<Held>();
    const auto pulse = hold(slow);
    for (int i = 0; i < 5; ++i) {
        clock.advance(29s);
        pulse->beat();
        workers.check();
        EXPECT_FALSE(pulse->hangs());
    }
    end(slow);
}

// A tree without an end: it keeps its thread, and the others have two all the same.
TEST_F(WorkersTest, OneThatTakesLongIsReplaced) {
    const auto endless = std::make_shared<Held>();
    const auto pulse = hold(endless);
    const auto one = std::make_shared<Held>();
    const auto two = std::make_shared<Held>();
    const auto other = hold(one);
    for (int i = 0; i < 3; ++i) {
        EXPECT_FALSE(workers.has_free());
        clock.advance(25s);
        pulse->beat();
        other->beat();
        workers.check();
    }
    ASSERT_TRUE(workers.has_free());
    ASSERT_TRUE(hold(two));
    EXPECT_FALSE(pulse->hangs() || pulse->is_cancelled());
    end(endless);
    end(one);
    end(two);
}

TEST_F(WorkersTest, ThreadsThatHangAreReplacedAFewTimesOnly) {
    std::vector<std::shared_ptr<Held>> stuck;
    for (auto next = std::make_shared<Held>(); hold(next); next = std::make_shared<Held>()) {
        stuck.push_back(next);
        clock.advance(31s);
        workers.check();
    }
    EXPECT_EQ(stuck.size(), 4U);  // two, and two that replaced them
    EXPECT_FALSE(workers.has_free());
    EXPECT_TRUE(workers.is_stuck());
    for (const auto& held : stuck) end(held);
    workers.check();
    EXPECT_TRUE(workers.has_free());
    EXPECT_FALSE(workers.is_stuck());
}

// What takes long ends some day; what hangs may not.
TEST_F(WorkersTest, JobsThatTakeLongDoNotTakeThePlacesOfThoseThatHang) {
    std::vector<std::shared_ptr<Held>> held;
    std::vector<PulsePtr> slow;
    const auto pass = [&](Duration time) {
        clock.advance(time);
        for (const auto& pulse : slow) pulse->beat();
        workers.check();
    };
    for (auto next = std::make_shared<Held>(); auto pulse = hold(next); next = std::make_shared<Held>()) {
        held.push_back(next);
        slow.push_back(std::move(pulse));
        for (int i = 0; i < 3; ++i) pass(25s);
    }
    EXPECT_EQ(slow.size(), 4U);
    slow.resize(2);
    for (int i = 0; i < 2; ++i) pass(25s);
    EXPECT_EQ(workers.hanging(), 2U);
    EXPECT_TRUE(workers.has_free());
    for (const auto& one : held) end(one);
}

TEST_F(WorkersTest, RunAtALowPriority) {
    std::promise<int> nice;
    // The priority is taken with the thread's first task.
    const auto pulse = workers.start([&nice](Pulse& /*pulse*/) -> std::function<void()> {
        nice.set_value(::getpriority(PRIO_PROCESS, 0));
        return {};
    });
    ASSERT_TRUE(pulse);
    EXPECT_GE(nice.get_future().get(), 10);
}

}  // namespace
}  // namespace evictd::disk
