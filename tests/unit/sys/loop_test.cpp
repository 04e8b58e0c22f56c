// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "sys/loop.hpp"

#include <array>
#include <csignal>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "fakes/few_descriptors.hpp"
#include "sys/clock.hpp"
#include "sys/fd.hpp"

namespace evictd::sys {
namespace {

using std::chrono::milliseconds;

struct Pipe {
    Fd read, write;
    Pipe() {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) throw std::runtime_error("pipe2");
        read = Fd(ends[0]);
        write = Fd(ends[1]);
    }
    void fill() const { ASSERT_EQ(::write(write.get(), "x", 1), 1); }
    void drain() const {
        char byte = 0;
        ASSERT_EQ(::read(read.get(), &byte, 1), 1);
    }
};

Loop make_loop(std::size_t capacity = Loop::default_queue) { return std::move(*Loop::make(capacity)); }
void turn(Loop& loop) { ASSERT_TRUE(loop.run_once(Duration::zero())); }

TEST(Loop, CallsWhenADescriptorIsReadable) {
    auto loop = make_loop();
    const Pipe pipe;
    int calls = 0;
    const auto source = loop.add_fd(pipe.read.get(), [&] {
        pipe.drain();
        ++calls;
    });
    ASSERT_TRUE(source);
    turn(loop);
    EXPECT_EQ(calls, 0);
    pipe.fill();
    turn(loop);
    turn(loop);
    EXPECT_EQ(calls, 1);
}

TEST(Loop, ASourceThatIsGoneIsNotCalled) {
    auto loop = make_loop();
    const Pipe pipe;
    int calls = 0;
    {
        const auto source = loop.add_fd(pipe.read.get(), [&] { ++calls; });
    }
    pipe.fill();
    turn(loop);
    EXPECT_EQ(calls, 0);
}

TEST(Loop, ACallbackMayRemoveItsOwnSource) {
    auto loop = make_loop();
    const Pipe pipe;
    auto used_after = std::make_shared<int>(0);
    Source source;
    source = std::move(*loop.add_fd(pipe.read.get(), [&source, used_after] {
        source.reset();
        ++*used_after;
    }));
    pipe.fill();
    turn(loop);
    turn(loop);
    EXPECT_EQ(*used_after, 1);
    EXPECT_EQ(used_after.use_count(), 1);
}

TEST(Loop, ASourceMayOutliveIt) {
    Source source;
    const Pipe pipe;
    {
        auto loop = make_loop();
        source = std::move(*loop.add_fd(pipe.read.get(), [] {}));
    }
    EXPECT_TRUE(source);
}

TEST(Loop, TheMoreUrgentOfTwoReadySourcesRunsFirst) {
    auto loop = make_loop();
    const Pipe pipe;
    std::string order;
    auto late = loop.add_fd(
        pipe.read.get(), [&] { order += 'l'; }, Priority::late);
    const Fd again(::dup(pipe.read.get()));
    Source urgent;
    urgent = std::move(*loop.add_fd(
        again.get(),
        [&] {
            order += 'u';
            urgent.reset();
        },
        Priority::urgent));
    pipe.fill();
    turn(loop);
    turn(loop);
    EXPECT_EQ(order, "ul");
}

TEST(Loop, AnUnusableDescriptorIsAnError) {
    auto loop = make_loop();
    EXPECT_FALSE(loop.add_fd(-1, [] {}));
}

TEST(Loop, WhatACallbackThrowsEndsIt) {
    auto loop = make_loop();
    int calls = 0;
    loop.post([] { throw std::runtime_error("expected by the test"); });
    loop.post([&] { ++calls; });
    const auto ran = loop.run();
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().text(), "event loop: a callback failed: expected by the test");
    EXPECT_EQ(calls, 0);
    EXPECT_TRUE(loop.run_one_posted());  // what has to be cleaned up is still there
    EXPECT_EQ(calls, 1);
}

TEST(Loop, WhatATimerThrowsEndsIt) {
    auto loop = make_loop();
    auto timer = *loop.add_timer([] { throw 1; });  // NOLINT(hicpp-exception-baseclass): any library's
    timer.arm_in(Duration::zero());
    const auto ran = loop.run();
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().why, "a callback failed: unknown exception");
}

TEST(Loop, ProvesItsLifeOnlyWhenItTurns) {
    auto loop = make_loop(1);
    loop.post([] {});  // the queue is full
    const auto asked = SystemClock().monotonic();
    loop.ask_alive();
    EXPECT_LT(loop.alive_at(), asked);
    turn(loop);
    EXPECT_GE(loop.alive_at(), asked);
}

