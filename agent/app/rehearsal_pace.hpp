// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How often an eviction is rehearsed while memory is near a line. After 2 ms most of the kill path is still in the
// CPU's caches, after 10 ms less. It measures nothing itself: CPU time and time are arguments.
#pragma once

#include <chrono>
#include <optional>

#include "evictd/model/units.hpp"
#include "reconcile/cpu_budget.hpp"

namespace evictd::app {

class RehearsalPace {
public:
    // A look or a rehearsal read at `at` that memory is this much above the next line. None: no line that is not
    // crossed is near.
    void note(std::optional<Bytes> distance, MonotonicTime at);
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
    // No more than a fiftieth of a CPU on average, however long the node stays near a line and however often it is
    // looked at, if a rehearsal costs no more than 40 ms.
    static constexpr Duration usual_pause = std::chrono::milliseconds(10);
    static constexpr int usual_share = 50;
    static constexpr Duration longest_pause = std::chrono::seconds(2);
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
    MonotonicTime usual_at_;  // the latest end of a rehearsal's usual pause
    std::optional<Bytes> distance_;
    MonotonicTime noted_at_;
    MonotonicTime soon_until_;
    Early early_ = Early::no;
    // Of a CPU, for rehearsals that come early: pods can make memory approach a line as often as they like.
    reconcile::CpuBudget soon_budget_{2, at_once};
    reconcile::CpuBudget approach_budget_{5, at_once};
    // For what a rehearsal costs more than the one before.
    reconcile::CpuBudget excess_budget_{2, at_once, at_once};
    reconcile::CpuBudget awake_budget_{5, most_awake};  // for pauses without sleep
};

}  // namespace evictd::app
