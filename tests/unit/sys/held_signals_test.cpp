// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "sys/held_signals.hpp"

#include <array>
#include <csignal>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace evictd::sys {
namespace {

// How a child that does `part` ended: the signal, or 0.
template <class Part>
int signal_that_ended(Part part) {
    const pid_t pid = ::fork();
    if (pid == 0) {
        part();
        ::_exit(0);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(HeldSignals, NothingButAFaultEndsTheProcess) {
    for (int number = 1; number <= SIGRTMAX; number++) {
        const bool is_fault = number == SIGKILL || number == SIGILL || number == SIGTRAP || number == SIGABRT ||
                              number == SIGBUS || number == SIGFPE || number == SIGSEGV || number == SIGXCPU ||
                              number == SIGSYS;
        const bool stops = number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
        if (is_fault || stops || (number >= 32 && number < SIGRTMIN)) continue;
        const int ended = signal_that_ended([number] {
            hold_signals();
            (void)::kill(::getpid(), number);
            (void)::kill(::getpid(), number);
        });
        EXPECT_EQ(ended, 0) << number;
    }
    EXPECT_EQ(signal_that_ended([] {
                  hold_signals();
                  (void)::kill(::getpid(), SIGABRT);
              }),
              SIGABRT);
}

TEST(HeldSignals, WhatIsReadIsNoLongerPendingAndASecondOneStaysHeld) {
    const int ended = signal_that_ended([] {
        hold_signals();
        {
            const auto signals = open_signals(std::array{SIGTERM, SIGHUP});
            if (!signals || take_signal(*signals)) ::_exit(1);
            (void)::kill(::getpid(), SIGHUP);
            if (take_signal(*signals) != SIGHUP || take_signal(*signals)) ::_exit(2);
            (void)::kill(::getpid(), SIGTERM);
            if (take_signal(*signals) != SIGTERM) ::_exit(3);
        }
        (void)::kill(::getpid(), SIGTERM);  // the descriptor is gone, the hold is not
        (void)::kill(::getpid(), SIGINT);
    });
    EXPECT_EQ(ended, 0);
}

TEST(HeldSignals, ThatCameMeanwhileAreDeliveredWhenReleased) {
    EXPECT_EQ(signal_that_ended([] {
                  hold_signals();
                  (void)::kill(::getpid(), SIGINT);
                  release_signals();
                  ::_exit(1);
              }),
              SIGINT);
    EXPECT_EQ(signal_that_ended([] {
                  hold_signals();
                  release_signals();
                  (void)::kill(::getpid(), SIGUSR1);
                  ::_exit(1);
              }),
              SIGUSR1);
}

}  // namespace
}  // namespace evictd::sys
