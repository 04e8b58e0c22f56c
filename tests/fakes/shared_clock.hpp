// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A clock that a test sets while other threads read it. It has no wall clock.
#pragma once

#include <atomic>
#include <chrono>

#include "sys/clock.hpp"

namespace evictd::fakes {

class SharedClock final : public sys::Clock {
public:
    explicit SharedClock(MonotonicTime start = MonotonicTime{std::chrono::hours(1)}) : now_(start) {}
    [[nodiscard]] MonotonicTime monotonic() const override { return now_; }
    [[nodiscard]] WallTime wall() const override { return {}; }
    [[nodiscard]] Duration thread_cpu() const override { return {}; }
    void advance(Duration by) { now_ = now_.load() + by; }

private:
    std::atomic<MonotonicTime> now_;
};

}  // namespace evictd::fakes
