// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "watch.hpp"

#include <algorithm>

#include "ended_pods.hpp"
#include "stall_lines.hpp"
#include "watermarks.hpp"

namespace evictd::policy {
namespace {

// A look that failed is no reason to watch less.
bool could_not_be_read(const std::vector<Threshold>& thresholds, const Observation& observation) {
    return observation.incomplete && std::any_of(thresholds.begin(), thresholds.end(), [&](const Threshold& threshold) {
               return is_memory(threshold.signal) && !observation.readings[static_cast<std::size_t>(threshold.signal)];
           });
}

}  // namespace

bool under_pressure(const Decision& decision) {
    return !decision.thresholds_met.empty() || !decision.stalls_met.empty() || !decision.in_flight.empty();
}

bool is_met_or_pending(const Decision& decision) {
    return !decision.thresholds_met.empty() || !decision.thresholds_pending.empty() || !decision.stalls_met.empty() ||
           !decision.stalls_pending.empty();
}

KernelWatch watch_for(const EvictionConfig& config, const Observation& observation, const Decision& decision) {
    auto lines = watermarks_for(config.thresholds, observation.readings);
    KernelWatch watch{.lines = std::nullopt,
                      .approaches = {},
                      .stall_lines = stall_lines_for(config),
                      .counted = config.memory_available,
                      .exits = under_pressure(decision) || is_near(lines, observation.readings) ||
                               std::any_of(decision.ended.begin(), decision.ended.end(), is_watched)};
    if (!could_not_be_read(config.thresholds, observation)) {
        watch.approaches = approaches_of(lines);
        watch.lines = std::move(lines);
    }
    return watch;
}

}  // namespace evictd::policy
