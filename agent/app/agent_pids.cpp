// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The node's tasks, where a threshold is on them: counted at each look, and between looks as often as the distance to
// the threshold asks for. The kernel reports no crossing.
#include <algorithm>
#include <utility>

#include "app/agent.hpp"
#include "policy/pid_evictions.hpp"
#include "policy/reading_pace.hpp"
#include "policy/thresholds.hpp"

namespace evictd::app {
namespace {

bool is_on_pids(const Threshold& threshold) { return threshold.signal == Signal::pid_available; }

bool is_wanted(const EvictionConfig& config) {
    return std::any_of(config.thresholds.begin(), config.thresholds.end(), is_on_pids);
}

// By threshold.
std::vector<bool> pids_met(const EvictionConfig& config, const Readings& readings) {
    std::vector<bool> met;
    met.reserve(config.thresholds.size());
    for (const auto& threshold : config.thresholds) {
        met.push_back(is_on_pids(threshold) && policy::is_met(threshold, readings, policy::MinReclaim::ignored));
    }
    return met;
}

}  // namespace

// Without a threshold on PIDs the counts are only displayed, and no urgent look waits for them.
void Agent::rank_by_processes() { parts_.observer.rank_by_processes(is_wanted(options_.eviction)); }

// makeSignalObservations: what is available is MaxPID without what runs.
void Agent::add_pids(Observation& observation) {
    if (parts_.pids == nullptr || !is_wanted(options_.eviction)) {
        return;
    }
    const auto at = parts_.clock.monotonic();
    const auto pids = parts_.pids->read();
    pids_trouble_ = pids ? std::string() : pids.error().text();
    if (pids) {
        observation.readings[static_cast<std::size_t>(Signal::pid_available)] =
            Reading{.available = {pids->most - pids->running}, .capacity = {pids->most}, .at = at};
    }
}

// A victim's tasks count until something has waited for them.
void Agent::add_tasks(std::vector<ObservedVictim>& victims) const {
    for (auto& victim : victims) {
        if (!policy::are_tasks_followed(victim, state_)) {
            continue;
        }
        const auto followed = std::find_if(followed_.begin(), followed_.end(), [&](const observe::Followed& one) {
            return one.pod == victim.pod && one.id == victim.cgroup && one.cgroup;
        });
        if (followed == followed_.end()) {
            continue;
        }
        if (const auto tasks = followed->cgroup->tasks()) {
            victim.tasks = *tasks;
        } else {
            victim.removed = tasks.error().kind == ErrorKind::vanished;
        }
    }
}

// A look where a threshold is met that was not, or no longer; else the next count.
void Agent::count_pids() {
    Observation seen;
    add_pids(seen);
    if (pids_met(options_.eviction, seen.readings) != pids_met_) {
        tick(Cause{.kind = CauseKind::requested, .event = {}, .detected_at = parts_.clock.monotonic()});
        return;
    }
    (void)arm_pids(policy::pid_pace(options_.eviction, seen.readings));
}

void Agent::watch_pids(const Tick& tick) {
    if (parts_.pids == nullptr) {
        return;
    }
    pids_met_ = pids_met(options_.eviction, tick.observation.readings);
    if (auto armed = arm_pids(tick.decision.pid_pace); !armed) {
        pids_trouble_ = armed.error().text();
    }
}

Status Agent::arm_pids(Duration pace) {
    if (pace == Duration::zero()) {
        pid_timer_ = {};
        return {};
    }
    if (!pid_timer_) {
        auto timer = parts_.loop.add_timer([this] { count_pids(); });
        if (!timer) {
            return tl::unexpected(timer.error());
        }
        pid_timer_ = std::move(*timer);
    }
    pid_timer_.arm(parts_.clock.monotonic() + pace);
    return {};
}

}  // namespace evictd::app
