// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "act/exit_priority.hpp"

#include <cstdint>

#include <sched.h>

#include "sys/sched_deadline.hpp"

namespace evictd::act {
namespace {

constexpr int lowest_priority = 1;

// A twentieth of a CPU, so that 19 fit on each. The kernel refuses to promise more.
constexpr std::uint64_t promised_ns = 1'000'000;
constexpr std::uint64_t period_ns = 20'000'000;

bool is_normal(int policy) {
    const int plain = policy & ~SCHED_RESET_ON_FORK;
    return plain == SCHED_OTHER || plain == SCHED_BATCH || plain == SCHED_IDLE;
}

bool is_deadline(int policy) { return policy >= 0 && (policy & ~SCHED_RESET_ON_FORK) == SCHED_DEADLINE; }

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
    const bool deadline = !fifo && sys::set_deadline(process.pid, promised_ns, period_ns);
    if (has_ended(process)) {
        (void)sched_setscheduler(process.pid, policy, &none);
        return false;
    }
    return deadline;
}

}  // namespace evictd::act
