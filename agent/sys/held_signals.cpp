// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "sys/held_signals.hpp"

#include <array>
#include <cerrno>
#include <csignal>

#include <sys/signalfd.h>
#include <unistd.h>

namespace evictd::sys {
namespace {

constexpr std::array held{SIGTERM, SIGINT, SIGQUIT, SIGHUP};
// signal(7), "Term" and, of those with "Core", SIGXFSZ: a write beyond RLIMIT_FSIZE is an error of that write then.
// SIGXCPU stays: it is how RLIMIT_RTTIME ends a real-time loop.
constexpr std::array ignored{SIGPIPE,   SIGALRM, SIGUSR1, SIGUSR2,   SIGPOLL,
                             SIGVTALRM, SIGPROF, SIGPWR,  SIGSTKFLT, SIGXFSZ};

sigset_t set_of(std::span<const int> signals) {
    sigset_t set{};
    sigemptyset(&set);
    for (const int number : signals) sigaddset(&set, number);
    return set;
}

// As the program was started: what its parent had it ignore or block.
struct Inherited {
    sigset_t mask{};
    std::array<void (*)(int), NSIG> handlers{};
};
Inherited& inherited() {
    static Inherited kept;
    return kept;
}

template <class Work>
void for_each_ignored(Work work) {
    for (const int number : ignored) work(number);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++) work(number);
}

}  // namespace

void hold_signals() {
    const sigset_t set = set_of(held);
    (void)pthread_sigmask(SIG_BLOCK, &set, &inherited().mask);
    for_each_ignored(
        [](int number) { inherited().handlers.at(static_cast<std::size_t>(number)) = std::signal(number, SIG_IGN); });
}

void release_signals() {
    for_each_ignored(
        [](int number) { (void)std::signal(number, inherited().handlers.at(static_cast<std::size_t>(number))); });
    (void)pthread_sigmask(SIG_SETMASK, &inherited().mask, nullptr);
}

Result<Fd> open_signals(std::span<const int> signals) {
    const sigset_t set = set_of(signals);
    Fd fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!fd) return fail_errno("signalfd", errno);
    return fd;
}

std::optional<int> take_signal(const Fd& signals) {
    signalfd_siginfo info{};
    ssize_t got = 0;
    do {
        got = ::read(signals.get(), &info, sizeof(info));
    } while (got < 0 && errno == EINTR);
    return got == static_cast<ssize_t>(sizeof(info)) ? std::optional(static_cast<int>(info.ssi_signo)) : std::nullopt;
}

}  // namespace evictd::sys
