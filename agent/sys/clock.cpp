// SPDX-License-Identifier: Apache-2.0
// clock_gettime, which the vDSO answers without entering the kernel.
#include "sys/clock.hpp"

#include <ctime>

namespace evictd::sys {
namespace {

Duration since_epoch(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);  // cannot fail for these two clocks
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace

MonotonicTime SystemClock::monotonic() const { return MonotonicTime(since_epoch(CLOCK_MONOTONIC)); }
WallTime SystemClock::wall() const { return WallTime(since_epoch(CLOCK_REALTIME)); }

}  // namespace evictd::sys
