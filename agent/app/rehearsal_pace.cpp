// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/rehearsal_pace.hpp"

#include <algorithm>
#include <utility>

namespace evictd::app {
namespace {

// As long as a process needs for the whole approach, 64 MiB, at 3 GiB/s.
constexpr Duration soon = std::chrono::milliseconds(20);

bool falls_below_soon(Bytes before, Bytes now, Duration within) {
    const double fall = static_cast<double>(before.value) - static_cast<double>(now.value);
    return fall > 0 && static_cast<double>(now.value) * static_cast<double>(within.count()) <=
                           fall * static_cast<double>(soon.count());
}

}  // namespace

// When a line has just come near, it is not known how fast.
void RehearsalPace::note(std::optional<Bytes> distance, MonotonicTime at) {
    const auto before = std::exchange(distance_, distance);
    const Duration within = at - std::exchange(noted_at_, at);
    if (!distance) {
        soon_until_ = at;
    } else if (!before || falls_below_soon(*before, *distance, within)) {
        soon_until_ = at + soon;
    }
}

// Called also for a rehearsal that gave way to an event. The kernel adds to CPU time what a host takes and does not
// report as steal time: a rehearsal that stood still may seem to cost a hundred times as much as the next one. So the
// lesser of the last two counts while there is budget for the excess. Without a budget for it, a pod could make every
// second rehearsal expensive. The pause after a rehearsal is no shorter than what it took, whatever it waited for: the
// next one may wait as long.
void RehearsalPace::charge(Duration cpu, Duration took, MonotonicTime now) {
    const Duration lesser = std::min(cpu, std::exchange(last_cost_, cpu));
    const Duration cost = excess_budget_.ready(now) ? lesser : cpu;
    excess_budget_.charge(cpu - lesser, now);
    if (early_ == Early::soon) soon_budget_.charge(cost, now);
    if (early_ == Early::approach) approach_budget_.charge(cost, now);
    early_ = Early::no;
    short_ = std::max(took, std::clamp(short_share * cost, short_pause, longest_pause));
    const Duration usual = std::max(took, std::clamp(usual_share * cost, usual_pause, longest_pause));
    usual_at_ = std::max(usual_at_, now + usual);
}

MonotonicTime RehearsalPace::awake_until(MonotonicTime now) const {
    return early_ == Early::soon ? std::min(soon_until_, now + most_awake - awake_budget_.spent(now)) : now;
}

Duration RehearsalPace::pause(Duration where_soon, MonotonicTime now) {
    early_ = now < soon_until_ && soon_budget_.ready(now) ? Early::soon : Early::no;
    return early_ == Early::soon ? where_soon : std::max(short_pause, usual_at_ - now);
}

// Without budget for an approach, a rehearsal that is due before the end of the usual pause stays what it is.
MonotonicTime RehearsalPace::at_approach(MonotonicTime now) {
    if (now >= usual_at_) {
        early_ = Early::no;
        return now;
    }
    if (!approach_budget_.ready(now)) return usual_at_;
    early_ = Early::approach;
    return now;
}

}  // namespace evictd::app
