// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which loops are alive. Time is a fake: loops stamp the real one, so a question is put into the future to go
// unanswered.
#include "sys/proof_of_life.hpp"

#include <gtest/gtest.h>

#include "fakes/fake_clock.hpp"

namespace evictd::sys {
namespace {

using namespace std::chrono_literals;

struct Proofs : testing::Test {
    Proofs() { clock.set(SystemClock().monotonic() + 1h); }  // no loop has been alive since then
    [[nodiscard]] std::string dead_after(Duration time) {
        (void)proof.check();
        clock.advance(time);
        return dead_ones(proof.check());
    }
    // It was asked, and has answered.
    [[nodiscard]] ProofOfLife::Watched watch_alive(const std::string& name, Duty duty) {
        clock.set(SystemClock().monotonic());
        auto watched = proof.watch(name, loop, duty);
        (void)proof.check();
        EXPECT_TRUE(loop.run_once(0ms));
        return watched;
    }
    fakes::FakeClock clock;
    ProofOfLife proof{clock};
    Loop loop = std::move(*Loop::make());
};

TEST_F(Proofs, ALoopThatDoesNotAnswerIsDeadAfterItsBoundAndNotBefore) {
    const auto watched = proof.watch("evictd-scores", loop, Duty::vital);
    EXPECT_EQ(dead_after(longest_silence(Duty::vital)), "");
    EXPECT_EQ(dead_after(1s), "evictd-scores has not answered for 61 s");
}

TEST_F(Proofs, TheMainLoopHasTheShortestBound) {
    const auto watched = proof.watch("main", loop, Duty::main);
    EXPECT_EQ(dead_after(20s), "");
    EXPECT_EQ(dead_after(1s), "main has not answered for 21 s");
}

TEST_F(Proofs, WhatMayBlockHasLong) {
    const auto watched = proof.watch("evictd-publish", loop, Duty::may_block);
    EXPECT_EQ(dead_after(15min), "");
    EXPECT_EQ(dead_after(1s), "evictd-publish has not answered for 901 s");
}

TEST_F(Proofs, AnAnswerBeginsAnew) {
    const auto watched = watch_alive("main", Duty::main);
    clock.advance(1h);  // nothing was asked since
    EXPECT_EQ(dead_ones(proof.check()), "");
    EXPECT_EQ(proof.check().front().silent, 0ms);
}

TEST_F(Proofs, ALoopThatRestsIsAskedOnceAMinute) {
    const auto watched = proof.watch("evictd-scores", loop, Duty::vital);
    const auto is_asked = [&](Duration later) {
        clock.set(SystemClock().monotonic() + later);
        (void)proof.check();
        const auto before = loop.alive_at();
        EXPECT_TRUE(loop.run_once(0ms));
        return loop.alive_at() != before;
    };
    EXPECT_TRUE(is_asked(0s));
    EXPECT_FALSE(is_asked(30s));
    EXPECT_TRUE(is_asked(61s));
}

TEST_F(Proofs, TheMainLoopIsAskedAtEachCheck) {
    const auto watched = watch_alive("main", Duty::main);
    clock.advance(10s);
    (void)proof.check();
    EXPECT_EQ(dead_after(longest_silence(Duty::main) + 1s), "main has not answered for 21 s");
}

TEST_F(Proofs, ALoopThatHasNotBegunWhatIsPostedIsAskedAtEachCheck) {
    const auto watched = watch_alive("evictd-scores", Duty::vital);
    clock.advance(10s);
    loop.post([] {});
    EXPECT_EQ(dead_after(longest_silence(Duty::vital) + 1s), "evictd-scores has not answered for 61 s");
}

TEST_F(Proofs, ALoopThatIsBusyIsAskedAtEachCheck) {
    const auto watched = watch_alive("evictd-scores", Duty::vital);
    std::string dead;
    loop.post([&] {
        clock.advance(10s);
        (void)proof.check();
        dead = dead_after(longest_silence(Duty::vital) + 1s);
    });
    ASSERT_TRUE(loop.run_once(0ms));
    EXPECT_EQ(dead, "evictd-scores has not answered for 61 s");
}

// What a function holds may take long to go: a file on a disk that hangs.
TEST_F(Proofs, ALoopThatDestroysWhatWasPostedIsBusy) {
    bool rested = true;
    const auto destroy = [&](const int* held) {
        rested = loop.rests();
        delete held;
    };
    loop.post([held = std::shared_ptr<const int>(new int, destroy)] {});
    ASSERT_TRUE(loop.run_once(0ms));
    EXPECT_FALSE(rested);
    EXPECT_TRUE(loop.rests());
}

TEST_F(Proofs, WhatIsGoneOwesNothing) {
    { const auto watched = proof.watch("main", loop, Duty::main); }
    EXPECT_TRUE(proof.check().empty());
}

TEST_F(Proofs, AFailureIsKeptAndReportedOnce) {
    int told = 0;
    proof.on_failure([&] { ++told; });
    proof.fail("evictd-reaper", {ErrorKind::failed, "event loop", "a callback failed: x", ""});
    proof.fail("evictd-scores", {ErrorKind::failed, "event loop", "a callback failed: y", ""});
    EXPECT_EQ(told, 1);
    EXPECT_EQ(proof.failure()->text(), "evictd-reaper: a callback failed: x");
    EXPECT_EQ(dead_ones(proof.check()), "evictd-reaper failed");
}

}  // namespace
}  // namespace evictd::sys
