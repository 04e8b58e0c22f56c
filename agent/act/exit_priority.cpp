// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "act/exit_priority.hpp"

#include <cstdint>

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
constexpr int deadline_policy = 6;
constexpr std::uint64_t reset_on_fork = 1;
constexpr std::uint64_t reclaim = 2;
// A twentieth of a CPU, so that 19 fit on each. The kernel refuses to promise more.
constexpr std::uint64_t promised_ns = 1'000'000;
constexpr std::uint64_t period_ns = 20'000'000;

bool promise_deadline(pid_t pid) {
    SchedAttributes wanted{.policy = std::uint32_t{deadline_policy},
                           .flags = reset_on_fork | reclaim,
                           .runtime = promised_ns,
                           .deadline = period_ns,
                           .period = period_ns};
    return syscall(SYS_sched_setattr, pid, &wanted, 0U) == 0;
}

bool is_normal(int policy) {
    const int plain = policy & ~SCHED_RESET_ON_FORK;
    return plain == SCHED_OTHER || plain == SCHED_BATCH || plain == SCHED_IDLE;
}

bool is_deadline(int policy) { return policy >= 0 && (policy & ~SCHED_RESET_ON_FORK) == deadline_policy; }

}  // namespace

// The calls take a pid, not a pidfd: another process that has got the number meanwhile is put back.
bool set_exit_priority(const HeldProcess& process, ExitPriority priority) {
    if (has_ended(process)) {
        return false;
    }
    const int policy = sched_getscheduler(process.pid);
    if (policy < 0 || is_normal(policy) == (priority == ExitPriority::normal)) {
        return is_deadline(policy);
    }
    const sched_param none{};
    if (priority == ExitPriority::normal) {
        (void)sched_setscheduler(process.pid, SCHED_OTHER | SCHED_RESET_ON_FORK, &none);
        return false;
    }
    const sched_param lowest{.sched_priority = lowest_priority};
    const bool fifo = sched_setscheduler(process.pid, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest) == 0;
    const bool deadline = !fifo && promise_deadline(process.pid);
    if (has_ended(process)) {
        (void)sched_setscheduler(process.pid, policy, &none);
        return false;
    }
    return deadline;
}

}  // namespace evictd::act
