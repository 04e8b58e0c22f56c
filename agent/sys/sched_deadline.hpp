// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// SCHED_DEADLINE by sched_setattr(2): glibc 2.36 has neither the call nor its structure.
#pragma once

#include <cstdint>

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace evictd::sys {

// struct sched_attr as of Linux 3.14.
struct SchedDeadline {
    std::uint32_t size = sizeof(SchedDeadline);
    std::uint32_t policy = SCHED_DEADLINE;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t runtime = 0;  // these in ns
    std::uint64_t deadline = 0;
    std::uint64_t period = 0;
};

// For a thread: `runtime_ns` of CPU time in each `period_ns`, and what others leave of their real-time share
// (SCHED_FLAG_RECLAIM); not for what it forks (SCHED_FLAG_RESET_ON_FORK). False: refused, see errno.
inline bool set_deadline(pid_t tid, std::uint64_t runtime_ns, std::uint64_t period_ns) {
    constexpr std::uint64_t reset_on_fork = 1;
    constexpr std::uint64_t reclaim = 2;
    SchedDeadline wanted;
    wanted.flags = reset_on_fork | reclaim;
    wanted.runtime = runtime_ns;
    wanted.deadline = wanted.period = period_ns;
    return ::syscall(SYS_sched_setattr, tid, &wanted, 0U) == 0;
}

}  // namespace evictd::sys
