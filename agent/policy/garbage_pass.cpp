// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "garbage_pass.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "garbage.hpp"
#include "moments.hpp"
#include "orphans.hpp"
#include "pod_word.hpp"
#include "reclaim.hpp"
#include "thresholds.hpp"

namespace evictd::policy {

namespace {

using namespace std::chrono_literals;

// ContainerGCPeriod and ImageGCPeriod of the kubelet.
constexpr Duration container_period = 1min;
constexpr Duration image_period = 5min;
// Nothing is waited for.
constexpr Duration at_once = 1ms;
// A list that could not be had is asked for again. A runtime that is being restarted is back within some seconds; a
// tenth of it would be a load on one that refuses.
constexpr Duration ask_again_after = 1s;

bool asks_for(const std::vector<NodeReclaim>& asked, NodeReclaim what) {
    return std::find(asked.begin(), asked.end(), what) != asked.end();
}

// A pod that no source has is not proved to be gone: its source may be late.
PodWordOf words_of(const Observation& observation) {
    std::unordered_map<std::string_view, const ObservedPod*> by_uid;
    for (const ObservedPod& observed : observation.pods) {
        if (!observed.departed) by_uid.emplace(observed.pod->uid.value, &observed);
    }
    return [pods = std::move(by_uid)](const std::string& uid) {
        const auto found = pods.find(uid);
        return found != pods.end() ? word_of(*found->second->pod, found->second->populated) : word_of_unlisted();
    };
}

std::vector<PodPtr> pods_of(const Observation& observation) {
    std::vector<PodPtr> pods;
    for (const ObservedPod& observed : observation.pods) {
        if (!observed.departed) pods.push_back(observed.pod);
    }
    return pods;
}

bool counts_inodes(Signal signal) { return traits(signal).resource == "inodes"; }

// Of the lists that what is asked for is chosen from. That of log directories may lack: it is the smallest part.
bool is_whole(const std::vector<NodeReclaim>& asked, const RuntimeLists& whole) {
    const bool containers = whole.containers && whole.sandboxes;
    return (!asks_for(asked, NodeReclaim::containers) || containers) &&
           (!asks_for(asked, NodeReclaim::images) || (whole.containers && whole.images)) &&
           (!asks_for(asked, NodeReclaim::logs) || whole.logs);
}

// Rotated logs are the last to go: not while it is not known what else can.
GarbagePlan plan_for(const Reclaiming& reclaiming, const EvictionConfig& config, const Observation& observation) {
    const bool logs = asks_for(reclaiming.asked, NodeReclaim::logs);
    const GarbageRequest request{.forced = true,
                                 .containers = asks_for(reclaiming.asked, NodeReclaim::containers),
                                 .images = asks_for(reclaiming.asked, NodeReclaim::images),
                                 .rotated_logs = logs && is_whole(reclaiming.asked, observation.runtime->whole),
                                 .now = observation.at,
                                 .inventory_since = reclaiming.garbage.inventory_since,
                                 .wall = observation.wall,
                                 .missing = missing_bytes(config, observation),
                                 .pods = pods_of(observation)};
    return plan_garbage(config.garbage, request, *observation.runtime, words_of(observation));
}

bool is_recent(const Observation& observation, Duration longest = longest_inventory_age) {
    const MonotonicTime listed = observation.runtime->at;
    return listed != MonotonicTime{} && observation.at - listed <= longest;
}

bool could_evict(const Decision& decision, const Observation& observation) {
    return std::any_of(decision.ranking.begin(), decision.ranking.end(), [&](const RankedPod& ranked) {
        return ranked.exemption == Exemption::none && observation.pods[ranked.pod].populated;
    });
}

// That nothing could go holds for a moment where a pod would be evicted next; else it only saves the runtime questions.
bool is_futile(const Decision& decision, const Observation& observation, const State& state) {
    const Duration longest = could_evict(decision, observation) ? ask_again_after : longest_inventory_age;
    return is_recent(observation, longest) && state.collecting.futile_inventory >= observation.runtime->at;
}

bool is_due(const std::optional<MonotonicTime>& last, Duration period, MonotonicTime now) {
    return !last || now - *last >= period;
}

bool pass_has_ended(const DesiredGarbage& garbage, const Observation& observation) {
    const auto& outcome = observation.reclaimed;
    return observation.at >= garbage.deadline || (outcome && outcome->pass == garbage.pass);
}

// For the routine slot, as pass 0 of it or none.
void begin_pass(std::vector<Garbage> removals, const Observation& observation, Collecting& collecting) {
    DesiredGarbage& garbage = collecting.routine;
    garbage = {};
    if (removals.empty()) return;
    garbage.pass = ++collecting.passes;
    garbage.removals = GarbageList(std::move(removals));
    garbage.deadline = after(observation.at, container_period);
}

// Never with a reclaim: it must not wait for the API server.
void begin_orphans(const GarbageConfig& config, const Observation& observation, Collecting& collecting) {
    collecting.orphans_at = observation.at;
    begin_pass(plan_orphans(config, observation, collecting), observation, collecting);
    collecting.routine.report_only = config.orphans == Orphans::report;
}

void begin_kubelet_pass(const EvictionConfig& config, const Observation& observation, bool containers, bool images,
                        Collecting& collecting) {
    const bool single = observation.fs_layout == FsLayout::single || observation.fs_layout == FsLayout::unknown;
    const Signal signal = single ? Signal::nodefs_available : Signal::imagefs_available;
    const Reading reading = observation.readings[static_cast<std::size_t>(signal)].value_or(Reading{});
    const GarbageRequest request{.containers = containers,
                                 .images = images,
                                 .now = observation.at,
                                 .inventory_since = collecting.routine.inventory_since,
                                 .wall = observation.wall,
                                 .capacity = {reading.capacity.value},
                                 .available = {reading.available.value},
                                 .missing = {},
                                 .pods = pods_of(observation)};
    GarbagePlan plan = plan_garbage(config.garbage, request, *observation.runtime, words_of(observation));
    if (containers) collecting.containers_at = observation.at;
    if (images) collecting.images_at = observation.at;
    begin_pass(std::move(plan.removals), observation, collecting);
}

// StartGarbageCollection: what is due, once an inventory is there that is new enough. Orphans with the next look, where
// something else goes now.
void begin_routine(const EvictionConfig& config, const Observation& observation, Collecting& collecting) {
    const bool is_on = config.garbage.routine;
    const bool containers = is_on && is_due(collecting.containers_at, container_period, observation.at);
    const bool images = is_on && is_due(collecting.images_at, image_period, observation.at);
    const bool orphans =
        config.garbage.orphans != Orphans::off && is_due(collecting.orphans_at, container_period, observation.at);
    DesiredGarbage& garbage = collecting.routine;
    if (!containers && !images && !orphans) return;
    if (!garbage.inventory_since && !is_recent(observation)) garbage.inventory_since = observation.at;
    if (garbage.inventory_since && observation.runtime->at < *garbage.inventory_since) return;
    if (containers || images) begin_kubelet_pass(config, observation, containers, images, collecting);
    if (orphans && garbage.pass == 0) begin_orphans(config.garbage, observation, collecting);
}

// What is missing in a list may be what could go. At the deadline it is taken for nothing.
void ask_again(const Observation& observation, State& state) {
    DesiredGarbage& garbage = state.reclaiming->garbage;
    if (observation.at >= garbage.deadline) {
        state.collecting.futile_inventory = observation.runtime->at;
    } else if (observation.at - observation.runtime->at >= ask_again_after) {
        garbage.inventory_since = observation.at;
    }
}

// What an estimate misses may be more than the filesystem holds, and whatever is freed clears it for a while: a
// twentieth, or the least that goes where it is of inodes.
Bytes missing_in_time(const Threshold& threshold) {
    constexpr std::int64_t part = 20;
    const auto amount = quantity_of(threshold.value, {}).value;
    return counts_inodes(threshold.signal) ? Bytes{1} : std::max(Bytes{1}, Bytes{amount / part});
}

}  // namespace

std::optional<Bytes> missing_bytes(const EvictionConfig& config, const Observation& observation) {
    Bytes missing;
    for (const Threshold& threshold : config.thresholds) {
        if (reclaim_for(threshold.signal, observation.fs_layout, config.garbage.logs).empty()) continue;
        if (!is_met(threshold, observation.readings, MinReclaim::enforced)) continue;
        if (threshold.time_left != Duration::zero()) {
            missing = std::max(missing, missing_in_time(threshold));
            continue;
        }
        if (counts_inodes(threshold.signal)) return std::nullopt;
        const Reading& reading = *observation.readings[static_cast<std::size_t>(threshold.signal)];
        Quantity wanted = resolve(threshold.value, reading.capacity);
        if (threshold.min_reclaim) wanted = wanted + resolve(*threshold.min_reclaim, reading.capacity);
        std::int64_t gap = 0;
        if (__builtin_sub_overflow(wanted.value(), reading.available.value, &gap)) return std::nullopt;
        missing = std::max(missing, Bytes{gap});
    }
    return missing;
}

void begin_reclaim(std::vector<NodeReclaim> asked, std::vector<MetThreshold> acting, const EvictionConfig& config,
                   const Observation& observation, Verdict& verdict) {
    State& state = verdict.state;
    Reclaiming& reclaiming = state.reclaiming.emplace();
    reclaiming.asked = std::move(asked);
    reclaiming.acting = std::move(acting);
    reclaiming.garbage.forced = true;
    if (!observation.runtime) return;
    // A reclaim that removed nothing is not repeated over the same inventory, unless a pod was evicted for disk since:
    // its containers may be removable now. Once the inventory is too old, a new one is requested.
    const bool predates_last_victim = is_whole(reclaiming.asked, observation.runtime->whole) &&
                                      state.disk_relieved_at && observation.runtime->at <= *state.disk_relieved_at;
    if (is_futile(verdict.decision, observation, state) && !predates_last_victim) return;
    reclaiming.garbage.deadline = after(observation.at, config.garbage.deadline);
    // Garbage may have come since the last inventory: that nothing can go is only known from a new one.
    reclaiming.garbage.inventory_since = observation.at;
    follow_reclaim(config, observation, state);
}

void follow_reclaim(const EvictionConfig& config, const Observation& observation, State& state) {
    Reclaiming& reclaiming = *state.reclaiming;
    DesiredGarbage& garbage = reclaiming.garbage;
    if (!garbage.inventory_since || !observation.runtime) return;
    if (observation.runtime->at < *garbage.inventory_since) return;
    const bool whole = is_whole(reclaiming.asked, observation.runtime->whole);
    GarbagePlan plan = plan_for(reclaiming, config, observation);
    if (plan.removals.empty() && !whole) return ask_again(observation, state);
    garbage.inventory_since.reset();
    garbage.pass = ++state.collecting.passes;
    garbage.removals = GarbageList(std::move(plan.removals));
    reclaiming.more = plan.more || !whole;
    if (garbage.removals.empty()) state.collecting.futile_inventory = observation.runtime->at;
}

void note_reclaimed(const Observation& observation, State& state) {
    if (!observation.runtime || !observation.reclaimed) return;
    const auto& removals = observation.reclaimed->removals;
    const bool removed_any = std::any_of(removals.begin(), removals.end(), [](const GarbageOutcome& one) {
        return one.status == GarbageStatus::removed;
    });
    if (!removed_any) state.collecting.futile_inventory = observation.runtime->at;
}

bool is_reclaim_over(const Reclaiming& reclaiming, const Observation& observation) {
    const DesiredGarbage& garbage = reclaiming.garbage;
    // Pass 0: a scenario, or a tape of an agent that named nothing.
    if (observation.reclaimed && observation.reclaimed->pass == 0) return true;
    if (garbage.inventory_since) return !observation.runtime || observation.at >= garbage.deadline;
    return garbage.removals.empty() || pass_has_ended(garbage, observation);
}

bool begin_next_round(const Reclaiming& finished, const Observation& observation, State& state) {
    if (!finished.more || !observation.runtime || observation.at >= finished.garbage.deadline) return false;
    Reclaiming& next = state.reclaiming.emplace();
    next.asked = finished.asked;
    next.acting = finished.acting;
    next.announced = finished.announced;
    next.garbage.forced = true;
    next.garbage.deadline = finished.garbage.deadline;
    next.garbage.inventory_since = observation.at;
    return true;
}

void desire_garbage(const EvictionConfig& config, const Observation& observation, bool shuts_down, State& state,
                    Decision& decision) {
    DesiredGarbage& routine = state.collecting.routine;
    follow_orphans(config.garbage, observation, shuts_down, state.collecting);
    const bool is_on = config.garbage.routine || config.garbage.orphans != Orphans::off;
    if (shuts_down || state.reclaiming || !is_on || !observation.runtime) {
        routine = {};
    } else {
        const bool is_over = pass_has_ended(routine, observation) || is_disproved(routine, observation);
        if (routine.pass != 0 && is_over) routine = {};
        if (routine.pass == 0) begin_routine(config, observation, state.collecting);
    }
    if (shuts_down) return;
    decision.garbage = state.reclaiming ? state.reclaiming->garbage : routine;
}

std::optional<MonotonicTime> next_garbage_clock(const State& state, MonotonicTime now) {
    if (!state.reclaiming) return std::nullopt;
    const DesiredGarbage& garbage = state.reclaiming->garbage;
    if (garbage.inventory_since)
        return std::max(std::min(garbage.deadline, after(now, ask_again_after)), after(now, at_once));
    return std::max(garbage.removals.empty() ? now : garbage.deadline, after(now, at_once));
}

}  // namespace evictd::policy
