// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How often an eviction is rehearsed while memory is near a line: what the CPU's caches hold of the kill path is most
// of it after 2 ms, less after 10. It measures nothing itself: time is an argument.
#pragma once

#include <chrono>
#include <optional>

#include "evictd/model/units.hpp"
#include "reconcile/cpu_budget.hpp"

namespace evictd::app {

class RehearsalPace {
public:
    // A look or a rehearsal found memory this much above the next line. None: no line is near, or one is crossed.
    void note(std::optional<Bytes> distance, MonotonicTime now);
    // A rehearsal took this much CPU time.
    void charge(Duration cpu, MonotonicTime now);
    // From the end of a rehearsal to the next.
    [[nodiscard]] Duration pause(MonotonicTime now);
    // From the end of a look to the next rehearsal.
    [[nodiscard]] Duration pause_after_look(MonotonicTime now) { return pause_for(Duration::zero(), now); }
    // Until when the thread is not to sleep in that pause: a line is reached so soon that the time to wake it matters.
    // If this is `now` or earlier, it may sleep.
    [[nodiscard]] MonotonicTime awake_until(MonotonicTime now) const;
    // It stayed awake for this long.
    void charge_awake(Duration time, MonotonicTime now) { awake_budget_.charge(time, now); }

private:
    static constexpr Duration most_awake = std::chrono::milliseconds(200);  // without a rest

    [[nodiscard]] Duration pause_for(Duration cost, MonotonicTime now);

    Duration last_cost_{};  // the CPU time of the last rehearsal
    Duration cost_{};       // what the next one will take
    std::optional<Bytes> distance_;
    MonotonicTime noted_at_;
    MonotonicTime soon_until_;
    bool was_short_ = false;  // the pause before the next rehearsal
    // Of a CPU, for rehearsals after a short pause and for what one takes more than cost_, on average and at once: pods
    // can make memory approach a line as often as they like.
    reconcile::CpuBudget budget_{2, std::chrono::milliseconds(200)};
    reconcile::CpuBudget awake_budget_{5, most_awake};  // for pauses without sleep
};

}  // namespace evictd::app
