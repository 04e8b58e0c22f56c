// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Sends wanted rungs to the ladder's threads and receives their outcomes: nothing of it costs the kill path more than a
// post.
#include <utility>

#include "app/agent.hpp"
#include "policy/ladder.hpp"

namespace evictd::app {

void Agent::want_rungs(const std::vector<Rung>& rungs) {
    if (parts_.rungs == nullptr || rungs == wanted_rungs_) {
        return;
    }
    wanted_rungs_ = rungs;
    std::vector<reconcile::WantedRung> wanted;
    wanted.reserve(rungs.size());
    for (const auto& rung : rungs) {
        auto cgroup = table_.cgroup_of(rung.pod);
        if (cgroup && cgroup->id() == rung.cgroup) {
            wanted.push_back({rung, std::move(cgroup)});
        }
    }
    parts_.rungs->want(std::move(wanted));
}

// Whether a look would change who stands on which rung.
bool Agent::calls_for_rungs(const Observation& observation) const {
    return parts_.rungs != nullptr && policy::climb(options_.eviction, observation, state_).held != state_.ladder.held;
}

void Agent::note_rung(RungOutcome outcome) {
    const bool over = outcome.status != RungStatus::begun;
    rung_outcomes_.push_back(std::move(outcome));
    if (over) {
        tick(Cause{.kind = CauseKind::requested, .event = {}, .detected_at = parts_.clock.monotonic()});
    }
}

}  // namespace evictd::app
