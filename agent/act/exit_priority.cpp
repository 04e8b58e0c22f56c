// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "act/exit_priority.hpp"

#include <cstdint>

#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace evictd::act {
namespace {

constexpr int lowest_priority = 1;

// glibc 2.36 has neither the call nor the structure.
struct SchedAttributes {
    std::uint32_t size = 48;
    std::uint32_t policy = 0;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t runtime = 0;
    std::uint64_t deadline = 0;
    std::uint64_t period = 0;
};
constexpr std::uint32_t deadline_policy = 6;
constexpr std::uint64_t reset_on_fork = 1;
constexpr std::uint64_t reclaim = 2;
// A twentieth of a CPU, so that 19 fit on each. The kernel refuses to promise more.
constexpr std::uint64_t promised_ns = 1'000'000;
constexpr std::uint64_t period_ns = 20'000'000;

bool promise_deadline(pid_t pid) {
    SchedAttributes wanted{.policy = deadline_policy,
                           .flags = reset_on_fork | reclaim,
                           .runtime = promised_ns,
                           .deadline = period_ns,
                           .period = period_ns};
    return syscall(SYS_sched_setattr, pid, &wanted, 0U) == 0;
}

bool is_normal(int policy) { return policy == SCHED_OTHER || policy == SCHED_BATCH || policy == SCHED_IDLE; }

}  // namespace

// There is no such call for a pidfd. A number is given away again only after all others, so not in the microseconds
// between here and the call.
void set_exit_priority(const HeldProcess& process, ExitPriority priority) {
    pollfd ended{.fd = process.pidfd.get(), .events = POLLIN, .revents = 0};
    if (::poll(&ended, 1, 0) == 1) {
        return;
    }
    const int policy = sched_getscheduler(process.pid);
    const bool is_first = policy >= 0 && !is_normal(policy & ~SCHED_RESET_ON_FORK);
    if (policy < 0 || is_first == (priority == ExitPriority::first)) {
        return;
    }
    const sched_param none{};
    const sched_param lowest{.sched_priority = lowest_priority};
    if (priority == ExitPriority::normal) {
        (void)sched_setscheduler(process.pid, SCHED_OTHER | SCHED_RESET_ON_FORK, &none);
    } else if (sched_setscheduler(process.pid, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest) != 0) {
        (void)promise_deadline(process.pid);
    }
}

}  // namespace evictd::act
