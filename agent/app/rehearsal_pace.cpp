// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/rehearsal_pace.hpp"

#include <algorithm>
#include <utility>

namespace evictd::app {
namespace {

// No more than a fiftieth of a CPU, however long the node stays near a line.
constexpr Duration usual_pause = std::chrono::milliseconds(10);
constexpr int usual_share = 50;
// A crossing that comes during a rehearsal waits for its end, some 200 us; at most a ninth of the time is spent in one.
constexpr Duration short_pause = std::chrono::milliseconds(2);
constexpr int short_share = 8;
// At full speed memory falls by more than the whole approach in this time.
constexpr Duration soon = std::chrono::milliseconds(20);

bool falls_below_soon(Bytes before, Bytes now, Duration within) {
    const double fall = static_cast<double>(before.value) - static_cast<double>(now.value);
    return fall > 0 && static_cast<double>(now.value) * static_cast<double>(within.count()) <=
                           fall * static_cast<double>(soon.count());
}

}  // namespace

// When a line has just come near, it is not known how fast.
void RehearsalPace::note(std::optional<Bytes> distance, MonotonicTime now) {
    const auto before = std::exchange(distance_, distance);
    const Duration within = now - std::exchange(noted_at_, now);
    if (!distance) {
        soon_until_ = now;
    } else if (!before || falls_below_soon(*before, *distance, within)) {
        soon_until_ = now + soon;
    }
}

// Whatever came of it. One whose virtual CPU was taken away meanwhile may seem to take a hundred times as much, and
// says nothing of the next: the lesser of two.
void RehearsalPace::charge(Duration cpu, MonotonicTime now) {
    cost_ = std::min(cpu, std::exchange(last_cost_, cpu));
    budget_.charge(std::exchange(was_short_, false) ? cpu : cpu - cost_, now);
}

MonotonicTime RehearsalPace::awake_until(MonotonicTime now) const {
    return was_short_ ? std::min(soon_until_, now + most_awake - awake_budget_.spent(now)) : now;
}

// Where the budget is spent, the greater: a pod could otherwise make every second rehearsal expensive.
Duration RehearsalPace::pause(MonotonicTime now) {
    return pause_for(budget_.ready(now) ? cost_ : std::max(cost_, last_cost_), now);
}

Duration RehearsalPace::pause_for(Duration cost, MonotonicTime now) {
    was_short_ = now < soon_until_ && budget_.ready(now);
    return was_short_ ? std::max(short_pause, short_share * cost) : std::max(usual_pause, usual_share * cost);
}

}  // namespace evictd::app
