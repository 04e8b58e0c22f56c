// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "ladder.hpp"

#include <algorithm>
#include <limits>

#include "ended_pods.hpp"
#include "evictd/model/text.hpp"
#include "moments.hpp"
#include "rank.hpp"
#include "thresholds.hpp"

namespace evictd::policy {
namespace {

using namespace std::chrono_literals;

// Less is not worth the pod's trouble of reading it again.
constexpr Bytes least_cache = 4_MiB;
// Asking for less would come back to the same pod at every look.
constexpr Bytes least_asked = 16_MiB;
// So many pods on one rung: with more, what is decided at each look would grow with the node.
constexpr std::size_t most_pods = 8;
// Slower than this, the way from the approach to the threshold takes seconds, and a standstill is no help.
constexpr double slow_growth = 16 << 20;  // bytes a second
// Over less, what a pod has grown by is a matter of chance.
constexpr Duration least_interval = 10ms;
constexpr Duration reclaim_for = 1s;
// A pod that gave what it was asked for may be asked again soon; one that did not has little to give, or needs it.
constexpr Duration rest_after_enough = 200ms;
constexpr Duration rest_after_less = 10s;
constexpr Duration rest_after_failure = 5min;
// Memory that flaps around the line must not release and squeeze a pod over and over.
constexpr Duration calm_after = 5s;
// Every page size that kernels have divides it: what is read back from memory.high is what was written.
constexpr std::int64_t largest_page = 64 << 10;

constexpr Bytes rounded_up(Bytes bytes) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() - largest_page;
    return {(std::min(bytes.value, most) + largest_page - 1) / largest_page * largest_page};
}

Duration rest_of(const Rung& rung, const LadderConfig& config) {
    if (rung.kind == RungKind::reclaim) return rest_after_less;
    return rung.kind == RungKind::squeeze ? config.squeeze_for : config.freeze_for;
}

void rest(LadderState& ladder, Rung rung, MonotonicTime now, Duration period) {
    rung.until = after(now, period);
    ladder.resting.push_back(std::move(rung));
}

Duration rest_after(const RungOutcome& outcome, const LadderConfig& config) {
    if (outcome.status == RungStatus::failed) return rest_after_failure;
    if (!outcome.error.empty()) return rest_after_failure;  // somebody else looks after it
    const bool enough =
        outcome.rung.kind == RungKind::reclaim && !outcome.dry_run && outcome.bytes >= outcome.rung.bytes;
    return enough ? rest_after_enough : rest_of(outcome.rung, config);
}

void settle(const Observation& observation, const LadderConfig& config, LadderState& ladder) {
    for (const auto& outcome : observation.rungs) {
        if (outcome.status == RungStatus::begun) continue;
        const auto held = std::find(ladder.held.begin(), ladder.held.end(), outcome.rung);
        if (held == ladder.held.end()) continue;
        rest(ladder, *held, observation.at, rest_after(outcome, config));
        ladder.held.erase(held);
    }
    std::erase_if(ladder.resting, [&](const Rung& rung) { return rung.until <= observation.at; });
}

// What a kill gives back is more than any rung does.
bool is_killing(const State& state) {
    return std::any_of(state.in_flight.begin(), state.in_flight.end(),
                       [](const InFlight& flight) { return flight.kill_sent; });
}

// Page cache in use. What is not in use counts as available already.
Bytes active_cache(const PodUsage& usage) {
    const Bytes inactive = std::max(Bytes{0}, usage.usage - usage.working_set);
    return std::max(Bytes{0}, usage.file - inactive);
}

// One look at the pods and their rungs.
class Climb {
public:
    Climb(const LadderConfig& config, const Observation& observation, const State& state, Bytes missing)
        : config_(config), observation_(observation), state_(state), missing_(missing), killing_(is_killing(state)) {}

    void release(LadderState& ladder) const {
        for (auto rung = ladder.held.begin(); rung != ladder.held.end();) {
            if (is_still_wanted(*rung, ladder)) {
                ++rung;
                continue;
            }
            const bool whole = rung->until <= observation_.at || rung->kind == RungKind::freeze;
            rest(ladder, *rung, observation_.at, whole ? rest_of(*rung, config_) : rest_after_enough);
            rung = ladder.held.erase(rung);
        }
    }

