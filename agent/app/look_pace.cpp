// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/look_pace.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace evictd::app {
namespace {

// Where looks are timed they take a twentieth of a CPU, as the kernel's timer does; half of that while urgent_budget_
// is spent. But no crossing goes unseen for more than a second, which is what there is between two such looks where
// nothing is near; by then a hog at full speed has taken 2 GiB, and files that wake us (usage levels, PSI) have done
// so. And half a CPU for a moment after a kill: another victim may be needed as soon as the last one's memory is back.
constexpr int timed_share = 20;
constexpr Duration longest_pause = std::chrono::seconds(1);
constexpr Duration hurry_after_a_kill = std::chrono::seconds(1);

}  // namespace

// A look that waited for its CPU says little of what the next one takes: the lesser of two.
void LookPace::note_cost(Duration cpu) {
    cost_ = std::min(cpu, std::exchange(last_cost_, cpu));
    // The excess is charged to the urgent budget: a pod could otherwise make every second look expensive.
    urgent_budget_.charge(std::exchange(urgent_, false) ? cpu : cpu - cost_, clock_.monotonic());
}

Duration LookPace::pause() const {
    const auto affordable =
        urgent_budget_.ready(clock_.monotonic()) ? timed_share * cost_ : 2 * timed_share * last_cost_;
    return std::max(cost_, killed_within(hurry_after_a_kill) ? Duration::zero() : std::min(affordable, longest_pause));
}

Duration LookPace::urgent_pause() {
    urgent_ = urgent_ || urgent_budget_.ready(clock_.monotonic());
    return urgent_ ? cost_ : pause();
}

Duration LookPace::timed_pause(std::optional<Bytes> distance) {
    const auto before = std::exchange(last_distance_, distance);
    const bool falls = distance && before && distance->value < before->value / 4 * 3;
    urgent_ = falls && urgent_budget_.ready(clock_.monotonic());
    return urgent_ ? cost_ : pause();
}

}  // namespace evictd::app
