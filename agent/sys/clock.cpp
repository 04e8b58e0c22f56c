// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// clock_gettime, which the vDSO answers without entering the kernel; not for CPU time.
#include "sys/clock.hpp"

#include <ctime>

namespace evictd::sys {
namespace {

Duration since_epoch(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);  // cannot fail for these clocks
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace

MonotonicTime SystemClock::monotonic() const { return MonotonicTime(since_epoch(CLOCK_MONOTONIC)); }
WallTime SystemClock::wall() const { return WallTime(since_epoch(CLOCK_REALTIME)); }

Duration thread_cpu_time() { return since_epoch(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace evictd::sys
