// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A clock that stands still until it is told to go on.
#pragma once

#include "sys/clock.hpp"

namespace evictd::fakes {

class FakeClock final : public sys::Clock {
public:
    [[nodiscard]] MonotonicTime monotonic() const override { return monotonic_; }
    [[nodiscard]] WallTime wall() const override { return wall_; }
    [[nodiscard]] Duration thread_cpu() const override { return monotonic_.time_since_epoch(); }  // it never waits

    void advance(Duration by) {
        monotonic_ += by;
        wall_ += by;
    }
    void set(MonotonicTime monotonic) { monotonic_ = monotonic; }
    void set(WallTime wall) { wall_ = wall; }

private:
    MonotonicTime monotonic_{std::chrono::hours(1)};
    WallTime wall_{std::chrono::sys_days(std::chrono::year(2026) / 1 / 1)};
};

}  // namespace evictd::fakes
