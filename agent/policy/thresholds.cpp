// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Follows eviction/helpers.go: thresholdsMet, mergeThresholds, thresholdsFirstObservedAt, thresholdsMetGracePeriod,
// thresholdsUpdatedStats, byEvictionPriority, nodeConditions*. Where Go ranges over a map, the configured order is
// kept.
#include "thresholds.hpp"

#include <algorithm>

namespace evictd::policy {
namespace {

const std::optional<Reading>& reading_of(Signal signal, const Readings& readings) {
    return readings[static_cast<std::size_t>(signal)];
}

template <class Range>
auto find_threshold(Range& range, const Threshold& threshold) {
    return std::find_if(range.begin(), range.end(),
                        [&](const FirstObserved& entry) { return entry.threshold == threshold; });
}

// thresholdsMet, and mergeThresholds with those that were satisfied at the last look and whose minimum reclaim is not
// reached. What the configuration no longer holds, having been read again, is not prolonged.
bool is_met_or_prolonged(const Threshold& threshold, const Readings& readings, const State& state) {
    if (is_met(threshold, readings, MinReclaim::ignored)) return true;
    const auto& before = state.thresholds_met;
    return std::find(before.begin(), before.end(), threshold) != before.end() &&
           is_met(threshold, readings, MinReclaim::enforced);
}

// byEvictionPriority: memory before everything else.
bool goes_first(const FirstObserved& entry) {
    return entry.threshold.signal == Signal::memory_available ||
           entry.threshold.signal == Signal::allocatable_memory_available;
}

// A zero time is a reading without a time stamp, which always counts as new.
bool is_updated(Signal signal, const Readings& readings, const State& state) {
    const auto& reading = reading_of(signal, readings);
    if (!reading) return false;
    const auto& last = state.last_readings[static_cast<std::size_t>(signal)];
    return !last || reading->at == MonotonicTime{} || reading->at > *last;
}

}  // namespace

Quantity resolve(const ThresholdValue& value, Amount capacity) {
    if (const auto* quantity = std::get_if<Quantity>(&value.value)) return *quantity;
    return Quantity::of(quantity_of(value, capacity).value, Quantity::Format::binary_si);
}

Quantity::Format format_of(Signal signal) {
    const auto resource = traits(signal).resource;
    return resource == "memory" || resource == "ephemeral-storage" ? Quantity::Format::binary_si
                                                                   : Quantity::Format::decimal_si;
}

bool is_met(const Threshold& threshold, const Readings& readings, MinReclaim min_reclaim) {
    const auto& reading = reading_of(threshold.signal, readings);
    if (!reading) return false;
    Quantity quantity = resolve(threshold.value, reading->capacity);
    if (min_reclaim == MinReclaim::enforced && threshold.min_reclaim) {
        quantity = quantity + resolve(*threshold.min_reclaim, reading->capacity);
    }
    return quantity > Quantity::of(reading->available.value);
}

bool would_relieve(Bytes more, const EvictionConfig& config, const Readings& readings) {
    return std::any_of(config.thresholds.begin(), config.thresholds.end(), [&](const Threshold& threshold) {
        if (traits(threshold.signal).condition != Condition::memory_pressure) return false;
        Readings with = readings;
        auto& reading = with[static_cast<std::size_t>(threshold.signal)];
        if (!reading || !is_met(threshold, readings, MinReclaim::ignored)) return false;
        reading->available.value += more.value;
        return !is_met(threshold, with, MinReclaim::ignored);
    });
}

ThresholdPass pass_thresholds(const EvictionConfig& config, const Observation& observation, const State& state) {
    ThresholdPass pass;
    for (const auto& threshold : config.thresholds) {
        if (!is_met_or_prolonged(threshold, observation.readings, state)) continue;
        const auto before = find_threshold(state.first_observed, threshold);
        const auto first = before == state.first_observed.end() ? observation.at : before->at;
        pass.merged.push_back({threshold, first});
    }
    for (const auto& entry : pass.merged) {
        if (observation.at - entry.at >= entry.threshold.grace_period) pass.satisfied.push_back(entry);
    }
    std::stable_partition(pass.satisfied.begin(), pass.satisfied.end(), goes_first);
    for (const auto& entry : pass.satisfied) {
        if (is_updated(entry.threshold.signal, observation.readings, state)) pass.updated.push_back(entry);
    }
    return pass;
}

decltype(State::condition_last_observed) conditions_last_observed(const std::vector<FirstObserved>& merged,
                                                                  const State& state, MonotonicTime now) {
    auto last_observed = state.condition_last_observed;
    for (const auto& entry : merged) {
        last_observed[static_cast<std::size_t>(traits(entry.threshold.signal).condition)] = now;
    }
    return last_observed;
}

std::vector<Condition> conditions_reported(const decltype(State::condition_last_observed)& last_observed,
                                           Duration transition_period, MonotonicTime now) {
    std::vector<Condition> reported;
    for (std::size_t i = 0; i < condition_count; ++i) {
        if (last_observed[i] && now - *last_observed[i] < transition_period) {
            reported.push_back(static_cast<Condition>(i));
        }
    }
    return reported;
}

MetThreshold describe(const FirstObserved& threshold, const Readings& readings) {
    const Reading reading = reading_of(threshold.threshold.signal, readings).value_or(Reading{});
    return {threshold.threshold, Amount{resolve(threshold.threshold.value, reading.capacity).value()},
            reading.available, reading.capacity, threshold.at};
}

std::vector<MetThreshold> describe(const std::vector<FirstObserved>& thresholds, const Readings& readings) {
    std::vector<MetThreshold> described;
    described.reserve(thresholds.size());
    for (const auto& threshold : thresholds) described.push_back(describe(threshold, readings));
    return described;
}

std::vector<ThresholdEdge> threshold_edges(const std::vector<FirstObserved>& before,
                                           const std::vector<FirstObserved>& now, const Readings& readings) {
    std::vector<ThresholdEdge> edges;
    for (const auto& entry : now) {
        if (find_threshold(before, entry.threshold) == before.end()) edges.push_back({true, describe(entry, readings)});
    }
    for (const auto& entry : before) {
        if (find_threshold(now, entry.threshold) == now.end()) edges.push_back({false, describe(entry, readings)});
    }
    return edges;
}

std::vector<ConditionEdge> condition_edges(const std::vector<Condition>& before, const std::vector<Condition>& now) {
    std::vector<ConditionEdge> edges;
    const auto holds = [](const std::vector<Condition>& set, Condition condition) {
        return std::find(set.begin(), set.end(), condition) != set.end();
    };
    for (const Condition condition : now) {
        if (!holds(before, condition)) edges.push_back({condition, true});
    }
    for (const Condition condition : before) {
        if (!holds(now, condition)) edges.push_back({condition, false});
    }
    return edges;
}

}  // namespace evictd::policy