TEST(Loop, IsNotAliveWhileACallbackHangs) {
    auto loop = make_loop();
    MonotonicTime asked;
    MonotonicTime inside;
    loop.post([&] {
        asked = SystemClock().monotonic();
        loop.ask_alive();
        inside = loop.alive_at();
    });
    turn(loop);
    EXPECT_LT(inside, asked);
    EXPECT_GE(loop.alive_at(), asked);  // its end is a sign of life, too
}

TEST(Timer, TheFirstOneOfALoopTakesNoDescriptor) {
    auto loop = make_loop();
    bool rang = false;
    const fakes::FewDescriptors none(0);
    auto timer = loop.add_timer([&] { rang = true; });
    ASSERT_TRUE(timer) << timer.error().text();
    timer->arm(MonotonicTime{});
    turn(loop);
    EXPECT_TRUE(rang);
}

TEST(Timer, IsNeverEarlyAndFiresOnce) {
    auto loop = make_loop();
    const SystemClock clock;
    std::vector<MonotonicTime> fired;
    auto timer = loop.add_timer([&] { fired.push_back(clock.monotonic()); });
    ASSERT_TRUE(timer);
    turn(loop);
    EXPECT_TRUE(fired.empty()) << "made disarmed";
    const auto at = clock.monotonic() + milliseconds(3) + Duration(1);
    timer->arm(at);
    while (fired.empty()) ASSERT_TRUE(loop.run_once(milliseconds(1000)));
    turn(loop);
    ASSERT_EQ(fired.size(), 1U);
    EXPECT_GE(fired.front(), at);
    // Far from any real lateness, and far below sd-event's default of merging within 250 ms.
    EXPECT_LT(fired.front() - at, milliseconds(200));
}

TEST(Timer, ArmedWithADelayIsNeverEarly) {
    auto loop = make_loop();
    const SystemClock clock;
    std::optional<MonotonicTime> fired;
    auto timer = loop.add_timer([&] { fired = clock.monotonic(); });
    ASSERT_TRUE(timer);
    const auto armed = clock.monotonic();
    timer->arm_in(milliseconds(2));
    while (!fired) ASSERT_TRUE(loop.run_once(milliseconds(1000)));
    EXPECT_GE(*fired - armed, milliseconds(2));
}

TEST(Timer, InThePastFiresAtTheNextTurnAndDisarmedNever) {
    auto loop = make_loop();
    int calls = 0;
    auto timer = loop.add_timer([&] { ++calls; });
    ASSERT_TRUE(timer);
    timer->arm(MonotonicTime(Duration(-5)));
    turn(loop);
    EXPECT_EQ(calls, 1);
    timer->arm(MonotonicTime{});
    timer->disarm();
    turn(loop);
    EXPECT_EQ(calls, 1);
}

TEST(Loop, TakesASignal) {
    auto loop = make_loop();
    int calls = 0;
    const auto source = loop.add_signal(SIGUSR1, [&] { ++calls; });
    ASSERT_TRUE(source);
    ::kill(::getpid(), SIGUSR1);
    turn(loop);
    EXPECT_EQ(calls, 1);
}

TEST(Post, RunsInOrderAndRefusesWhatDoesNotFit) {
    auto loop = make_loop(2);
    std::string order;
    EXPECT_TRUE(loop.post([&] { order += 'a'; }));
    EXPECT_TRUE(loop.post([&] { order += 'b'; }));
    EXPECT_FALSE(loop.post([&] { order += 'c'; }));
    turn(loop);
    EXPECT_TRUE(loop.post([&] { order += 'd'; }));
    turn(loop);
    turn(loop);
    EXPECT_EQ(order, "abd");
}

TEST(Post, FromManyThreadsLosesNothing) {
    auto loop = make_loop(100'000);
    constexpr int threads = 4;
    constexpr int each = 1000;
    int seen = 0;
    std::vector<std::thread> posters;
    posters.reserve(threads);
    for (int t = 0; t < threads; ++t)
        posters.emplace_back([&] {
            for (int i = 0; i < each; ++i)
                EXPECT_TRUE(loop.post([&] {
                    if (++seen == threads * each) loop.stop();
                }));
        });
    EXPECT_TRUE(loop.run());
    for (auto& poster : posters) poster.join();
    EXPECT_EQ(seen, threads * each);
}

TEST(Loop, StopFromAnotherThreadEndsRunAlsoWhenItCameFirst) {
    auto loop = make_loop();
    std::thread stopper([&] { loop.stop(); });
    EXPECT_TRUE(loop.run());
    stopper.join();
    EXPECT_TRUE(loop.run());
}

}  // namespace
}  // namespace evictd::sys
