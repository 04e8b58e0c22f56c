// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The clocks as a value that can be handed in, so that tests choose the time. Only app/ and adapters that stamp what
// they see hold one; policy gets times as data.
#pragma once

#include "evictd/model/units.hpp"

namespace evictd::sys {

class Clock {
public:
    Clock() = default;
    Clock(const Clock&) = delete;
    Clock& operator=(const Clock&) = delete;
    virtual ~Clock() = default;

    [[nodiscard]] virtual MonotonicTime monotonic() const = 0;
    [[nodiscard]] virtual WallTime wall() const = 0;
    // CPU time that the calling thread has used: what it waited for a CPU or a disk is not in it.
    [[nodiscard]] virtual Duration thread_cpu() const = 0;
};

// CPU time that the calling thread has used.
[[nodiscard]] Duration thread_cpu_time();

// CLOCK_MONOTONIC, CLOCK_REALTIME and CLOCK_THREAD_CPUTIME_ID. Safe from any thread.
class SystemClock final : public Clock {
public:
    [[nodiscard]] MonotonicTime monotonic() const override;
    [[nodiscard]] WallTime wall() const override;
    [[nodiscard]] Duration thread_cpu() const override { return thread_cpu_time(); }
};

}  // namespace evictd::sys
