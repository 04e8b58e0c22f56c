// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reclaim_news.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace evictd::policy {

namespace {

bool is_among(const std::vector<Threshold>& thresholds, const Threshold& wanted) {
    return std::find(thresholds.begin(), thresholds.end(), wanted) != thresholds.end();
}

bool removed_any(const ReclaimOutcome& outcome) {
    return std::any_of(outcome.removals.begin(), outcome.removals.end(),
                       [](const GarbageOutcome& one) { return one.status == GarbageStatus::removed; });
}

bool has_news(const GarbageList& removals, const GarbageList& tried) {
    std::set<std::pair<GarbageKind, std::string_view>> known;
    for (const Garbage& one : tried) known.emplace(one.kind, one.id);
    return std::any_of(removals.begin(), removals.end(), [&](const Garbage& one) {
        return !known.contains({one.kind, one.id});
    });
}

// What was removed may come after the reclaim's deadline.
void follow_futile(const Observation& observation, State& state) {
    auto& collecting = state.collecting;
    if (observation.reclaimed && removed_any(*observation.reclaimed)) collecting.futile_for.clear();
    std::erase_if(collecting.futile_for, [&](const Threshold& threshold) {
        return std::none_of(state.first_observed.begin(), state.first_observed.end(),
                            [&](const FirstObserved& entry) { return entry.threshold == threshold; });
    });
    if (collecting.futile_for.empty()) collecting.futile_removals = {};
}

}  // namespace

void note_futile(const Reclaiming& finished, const Observation& observation, Collecting& collecting) {
    if (!finished.announced && collecting.futile_for.empty()) return;  // no event said that it began
    if (observation.reclaimed && removed_any(*observation.reclaimed)) return;
    if (finished.acting.empty()) return;  // of a tape that somebody wrote
    const Threshold& threshold = finished.acting.front().threshold;
    if (finished.announced && !is_among(collecting.futile_for, threshold)) collecting.futile_for.push_back(threshold);
    if (!finished.garbage.removals.empty()) collecting.futile_removals = finished.garbage.removals;
}

void announce_reclaim(const Observation& observation, State& state, Decision& decision) {
    auto& collecting = state.collecting;
    follow_futile(observation, state);
    decision.outcome_repeated = observation.reclaimed && observation.reclaimed->pass > collecting.announced_pass;
    decision.reclaim_futile =
        !decision.thresholds_met.empty() && is_among(collecting.futile_for, decision.thresholds_met.front().threshold);
    if (!state.reclaiming) return;
    auto& reclaiming = *state.reclaiming;
    const auto& garbage = reclaiming.garbage;
    const bool repeats =
        !reclaiming.acting.empty() && is_among(collecting.futile_for, reclaiming.acting.front().threshold);
    const bool begins = !decision.reclaim.empty() && (garbage.inventory_since || !garbage.removals.empty());
    const bool is_told =
        repeats ? !reclaiming.announced && has_news(garbage.removals, collecting.futile_removals) : begins;
    if (is_told) decision.announced = reclaiming.asked;
    reclaiming.announced = reclaiming.announced || is_told;
    if (reclaiming.announced) collecting.announced_pass = std::max(collecting.announced_pass, garbage.pass);
}

}  // namespace evictd::policy
