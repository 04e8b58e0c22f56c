// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How often an eviction is rehearsed while memory is near a line: what the CPU's caches hold of the kill path is most
// of it after 2 ms, less after 10. It measures nothing itself: CPU time and time are arguments.
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
    // A rehearsal ended, which cost this much CPU time and took this long.
    void charge(Duration cpu, Duration took, MonotonicTime now);
    // From the end of a rehearsal, or of a look, to the next rehearsal.
    [[nodiscard]] Duration pause(MonotonicTime now) { return pause(short_, now); }
    [[nodiscard]] Duration pause_after_look(MonotonicTime now) { return pause(short_pause, now); }
    // When to rehearse because a line came near: now, or when the next one is due in any case.
    [[nodiscard]] MonotonicTime at_approach(MonotonicTime now);
    // Until when the thread is not to sleep in that pause: a line is reached so soon that the time to wake it matters.
    // If this is `now` or earlier, it may sleep.
    [[nodiscard]] MonotonicTime awake_until(MonotonicTime now) const;
    // It stayed awake for this long.
    void charge_awake(Duration time, MonotonicTime now) { awake_budget_.charge(time, now); }

private:
    // No more than a fiftieth of a CPU on average, however long the node stays near a line.
    static constexpr Duration usual_pause = std::chrono::milliseconds(10);
    static constexpr int usual_share = 50;
    // A crossing that comes during a rehearsal waits for its end, some 200 us: a ninth of the time is spent in one, if
    // each costs what the last ones cost.
    static constexpr Duration short_pause = std::chrono::milliseconds(2);
    static constexpr int short_share = 8;
    static constexpr Duration at_once = std::chrono::milliseconds(200);     // of a budget, after a rest
    static constexpr Duration most_awake = std::chrono::milliseconds(200);  // without a rest

    // Why the next rehearsal comes before the end of the usual pause.
    enum class Early { no, soon, approach };

    [[nodiscard]] Duration pause(Duration where_soon, MonotonicTime now);

    Duration last_cost_{};  // the CPU time of the last rehearsal
    Duration short_ = short_pause;
    Duration usual_ = usual_pause;
    MonotonicTime usual_at_;  // the end of the usual pause after the last rehearsal
    std::optional<Bytes> distance_;
    MonotonicTime noted_at_;
    MonotonicTime soon_until_;
    Early early_ = Early::no;
    // Of a CPU, for rehearsals that come early: pods can make memory approach a line as often as they like.
    reconcile::CpuBudget soon_budget_{2, at_once};
    reconcile::CpuBudget approach_budget_{5, at_once};
    // For what a rehearsal costs more than the one before or after it.
    reconcile::CpuBudget excess_budget_{2, at_once, at_once};
    reconcile::CpuBudget awake_budget_{5, most_awake};  // for pauses without sleep
};

}  // namespace evictd::app
