// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A pod's place in the scale-down order, in words: the rule that puts it before the next one, with both values.
#include <string>
#include <utility>
#include <vector>

#include "age.hpp"
#include "evictd/model/text.hpp"
#include "scale_down.hpp"

namespace evictd::policy {
namespace {

std::string then(std::string mine, const std::string& next) { return std::move(mine) + ", the next " + next; }

std::string span_since(const std::optional<WallTime>& time, WallTime now) {
    return time ? span_text(std::max(age(now, *time), Duration::zero())) : std::string("an unknown time");
}

std::string phase_text(PodPhase phase) {
    constexpr std::array<const char*, 5> words{"Pending", "Running", "Succeeded", "Failed", "Unknown"};
    return words.at(static_cast<std::size_t>(phase));
}

std::string stage_text(const Pod& pod, const Pod& next) {
    if (pod.node_name.empty() != next.node_name.empty()) return "not assigned to a node, the next is";
    if (pod.phase != next.phase) return then("phase " + phase_text(pod.phase), phase_text(next.phase));
    if (pod.ready != next.ready) return "not ready, the next is";
    return then("deletion cost " + std::to_string(pod.deletion_cost), std::to_string(next.deletion_cost));
}

std::string restarts_text(const Pod& pod, const Pod& next) {
    if (pod.restarts != next.restarts) {
        return then(std::to_string(pod.restarts) + " container restarts", std::to_string(next.restarts));
    }
    return then(std::to_string(pod.sidecar_restarts) + " sidecar restarts", std::to_string(next.sidecar_restarts));
}

std::string why_before(const Pod& pod, const Pod& next, const ScaleDownStep& step, WallTime now) {
    switch (step.rule) {
        case ScaleDownRule::stage:
            return stage_text(pod, next);
        case ScaleDownRule::doubled_up:
            return then(std::to_string(step.doubled_up) + " active pods of its controller on this node",
                        std::to_string(step.next_doubled_up));
        case ScaleDownRule::ready_time:
            return then("ready for " + span_since(pod.ready_time, now), span_since(next.ready_time, now));
        case ScaleDownRule::restarts:
            return restarts_text(pod, next);
        case ScaleDownRule::creation_time:
            return then("created " + span_since(pod.creation_time, now) + " ago", span_since(next.creation_time, now));
        case ScaleDownRule::uid:
            break;
    }
    return "about as old as the next, by UID";
}

}  // namespace

std::vector<ScaleDownPlace> scale_down_places(const Observation& observation) {
    std::vector<const Pod*> all;
    std::vector<std::uint32_t> active;
    for (const auto& observed : observation.pods) {
        if (observed.pod && is_pod_active(*observed.pod)) active.push_back(static_cast<std::uint32_t>(all.size()));
        all.push_back(observed.pod.get());
    }
    const ScaleDown scale_down(all, observation.wall);
    std::vector<std::uint32_t> ordered;
    for (const auto position : scale_down.order(active)) ordered.push_back(active[position]);
    const auto steps = scale_down.steps(ordered);
    std::vector<ScaleDownPlace> places;
    for (std::size_t i = 0; i < ordered.size(); ++i) {
        const bool last = i + 1 == ordered.size();
        places.push_back(
            {ordered[i], last ? "no pod goes later"
                              : why_before(*all[ordered[i]], *all[ordered[i + 1]], steps[i], observation.wall)});
    }
    return places;
}

}  // namespace evictd::policy