    // The order is made anew: that of the decision may be by another signal. Not for a look that kills.
    void begin(const EvictionConfig& config, LadderState& ladder) {
        if (missing_ <= Bytes{0} || killing_) return;
        for (auto& ranked : rank_pods(config, Signal::memory_available, observation_, state_)) {
            const bool may_go = ranked.exemption == Exemption::none || ranked.exemption == Exemption::failed_before ||
                                is_held_down(state_, observed(ranked).pod->uid);
            if (may_go && ranked.has_usage && observed(ranked).populated) pods_.push_back(ranked);
        }
        // Counted as reclaimable, page cache is available already: asking for it would change nothing.
        if (config_.reclaim && config.memory_available == MemoryAvailable::kubelet) ask_for_cache(ladder);
        if (config_.squeeze) squeeze(ladder);
        if (config_.freeze) freeze(ladder);
    }

private:
    [[nodiscard]] const ObservedPod& observed(const RankedPod& ranked) const { return observation_.pods[ranked.pod]; }

    [[nodiscard]] bool is_still_wanted(const Rung& rung, const LadderState& ladder) const {
        const bool there = std::any_of(observation_.pods.begin(), observation_.pods.end(), [&](const ObservedPod& pod) {
            return pod.cgroup == rung.cgroup && pod.pod && pod.pod->uid == rung.pod && pod.populated;
        });
        const bool victim = std::any_of(state_.in_flight.begin(), state_.in_flight.end(),
                                        [&](const InFlight& flight) { return flight.victim.pod == rung.pod; });
        if (!there || victim || rung.until <= observation_.at) return false;
        if (rung.kind == RungKind::squeeze) {
            return config_.squeeze && ladder.near_at && observation_.at - *ladder.near_at < calm_after;
        }
        return missing_ > Bytes{0} && !killing_ && (rung.kind == RungKind::reclaim ? config_.reclaim : config_.freeze);
    }

    [[nodiscard]] bool is_free(const RankedPod& ranked, RungKind kind, const LadderState& ladder) const {
        const auto same = [&](const Rung& rung) { return rung.kind == kind && rung.cgroup == observed(ranked).cgroup; };
        return std::none_of(ladder.held.begin(), ladder.held.end(), same) &&
               std::none_of(ladder.resting.begin(), ladder.resting.end(), same);
    }

    void hold(LadderState& ladder, RungKind kind, const RankedPod& ranked, Bytes bytes, Duration period) const {
        const ObservedPod& pod = observed(ranked);
        ladder.held.push_back(
            {kind, pod.pod->uid, pod.pod->full_name(), pod.cgroup, bytes, after(observation_.at, period)});
    }

    [[nodiscard]] static std::size_t count(const LadderState& ladder, RungKind kind) {
        return static_cast<std::size_t>(
            std::count_if(ladder.held.begin(), ladder.held.end(), [&](const Rung& rung) { return rung.kind == kind; }));
    }

    // Who is over the request gives first, and of those who has the most.
    void ask_for_cache(LadderState& ladder) const {
        std::vector<RankedPod> givers;
        for (const auto& ranked : pods_) {
            if (active_cache(*observed(ranked).usage) >= least_cache && is_free(ranked, RungKind::reclaim, ladder)) {
                givers.push_back(ranked);
            }
        }
        std::stable_sort(givers.begin(), givers.end(), [&](const RankedPod& a, const RankedPod& b) {
            if (a.exceeds_request != b.exceeds_request) return a.exceeds_request;
            return active_cache(*observed(a).usage) > active_cache(*observed(b).usage);
        });
        Bytes missing = std::max(missing_, least_asked);
        for (const auto& rung : ladder.held) {
            if (rung.kind == RungKind::reclaim) missing = missing - rung.bytes;
        }
        for (const auto& giver : givers) {
            if (missing <= Bytes{0} || count(ladder, RungKind::reclaim) >= most_pods) return;
            const Bytes asked = std::min(active_cache(*observed(giver).usage), std::max(missing, least_cache));
            hold(ladder, RungKind::reclaim, giver, asked, reclaim_for);
            missing = missing - asked;
        }
    }

    // At what is charged to it now, not at its working set: below, the kernel would take the difference, which counts
    // as available already, within the write.
    void squeeze(LadderState& ladder) const {
        for (const auto& ranked : pods_) {
            if (count(ladder, RungKind::squeeze) >= most_pods) return;
            if (!ranked.exceeds_request || !is_free(ranked, RungKind::squeeze, ladder)) continue;
            const Bytes limit = std::max(observed(ranked).usage->usage, Bytes{ranked.request.value});
            hold(ladder, RungKind::squeeze, ranked, rounded_up(limit), config_.squeeze_for);
        }
    }

