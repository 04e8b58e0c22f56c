// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What slow threads found of disks and of the container runtime, brought into looks. News calls for a look only where
// it may change the decision: a threshold that is met or is no longer, another pace, newer figures of pods.
#include <algorithm>
#include <utility>

#include "app/agent.hpp"
#include "observe/filesystem_readings.hpp"
#include "policy/disk_evictions.hpp"
#include "policy/exhaustion.hpp"
#include "policy/local_storage.hpp"
#include "policy/reading_pace.hpp"
#include "policy/thresholds.hpp"

namespace evictd::app {
namespace {

// Figures of pods come as walks end, one after the other. As often again, and looks cost more CPU time; half as often,
// and a pod over its limit is evicted a second later.
constexpr Duration look_for_figures = std::chrono::seconds(1);
// The runtime's figures come shortly before those of walks: one look for both.
constexpr Duration gather_figures = std::chrono::milliseconds(200);
// While an eviction waits for them the disk fills up: so long after a look at most, and as often are filesystems asked.
constexpr Duration look_for_missing_figures = std::chrono::milliseconds(10);

// How often the runtime lists writable layers, which takes containerd some 50 ms of a CPU with 110 pods. By default it
// measures a layer every 10 s: a new container has no size before, and a removed one is missing from the next list.
constexpr Duration layers_at_rest = std::chrono::seconds(30);
constexpr Duration layers_that_may_decide = std::chrono::seconds(10);
constexpr Duration layers_under_pressure = std::chrono::seconds(1);

// What pods keep is measured anew at a crossing, but not within 2 s of the last time; then after 10 s, and twice as
// long each time while a threshold stays met: a walk of all pods takes seconds of a CPU. The kubelet's own figures are
// up to a minute old.
constexpr Duration pause_between_crossings = std::chrono::seconds(2);
constexpr Duration shortest_refresh = std::chrono::seconds(10);
constexpr Duration longest_refresh = std::chrono::minutes(1);

// By threshold. Enforced: also while one that was met is back above its value, and its minimum reclaim is not reached.
std::vector<bool> disks_met(const EvictionConfig& config, const Readings& readings, policy::MinReclaim min_reclaim) {
    std::vector<bool> met;
    met.reserve(config.thresholds.size());
    for (const auto& threshold : config.thresholds) {
        met.push_back(policy::is_on_disk(threshold.signal) && policy::is_met(threshold, readings, min_reclaim));
    }
    return met;
}

bool any_met(const std::vector<bool>& met) { return std::find(met.begin(), met.end(), true) != met.end(); }

bool any_is_new(const std::vector<bool>& met, const std::vector<bool>& before) {
    for (std::size_t i = 0; i < met.size(); i++) {
        if (met[i] && (i >= before.size() || !before[i])) {
            return true;
        }
    }
    return false;
}

// The oldest of those that met thresholds were compared with: by one that an earlier look had nothing is decided.
MonotonicTime read_at(const EvictionConfig& config, const Readings& readings, const std::vector<bool>& met) {
    std::optional<MonotonicTime> oldest;
    for (std::size_t i = 0; i < met.size(); i++) {
        const auto& reading = readings.at(static_cast<std::size_t>(config.thresholds[i].signal));
        if (met[i] && reading) {
            oldest = std::min(oldest.value_or(reading->at), reading->at);
        }
    }
    return oldest.value_or(MonotonicTime{});
}

bool has_limit(const EvictionConfig& config, const std::vector<ObservedPod>& pods) {
    return config.local_storage_isolation && std::any_of(pods.begin(), pods.end(), [](const ObservedPod& observed) {
               return policy::may_break_limit(*observed.pod);
           });
}

bool any_unknown(const std::vector<ObservedPod>& pods) {
    return std::any_of(pods.begin(), pods.end(), [](const ObservedPod& observed) {
        return observed.populated && observed.usage && observed.usage->disk_partial;
    });
}

// No figures: none is chosen for disk by what is not there.
void mark_disk_usage_unknown(std::vector<ObservedPod>& pods) {
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
    if (purpose == observe::LookFor::rehearsal) {
        mark_disk_usage_unknown(observation.pods);
        return;
    }
    using policy::MinReclaim;
    add_left_cgroups(observation);
    const auto& config = options_.eviction;
    // A threshold in time is not in the configuration: the last decision has it, at the rates of its look.
    const bool in_time = policy::is_disk_time_met(state_.first_observed);
    may_act_for_disk_ = in_time || any_met(disks_met(config, observation.readings, MinReclaim::enforced));
    auto met = disks_met(config, observation.readings, MinReclaim::ignored);
    const bool crossed = any_is_new(met, disks_met_) || (in_time && !disks_met_in_time_);
    disks_met_in_time_ = in_time;
    disks_met_ = std::move(met);
    if (crossed) {
        begin_refreshing(observation.at);
    }
    if (in_time || any_met(disks_met_)) {
        refresh_figures(observation);
    }
    const auto read = read_at(config, observation.readings, disks_met_);
    is_disk_reading_old_ = any_met(disks_met_) && read <= disks_read_;
    disks_read_ = read;
    auto figures = parts_.disks.figures();
    are_figures_missing_ = false;
    if (!may_act_for_disk_ && figures == used_figures_) {
        mark_disk_usage_unknown(observation.pods);
        return;
    }
    observe::add_disk_usage(figures, may_act_for_disk_ ? figures_count_since_ : MonotonicTime{}, observation.pods);
    used_figures_ = std::move(figures);
    const bool is_awaited = may_act_for_disk_ && observation.at - figures_count_since_ < policy::longest_unknown;
    are_figures_missing_ = is_awaited && any_unknown(observation.pods);
}

// Of pods that may be orphans, as the last look had it: it takes some looks until one is.
void Agent::add_left_cgroups(Observation& observation) const {
    const auto& unknown = state_.collecting.unknown;  // by uid
    if (unknown.empty()) {
        return;
    }
    observation.left_cgroups = parts_.observer.left(table_, [&](const PodUid& pod) {
        return std::binary_search(unknown.begin(), unknown.end(), UnknownOwner{pod.value, {}},
                                  [](const auto& a, const auto& b) { return a.pod < b.pod; });
    });
}

// Between the start and the first list there is a runtime without lists: evictions for disk wait for them.
RuntimePtr Agent::runtime() const {
    static const auto never_listed = std::make_shared<const Runtime>();
    return runtime_ || !parts_.disks.has_runtime() ? runtime_ : never_listed;
}

// Figures from before a crossing may be what pods kept before they filled the disk.
void Agent::begin_refreshing(MonotonicTime now) {
    figures_count_since_ = now;
    refresh_pause_ = shortest_refresh;
    refresh_at_ = disks_refreshed_ ? std::max(now, *disks_refreshed_ + pause_between_crossings) : now;
}

void Agent::refresh_figures(const Observation& observation) {
    if (observation.at < refresh_at_) {
        return;
    }
    disks_refreshed_ = observation.at;
    refresh_at_ = observation.at + refresh_pause_;
    refresh_pause_ = std::min(2 * refresh_pause_, longest_refresh);
    std::vector<PodUid> pods;
    pods.reserve(observation.pods.size());
    for (const auto& observed : observation.pods) {
        pods.push_back(observed.pod->uid);
    }
    parts_.disks.refresh(pods);
}

void Agent::add_victim_disks(std::vector<ObservedVictim>& victims) const {
    if (!parts_.disks) {
        return;
    }
    for (auto& victim : victims) {
        victim.on_disk = observe::has_disk_data(used_figures_, victim.pod);
        victim.volumes = observe::has_volumes(used_figures_, victim.pod);
    }
}

void Agent::note_disks() {
    const auto now = parts_.clock.monotonic();
    Cause cause{.kind = CauseKind::requested, .event = {}, .detected_at = now};
    Observation seen;
    observe::add_filesystems(parts_.disks.filesystems(), seen);
    const auto met = disks_met(options_.eviction, seen.readings, policy::MinReclaim::ignored);
    if (met != disks_met_ ||
        policy::filesystem_pace(options_.eviction, seen.readings, state_.disk_trends) < filesystem_pace_) {
        tick(std::move(cause));
        return;
    }
    const bool has_figures = parts_.disks.figures() != used_figures_;
    if (are_figures_missing_ || is_disk_reading_old_) {
        const bool is_new = read_at(options_.eviction, seen.readings, met) > disks_read_;
        if (is_new && (has_figures || is_disk_reading_old_)) {
            put_off(std::move(cause), std::max(now, last_look_ + look_for_missing_figures));
        }
    } else if (has_figures && may_disk_usage_decide_) {
        put_off(std::move(cause), std::max(now + gather_figures, last_look_ + look_for_figures));
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

// While no threshold on disk is met or predicted and no pod has a limit, new figures of pods cause no look, and the
// runtime lists layers less often. This is also so near a threshold: at a crossing all figures are measured again, and
// an eviction waits for them. While a filesystem is predicted to fill up, layers show which pod fills it.
void Agent::pace_layers(const Tick& tick) {
    const auto& config = options_.eviction;
    // An eviction may wait for figures, for the end of a victim, or for the runtime itself.
    const bool is_awaited = may_act_for_disk_ || !state_.freeing.empty();
    may_disk_usage_decide_ = is_awaited || policy::look_for_disk_time(config) ||
                             !tick.decision.disk_exhaustion.empty() || has_limit(config, tick.observation.pods);
    const auto pace = is_awaited               ? layers_under_pressure
                      : may_disk_usage_decide_ ? layers_that_may_decide
                                               : layers_at_rest;
    if (pace != layers_pace_ && parts_.disks.set_layers_pace(pace)) {
        layers_pace_ = pace;
    }
}

void Agent::want_disks(const Tick& tick) {
    if (!parts_.disks) {
        return;
    }
    auto pace = tick.decision.filesystem_pace;
    if (are_figures_missing_) {
        pace = std::min(pace, look_for_missing_figures);
    }
    const auto asked = pace == Duration::zero() ? options_.eviction.look_period : pace;
    if (pace != filesystem_pace_ && parts_.disks.set_filesystem_pace(asked)) {
        filesystem_pace_ = pace;
    }
    pace_layers(tick);
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
