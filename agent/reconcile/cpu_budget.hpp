// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How much CPU time a thread may spend on work whose amount is up to the pods: a share of one core, averaged, with a
// burst. It measures nothing itself: CPU time and time are arguments.
#pragma once

#include <algorithm>

#include "evictd/model/units.hpp"

namespace evictd::reconcile {

class CpuBudget {
public:
    // `percent` of a core; `burst` of CPU time may be spent at once after a rest. Of what is spent in spite of the
    // budget, no more than `most_debt` has to be earned back.
    CpuBudget(int percent, Duration burst) : percent_(percent), burst_(burst) {}
    CpuBudget(int percent, Duration burst, Duration most_debt)
        : percent_(percent), burst_(burst), most_(burst + most_debt) {}

    void charge(Duration used, MonotonicTime now) {
        spent_ = std::min(most_, spent(now) + used);
        at_ = now;
    }
    // What was spent and is not earned back yet.
    [[nodiscard]] Duration spent(MonotonicTime now) const {
        return std::max(Duration::zero(), spent_ - (now - at_) / 100 * percent_);
    }
    [[nodiscard]] bool ready(MonotonicTime now) const { return spent(now) < burst_; }
    // When there is something to spend again; `now` if there is.
    [[nodiscard]] MonotonicTime ready_at(MonotonicTime now) const {
        const auto over = spent(now) - burst_;
        return over < Duration::zero() ? now : now + (over + std::chrono::microseconds(1)) * 100 / percent_;
    }

private:
    int percent_;
    Duration burst_;
    Duration most_ = Duration::max();  // that is remembered
    Duration spent_{0};
    MonotonicTime at_;
};

}  // namespace evictd::reconcile
