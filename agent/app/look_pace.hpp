// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How often the agent may look where its looks are timed: where the kernel does not tell of every crossing, a look
// reads files, and pods decide how many.
#pragma once

#include <optional>

#include "evictd/model/units.hpp"
#include "reconcile/cpu_budget.hpp"
#include "sys/clock.hpp"

namespace evictd::app {

class LookPace {
public:
    // `clock` outlives it.
    explicit LookPace(const sys::Clock& clock) : clock_(clock) {}

    // A look took this much CPU time.
    void note_cost(Duration cpu);
    void note_kill() { last_kill_ = clock_.monotonic(); }
    [[nodiscard]] bool killed_within(Duration period) const { return clock_.monotonic() - last_kill_ < period; }

    // From the end of a look to the next: never more than half a CPU.
    [[nodiscard]] Duration pause() const;
    // From the last look to one that a file's event asks for. While there is budget, that look is charged to it.
    [[nodiscard]] Duration urgent_pause();
    // To the next timed look, at least. Where memory falls fast towards the next line, `distance` away, it is as short
    // as the budget for that allows.
    [[nodiscard]] Duration timed_pause(std::optional<Bytes> distance);

private:
    const sys::Clock& clock_;
    Duration last_cost_{};  // the CPU time of the last look
    Duration cost_{};       // what the next one will take
    std::optional<Bytes> last_distance_;
    // Of a CPU, for looks that files cause and memory that falls.
    reconcile::CpuBudget urgent_budget_{2, std::chrono::milliseconds(200)};
    bool urgent_ = false;  // the next look is charged to it
    MonotonicTime last_kill_;
};

}  // namespace evictd::app
