// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Victims that decide() follows: held by their cgroups from the look that chose them until nothing is owed any more.
#include <algorithm>
#include <utility>

#include "app/agent.hpp"

namespace evictd::app {

// As `state_` names them now. A cgroup made later under the same name is not the victim's.
void Agent::follow_victims() {
    std::vector<observe::Followed> followed;
    const auto follow = [&](const PodUid& pod, CgroupId id) {
        const auto is_it = [&](const observe::Followed& one) { return one.pod == pod && one.id == id; };
        if (std::any_of(followed.begin(), followed.end(), is_it)) {
            return;
        }
        const auto held = std::find_if(followed_.begin(), followed_.end(), is_it);
        if (held != followed_.end()) {
            followed.push_back(*held);
            return;
        }
        auto cgroup = table_.cgroup_of(pod);
        const bool same = cgroup && cgroup->id() == id;
        followed.push_back({pod, id, same ? std::move(cgroup) : nullptr});
    };
    for (const auto& flight : state_.in_flight) {
        follow(flight.victim.pod, flight.cgroup);
    }
    for (const auto& owing : state_.owing) {
        follow(owing.victim.pod, owing.cgroup);
    }
    for (const auto& reaping : state_.reaping) {
        follow(reaping.pod, reaping.cgroup);
    }
    for (const auto& freeing : state_.freeing) {
        follow(freeing.pod, freeing.cgroup);
    }
    followed_ = std::move(followed);
}

// A victim's is the one that it is followed by, also when its pod was started anew in another.
port::PodCgroupPtr Agent::cgroup_for(const Action& action) const {
    const auto followed = std::find_if(followed_.begin(), followed_.end(), [&](const observe::Followed& one) {
        return one.pod == action.pod && one.id == action.cgroup && one.cgroup;
    });
    return followed == followed_.end() ? table_.cgroup_of(action.pod) : followed->cgroup;
}

// Of those that are finished, while they are still followed: what it took, and what they left behind that no process
// needs.
void Agent::after_victims(Tick& tick) {
    for (const auto& victim : tick.decision.finished) {
        const auto known = std::find_if(followed_.begin(), followed_.end(),
                                        [&](const observe::Followed& one) { return one.pod == victim.pod; });
        if (known == followed_.end() || tick.dry_run) {
            continue;
        }
        if (const auto rounds = parts_.executor.rounds_of(known->id)) {
            tick.killed_in.push_back({victim.pod, *rounds});
        }
        if (known->cgroup && !victim.failed) {
            parts_.executor.drop_cache(known->cgroup);
        }
    }
}

// Of what kind the memory is that did not come back: after the actions, because it is slow.
void Agent::weigh_owed(Tick& tick) const {
    for (const auto& owed : tick.decision.owed) {
        const auto victim = std::find_if(followed_.begin(), followed_.end(),
                                         [&](const observe::Followed& one) { return one.id == owed.cgroup; });
        if (!owed.fresh || victim == followed_.end()) {
            continue;
        }
        if (const auto held = parts_.observer.held_by(*victim)) {
            tick.held.push_back({owed.cgroup, *held});
        }
    }
}

}  // namespace evictd::app
