// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What slow threads found of disks and of the container runtime, brought into looks. News calls for a look only where
// it may change the decision: a threshold that is met or is no longer, another pace, newer figures of pods.
#include <algorithm>
#include <utility>

#include "app/agent.hpp"
#include "observe/filesystem_readings.hpp"
#include "policy/disk_evictions.hpp"
#include "policy/filesystem_pace.hpp"
#include "policy/thresholds.hpp"

namespace evictd::app {
namespace {

// Figures of pods come as walks end, one after the other. As often again, and looks cost more CPU time; half as often,
// and a pod over its limit is evicted a second later.
constexpr Duration look_for_figures = std::chrono::seconds(1);

// At a crossing, then twice as long each time while a threshold stays met: a walk of all pods takes seconds of a CPU.
constexpr Duration shortest_refresh = std::chrono::seconds(10);
constexpr Duration longest_refresh = std::chrono::minutes(5);

// By threshold. Enforced: also while one that was met is back above its value, and its minimum reclaim is not reached.
std::vector<bool> disks_met(const EvictionConfig& config, const Readings& readings, policy::MinReclaim min_reclaim) {
    std::vector<bool> met;
    met.reserve(config.thresholds.size());
    for (const auto& threshold : config.thresholds) {
        met.push_back(policy::is_on_disk(threshold.signal) && policy::is_met(threshold, readings, min_reclaim));
    }
    return met;
}

bool any(const std::vector<bool>& met) { return std::find(met.begin(), met.end(), true) != met.end(); }

// No figures: none is chosen for disk by what is not there.
void leave_unknown(std::vector<ObservedPod>& pods) {
    for (auto& observed : pods) {
        if (observed.usage) {
            observed.usage->disk_partial = true;
        }
    }
}

}  // namespace

// What pods keep is added where it may be decided by: 110 pods cost some 100 us that no kill for memory is to wait for.
void Agent::add_disks(Observation& observation, observe::LookFor purpose) {
    if (!parts_.disks) {
        return;
    }
    observe::add_filesystems(parts_.disks.filesystems(), observation);
    observation.runtime = runtime();
    if (purpose == observe::LookFor::practice) {
        leave_unknown(observation.pods);
        return;
    }
    using policy::MinReclaim;
    const auto& config = options_.eviction;
    const bool may_act = any(disks_met(config, observation.readings, MinReclaim::enforced));
    const bool was_short = any(disks_met_);
    disks_met_ = disks_met(config, observation.readings, MinReclaim::ignored);
    if (any(disks_met_)) {
        if (!was_short) {
            disk_short_since_ = observation.at;
            refresh_pause_ = shortest_refresh;
        }
        refresh_figures(observation);
    }
    auto figures = parts_.disks.figures();
    if (!may_act && figures == used_figures_) {
        leave_unknown(observation.pods);
        return;
    }
    used_figures_ = std::move(figures);
    // What was measured before may be what a pod kept before it filled the disk.
    observe::add_disk_usage(figures_that_count(), may_act ? disk_short_since_ : MonotonicTime{}, observation.pods);
}

// Between the start and the first list there is a runtime without lists: evictions for disk wait for them.
RuntimePtr Agent::runtime() const {
    static const auto never_listed = std::make_shared<const Runtime>();
    return runtime_ || !parts_.disks.has_runtime() ? runtime_ : never_listed;
}

// The layers of a victim went with its containers. Those that start instead, where something starts them, are others.
observe::DiskFigures Agent::figures_that_count() const {
    observe::DiskFigures counting = used_figures_;
    if (counting.layers && state_.relieved_at >= counting.layers->at) {
        counting.layers = nullptr;
    }
    return counting;
}

void Agent::refresh_figures(const Observation& observation) {
    if (disks_refreshed_ && observation.at < *disks_refreshed_ + refresh_pause_) {
        return;
    }
    if (disks_refreshed_ >= disk_short_since_) {
        refresh_pause_ = std::min(2 * refresh_pause_, longest_refresh);
    }
    disks_refreshed_ = observation.at;
    std::vector<PodUid> pods;
    pods.reserve(observation.pods.size());
    for (const auto& observed : observation.pods) {
        pods.push_back(observed.pod->uid);
    }
    parts_.disks.refresh(pods);
}

void Agent::add_volumes(std::vector<ObservedVictim>& victims) const {
    if (!parts_.disks) {
        return;
    }
    for (auto& victim : victims) {
        victim.on_disk = observe::keeps_anything(used_figures_, victim.pod);
    }
}

void Agent::note_disks() {
    const auto now = parts_.clock.monotonic();
    Cause cause{.kind = CauseKind::requested, .event = {}, .detected_at = now};
    Observation seen;
    observe::add_filesystems(parts_.disks.filesystems(), seen);
    const auto met = disks_met(options_.eviction, seen.readings, policy::MinReclaim::ignored);
    if (met != disks_met_ || policy::filesystem_pace(options_.eviction, seen.readings) < filesystem_pace_) {
        tick(std::move(cause));
    } else if (parts_.disks.figures() != used_figures_) {
        put_off(std::move(cause), std::max(now, last_look_ + look_for_figures));
    }
}

void Agent::note_inventory(RuntimePtr inventory) {
    runtime_ = std::move(inventory);
    tick(Cause{.kind = CauseKind::requested, .event = {}, .detected_at = parts_.clock.monotonic()});
}

void Agent::note_reclaimed(ReclaimOutcome outcome) {
    reclaimed_ = std::move(outcome);
    tick(Cause{.kind = CauseKind::requested, .event = {}, .detected_at = parts_.clock.monotonic()});
}

void Agent::want_disks(const Tick& tick) {
    if (!parts_.disks) {
        return;
    }
    if (const auto pace = tick.decision.filesystem_pace; pace != filesystem_pace_) {
        filesystem_pace_ = pace;
        parts_.disks.set_pace(pace == Duration::zero() ? options_.eviction.look_period : pace);
    }
    const auto& garbage = tick.decision.garbage;
    const bool is_new = garbage.pass != wanted_pass_ || garbage.inventory_since != wanted_inventory_since_;
    if (!is_new) {
        return;
    }
    wanted_pass_ = garbage.pass;
    wanted_inventory_since_ = garbage.inventory_since;
    parts_.disks.want_garbage(garbage);
}

}  // namespace evictd::app
