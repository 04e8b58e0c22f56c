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

// While a threshold stays met. A walk of all pods takes seconds of a CPU.
constexpr Duration refresh_period = std::chrono::seconds(10);

bool is_disk_met(const EvictionConfig& config, const Readings& readings) {
    return std::any_of(config.thresholds.begin(), config.thresholds.end(), [&](const Threshold& threshold) {
        return policy::is_on_disk(threshold.signal) && policy::is_met(threshold, readings, policy::MinReclaim::ignored);
    });
}

}  // namespace

// What pods keep is added where it may be decided by: 110 pods cost some 100 us that no kill for memory is to wait for.
void Agent::add_disks(Observation& observation, observe::LookFor purpose) {
    if (!parts_.disks) {
        return;
    }
    observe::add_filesystems(parts_.disks.filesystems(), observation);
    observation.runtime = runtime_;
    if (purpose == observe::LookFor::practice) {
        return;
    }
    const bool was_short = std::exchange(is_disk_short_, is_disk_met(options_.eviction, observation.readings));
    if (is_disk_short_) {
        disk_short_since_ = was_short ? disk_short_since_ : observation.at;
        refresh_figures(observation);
    }
    auto figures = parts_.disks.figures();
    if (!is_disk_short_ && figures == used_figures_) {
        return;
    }
    // What was measured before may be what a pod kept before it filled the disk.
    observe::add_disk_usage(figures, is_disk_short_ ? disk_short_since_ : MonotonicTime{}, observation.pods);
    used_figures_ = std::move(figures);
}

void Agent::refresh_figures(const Observation& observation) {
    if (disks_refreshed_ >= disk_short_since_ && observation.at - disks_refreshed_ < refresh_period) {
        return;
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
        victim.on_disk = observe::keeps_volumes(used_figures_, victim.pod);
    }
}

void Agent::note_disks() {
    const auto now = parts_.clock.monotonic();
    Cause cause{.kind = CauseKind::requested, .event = {}, .detected_at = now};
    Observation seen;
    observe::add_filesystems(parts_.disks.filesystems(), seen);
    const bool is_short = is_disk_met(options_.eviction, seen.readings);
    if (is_short != is_disk_short_ || policy::filesystem_pace(options_.eviction, seen.readings) < filesystem_pace_) {
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
