// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Time passes only when a test says so. advance() counts as CPU time of the thread, wait() does not.
#pragma once

#include "sys/clock.hpp"

namespace evictd::fakes {

class FakeClock final : public sys::Clock {
public:
    [[nodiscard]] MonotonicTime monotonic() const override { return monotonic_; }
    [[nodiscard]] WallTime wall() const override { return wall_; }
    [[nodiscard]] Duration thread_cpu() const override { return monotonic_.time_since_epoch() - waited_; }

    void advance(Duration by) {
        monotonic_ += by;
        wall_ += by;
    }
    void wait(Duration time) {
        advance(time);
        waited_ += time;
    }
    void set(MonotonicTime monotonic) { monotonic_ = monotonic; }
    void set(WallTime wall) { wall_ = wall; }

private:
    MonotonicTime monotonic_{std::chrono::hours(1)};
    Duration waited_{};
    WallTime wall_{std::chrono::sys_days(std::chrono::year(2026) / 1 / 1)};
};

}  // namespace evictd::fakes