    // One at a time.
    void freeze(LadderState& ladder) const {
        if (count(ladder, RungKind::freeze) > 0) return;
        const RankedPod* fastest = nullptr;
        double most = slow_growth;
        for (const auto& ranked : pods_) {
            const double growth = growth_of(observed(ranked));
            if (growth < most || !is_free(ranked, RungKind::freeze, ladder)) continue;
            most = growth;
            fastest = &ranked;
        }
        if (fastest != nullptr) hold(ladder, RungKind::freeze, *fastest, Bytes{0}, config_.freeze_for);
    }

    // Bytes a second, right now: since the last interval of its trend, or within that, if it has just ended. What is
    // undone in a moment may be begun on less than what rate_of() asks for.
    [[nodiscard]] double growth_of(const ObservedPod& pod) const {
        const Trends& trends = state_.trends;
        const auto trend = std::find_if(trends.pods.begin(), trends.pods.end(),
                                        [&](const PodTrend& one) { return one.cgroup == pod.cgroup; });
        if (trend == trends.pods.end() || !trends.since) return 0;
        const Trend& set = trend->working_set;
        const auto over = observation_.at - *trends.since;
        if (over >= least_interval) {
            const double grown = static_cast<double>(pod.usage->working_set.value) - static_cast<double>(set.value);
            return grown / std::chrono::duration<double>(over).count();
        }
        const auto known = std::clamp<std::int32_t>(set.intervals, 0, static_cast<std::int32_t>(set.rates.size()));
        return known == 0 ? 0 : 1024.0 * set.rates.at(static_cast<std::size_t>(known - 1));
    }

    const LadderConfig& config_;
    const Observation& observation_;
    const State& state_;
    Bytes missing_;
    bool killing_;
    std::vector<RankedPod> pods_;  // that may be on a rung, in the victim order
};

}  // namespace

Bytes memory_missing(const EvictionConfig& config, const Readings& readings, const State& state) {
    Int128 most = 0;
    for (const auto& threshold : config.thresholds) {
        const auto& reading = readings[static_cast<std::size_t>(threshold.signal)];
        if (traits(threshold.signal).condition != Condition::memory_pressure || !reading) continue;
        Int128 line = resolve(threshold.value, reading->capacity).value();
        if (line <= 0) continue;
        const bool met = std::any_of(state.first_observed.begin(), state.first_observed.end(),
                                     [&](const FirstObserved& entry) { return entry.threshold == threshold; });
        if (met && threshold.min_reclaim) line += resolve(*threshold.min_reclaim, reading->capacity).value();
        most = std::max(most, line + approach.value - reading->available.value);
    }
    constexpr Int128 largest = std::numeric_limits<std::int64_t>::max();
    return {static_cast<std::int64_t>(std::min(most, largest))};
}

LadderState climb(const EvictionConfig& config, const Observation& observation, const State& state) {
    LadderState ladder = state.ladder;
    settle(observation, config.ladder, ladder);
    const Bytes missing = config.ladder.any() ? memory_missing(config, observation.readings, state) : Bytes{0};
    if (missing > Bytes{0}) {
        ladder.near_at = observation.at;
    } else if (ladder.held.empty()) {
        ladder.near_at.reset();
    }
    Climb climb(config.ladder, observation, state, missing);
    climb.release(ladder);
    climb.begin(config, ladder);
    return ladder;
}

std::optional<MonotonicTime> next_ladder_clock(const LadderState& ladder, MonotonicTime now) {
    // While something is asked back: as soon as it is enough, it is to end.
    constexpr Duration look_while_held = 20ms;
    constexpr Duration look_while_squeezed = 500ms;
    std::optional<MonotonicTime> next;
    for (const auto& rung : ladder.held) {
        const auto look = rung.kind == RungKind::squeeze ? look_while_squeezed : look_while_held;
        const auto due = std::min(rung.until, after(now, look));
        next = next ? std::min(*next, due) : due;
    }
    return next;
}

std::string say_ladder(const std::vector<Rung>& rungs) {
    std::string said;
    for (const auto& rung : rungs) {
        said += said.empty() ? "" : ", ";
        switch (rung.kind) {
            case RungKind::reclaim:
                said += "reclaiming " + bytes_text(rung.bytes.value) + " of page cache from " + rung.pod_name;
                break;
            case RungKind::squeeze:
                said += rung.pod_name + " may not grow beyond " + bytes_text(rung.bytes.value);
                break;
            case RungKind::freeze:
                said += rung.pod_name + " is briefly frozen";
                break;
        }
    }
    return said;
}

}  // namespace evictd::policy
