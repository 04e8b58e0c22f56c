// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/rehearsal_pace.hpp"

#include <algorithm>
#include <utility>

namespace evictd::app {
namespace {

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

// Also of one that gave way. The kernel adds to CPU time what a host takes and does not report as steal time: one that
// stood still may seem to cost a hundred times as much, and says nothing of the next. Hence the lesser of the last two
// counts, while there is budget for the excess: a pod could otherwise make every second one expensive. And no pause is
// shorter than what it took, whatever it waited for: a crossing would wait as long.
void RehearsalPace::charge(Duration cpu, Duration took, MonotonicTime now) {
    const Duration lesser = std::min(cpu, std::exchange(last_cost_, cpu));
    const Duration cost = excess_budget_.ready(now) ? lesser : cpu;
    excess_budget_.charge(cpu - lesser, now);
    if (early_ == Early::soon) soon_budget_.charge(lesser, now);
    if (early_ == Early::approach) approach_budget_.charge(lesser, now);
    early_ = Early::no;
    short_ = std::max({short_pause, short_share * cost, took});
    usual_ = std::max({usual_pause, usual_share * cost, took});
    usual_at_ = now + usual_;
}

MonotonicTime RehearsalPace::awake_until(MonotonicTime now) const {
    return early_ == Early::soon ? std::min(soon_until_, now + most_awake - awake_budget_.spent(now)) : now;
}

Duration RehearsalPace::pause(Duration where_soon, MonotonicTime now) {
    early_ = now < soon_until_ && soon_budget_.ready(now) ? Early::soon : Early::no;
    return early_ == Early::soon ? where_soon : usual_;
}

MonotonicTime RehearsalPace::at_approach(MonotonicTime now) {
    if (now >= usual_at_) return now;
    if (!approach_budget_.ready(now)) return usual_at_;
    early_ = Early::approach;
    return now;
}

}  // namespace evictd::app
