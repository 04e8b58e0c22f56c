// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "replay/what_if.hpp"

#include <algorithm>
#include <utility>

#include "policy/decide.hpp"
#include "policy/memory_available.hpp"

namespace evictd::replay {
namespace {

std::vector<const Eviction*> evictions(const Decision& decision) {
    std::vector<const Eviction*> all;
    if (decision.evict) all.push_back(&*decision.evict);
    for (const auto& each : decision.limit_evictions) all.push_back(&each);
    for (const auto& each : decision.rejections) all.push_back(&each);
    return all;
}

bool same_threshold(const MetThreshold& a, const MetThreshold& b) {
    return a.threshold.signal == b.threshold.signal && a.threshold.hard() == b.threshold.hard();
}

bool same_eviction(const Eviction* a, const Eviction* b) {
    return a->pod == b->pod && a->grace_period == b->grace_period && a->immediate == b->immediate &&
           a->broken_limit.has_value() == b->broken_limit.has_value() &&
           (a->broken_limit || a->threshold.threshold.signal == b->threshold.threshold.signal);
}

template <class T>
bool same_lists(const std::vector<T>& a, const std::vector<T>& b, const auto& same) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

}  // namespace

bool same_course(const Decision& a, const Decision& b) {
    return same_lists(a.thresholds_met, b.thresholds_met, same_threshold) && a.conditions == b.conditions &&
           a.reclaim == b.reclaim && same_lists(evictions(a), evictions(b), same_eviction);
}

// Of the actions that this configuration decided: as recorded where the same was done, else as if all went well.
std::vector<Outcome> WhatIf::outcomes(const Observation& recorded) const {
    std::vector<Outcome> all;
    for (const auto& action : last_.actions) {
        const auto same = std::find_if(recorded.outcomes.begin(), recorded.outcomes.end(), [&](const Outcome& outcome) {
            return outcome.action.kind == action.kind && outcome.action.pod == action.pod;
        });
        if (same != recorded.outcomes.end()) {
            all.push_back(*same);
        } else {
            all.push_back(Outcome{.action = action, .decided_at = last_at_, .delivered_at = last_at_});
        }
    }
    return all;
}

Observation WhatIf::adapt(const Observation& recorded) const {
    Observation adapted = recorded;
    adapted.outcomes = outcomes(recorded);
    std::erase_if(adapted.pods, [&](const ObservedPod& observed) { return gone_.contains(observed.pod->uid); });
    if (last_.reclaim.empty())
        adapted.reclaimed.reset();
    else if (!adapted.reclaimed)
        adapted.reclaimed.emplace();
    return adapted;
}

// Whom the recorded agent evicted too goes as recorded, with its grace period; all others are gone at once.
void WhatIf::take_away(const Decision& recorded) {
    for (const auto* eviction : evictions(recorded)) evicted_as_recorded_.insert(eviction->pod);
    for (const auto* eviction : evictions(last_)) {
        if (!evicted_as_recorded_.contains(eviction->pod)) gone_.insert(eviction->pod);
    }
}

WhatIfLook WhatIf::play(const codec::TapeLook& look, const Decision& recorded) {
    if (look.before && !differs_) state_ = *look.before;
    WhatIfLook played;
    played.observation = differs_ ? adapt(look.observation) : look.observation;
    policy::compare_with(config_.memory_available, played.observation.readings);
    auto verdict = policy::decide(config_, played.observation, state_);
    state_ = std::move(verdict.state);
    played.decision = std::move(verdict.decision);
    differs_ = differs_ || !same_course(played.decision, recorded);
    last_ = played.decision;
    last_at_ = played.observation.at;
    take_away(recorded);
    return played;
}

}  // namespace evictd::replay
