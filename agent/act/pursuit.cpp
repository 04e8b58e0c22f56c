// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "act/pursuit.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

#include "act/victim_freeze.hpp"
#include "sys/log.hpp"

namespace evictd::act {
namespace {

// A fork bomb leaves a normal thread no CPU. So long the thread is urgent, and as long as no walk was cut short: a pod
// with cgroups by the thousand keeps it busy for longer than a real-time thread may be.
constexpr Duration urgent_for = std::chrono::seconds(5);
// What a walk may take once one was cut short, doubled while it is not enough up to the longest: `most_frozen_walks` of
// those stay below what the watchdog takes for a lane that hangs (sys/proof_of_life.hpp).
constexpr Duration second_walk_limit = std::chrono::milliseconds(500);
// Walks under the freezer, until one finds no process that the last did not.
constexpr int most_frozen_walks = 8;
// Rounds in which no process is listed and the kernel still counts tasks. Zombies until they are reaped, as a rule;
// after these (7 ms) the pod is frozen, to see whether they move.
constexpr int rounds_without_a_process = 3;

std::vector<pid_t> sorted(std::vector<pid_t> pids) {
    std::sort(pids.begin(), pids.end());
    return pids;
}

// Both in ascending order.
bool are_all_in(const std::vector<pid_t>& pids, const std::vector<pid_t>& known) {
    return std::includes(known.begin(), known.end(), pids.begin(), pids.end());
}

}  // namespace

bool Pursuit::is_urgent(MonotonicTime now) const { return walk_limit_ == first_walk_limit && now - since < urgent_for; }

Struck Pursuit::strike(const sys::Clock& clock, const AfterBatch& after, const std::optional<std::string>& rungs_path) {
    return freezes_next() ? strike_frozen(clock, after, rungs_path) : strike_once(clock, after);
}

// SIGKILL to everybody once more: what forked away since then gets it now, and for the others it changes nothing.
Struck Pursuit::strike_once(const sys::Clock& clock, const AfterBatch& after) const {
    // It may wait for cgroup_mutex. In the first round everybody was struck already, and their memory comes first.
    const bool kills = victim->can_kill();
    if (kills && rounds > 0) {
        (void)victim->kill();
    }
    Struck struck = act::strike(*victim,
                                {.signal_number = SIGKILL,
                                 .listing = rounds > 0 ? port::Listing::thorough : port::Listing::quick,
                                 .until = clock.monotonic() + walk_limit_,
                                 .close_at_once = true,
                                 .after_batch = after},
                                clock);
    if (kills && rounds == 0) {
        (void)victim->kill();
    }
    return struck;
}

// Freezing makes every fork() in flight fail or its child start frozen, and nothing moves: what two walks in succession
// list is all there is. Only against those who fork or move, because it also keeps the dying from ending.
Struck Pursuit::strike_frozen(const sys::Clock& clock, const AfterBatch& after,
                              const std::optional<std::string>& rungs_path) {
    const VictimFreeze freeze(*victim, rungs_path);
    if (freeze.trouble().empty()) {
        freezes++;
    } else if (!std::exchange(told_trouble_, true)) {
        sys::log::error(victim->path() + ": " + freeze.trouble());
    }
    Struck struck = strike_once(clock, after);
    for (int walk = 1; walk < most_frozen_walks && !struck.trouble && !struck.cut; walk++) {
        const auto known = sorted(std::move(struck.listed));
        struck = strike_once(clock, after);
        if (!struck.moved && are_all_in(sorted(struck.listed), known)) {
            proved = freeze.trouble().empty() && struck.whole() && struck.listed.empty();
            break;
        }
    }
    return struck;
}

// From a list that is not whole nothing is concluded about the pod.
void Pursuit::learn_from(const Struck& struck) {
    rounds++;
    if (struck.cut) {
        walk_limit_ = std::clamp(2 * walk_limit_, second_walk_limit, longest_walk_limit);
    }
    if (struck.trouble || struck.cut) {
        return;
    }
    auto listed = sorted(struck.listed);
    const bool new_ones = seen && !are_all_in(listed, *seen);
    empty_rounds_ = listed.empty() ? empty_rounds_ + 1 : 0;
    const bool hides = empty_rounds_ >= rounds_without_a_process;
    evades = new_ones || hides;
    appeared = appeared || new_ones;  // a process that is no longer listed may just be exiting
    if (hides && !uses_freezer() && !victim->can_kill()) {
        proved = true;  // v1 without a freezer: there is no better proof
    }
    seen = std::move(listed);
}

}  // namespace evictd::act
