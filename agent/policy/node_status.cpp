// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "node_status.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "moments.hpp"
#include "taints.hpp"

namespace evictd::policy {
namespace {

// In the kubelet's words (kubelet/nodestatus/setters.go).
struct ConditionText {
    const char* type;
    const char* taint;
    const char* reason;
    const char* message;
    const char* reason_of_none;
    const char* message_of_none;
};
constexpr std::array<ConditionText, condition_count> texts{{
    {"MemoryPressure", "memory-pressure", "EvictdHasInsufficientMemory", "evictd has insufficient memory available",
     "EvictdHasSufficientMemory", "evictd has sufficient memory available"},
    {"DiskPressure", "disk-pressure", "EvictdHasDiskPressure", "evictd has disk pressure", "EvictdHasNoDiskPressure",
     "evictd has no disk pressure"},
    {"PIDPressure", "pid-pressure", "EvictdHasInsufficientPID", "evictd has insufficient PID available",
     "EvictdHasSufficientPID", "evictd has sufficient PID available"},
}};
constexpr ConditionText stall_text{"StallPressure",
                                   "stall-pressure",
                                   "EvictdHasStallPressure",
                                   "tasks of the node stall for longer than a threshold of evictd.psi allows",
                                   "EvictdHasNoStallPressure",
                                   "tasks of the node stall for less than the thresholds of evictd.psi allow"};

// Whether a threshold that leads to this condition could be compared with anything.
bool is_measured(Condition condition, const EvictionConfig& config, const Observation& observation) {
    return std::any_of(config.thresholds.begin(), config.thresholds.end(), [&](const Threshold& threshold) {
        return traits(threshold.signal).condition == condition &&
               observation.readings[static_cast<std::size_t>(threshold.signal)];
    });
}

bool is_stall_measured(const EvictionConfig& config, const Observation& observation) {
    return std::any_of(config.stalls.begin(), config.stalls.end(), [&](const StallThreshold& threshold) {
        return threshold.scope == StallScope::node &&
               std::any_of(observation.stalls.begin(), observation.stalls.end(), [&](const NodeStall& stall) {
                   return stall.resource == threshold.resource &&
                          (threshold.kind == StallKind::some ? stall.some : stall.full);
               });
    });
}

void add(const ConditionText& text, bool holds, NodeStatusUse use, DesiredNodeStatus& desired) {
    desired.conditions.push_back({.type = std::string(own_prefix) + text.type,
                                  .status = holds,
                                  .reason = holds ? text.reason : text.reason_of_none,
                                  .message = holds ? text.message : text.message_of_none});
    if (holds && use == NodeStatusUse::taints) {
        desired.taints.push_back(
            {.key = std::string(own_prefix) + text.taint, .value = {}, .effect = std::string(no_schedule)});
    }
}

}  // namespace

bool shows_taint(const NodeView& node, Condition condition) {
    const auto key = std::string(own_prefix) + texts.at(static_cast<std::size_t>(condition)).taint;
    return std::any_of(node.taints.begin(), node.taints.end(),
                       [&](const Taint& taint) { return taint.key == key && taint.effect == no_schedule; });
}

std::optional<MonotonicTime> stall_pressure_until(const EvictionConfig& config, const State& next) {
    if (config.node_status == NodeStatusUse::off || !next.node_stall_last_observed) return std::nullopt;
    return after(*next.node_stall_last_observed, config.pressure_transition_period);
}

std::optional<DesiredNodeStatus> node_status(const EvictionConfig& config, const Observation& observation,
                                             const Decision& decision, const State& next) {
    if (config.node_status == NodeStatusUse::off) return std::nullopt;
    DesiredNodeStatus desired;
    for (std::size_t i = 0; i < condition_count; ++i) {
        const auto condition = static_cast<Condition>(i);
        const auto& reported = decision.conditions;
        const bool holds = std::find(reported.begin(), reported.end(), condition) != reported.end();
        if (holds || is_measured(condition, config, observation)) add(texts.at(i), holds, config.node_status, desired);
    }
    const auto until = stall_pressure_until(config, next);
    const bool stalls = until && observation.at < *until;
    if (stalls || is_stall_measured(config, observation)) add(stall_text, stalls, config.node_status, desired);
    return desired;
}

}  // namespace evictd::policy
