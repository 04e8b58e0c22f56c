// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A node with an API server that answers when the test says so, and a kubelet that starts pods again.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "ended_pods.hpp"
#include "unit/policy/node.hpp"

namespace evictd::policy::testing {

// "big" (cgroup 1) goes first, then "middle" (2).
struct Ended : Node {
    explicit Ended(std::vector<Threshold> thresholds = {hard(100_MiB)}) {
        config.thresholds = std::move(thresholds);
        config.pod_statuses = true;
        config.soft_eviction_api = true;
        pods = {pod({.name = "big", .working_set = 300_MiB, .cgroup = 1}),
                pod({.name = "middle", .working_set = 200_MiB, .cgroup = 2})};
        set(90_MiB);
    }

    Decision look(Duration since) {
        Observation observation = observe(since);
        observation.pod_statuses = std::exchange(answers, {});
        observation.recalled = std::exchange(recalled, {});
        observation.pods_current = pods_current;
        observation.node = node_view;
        observation.logind = logind_view;
        observation.watching.exits = true;
        observation.wall = WallTime(std::chrono::hours(1000)) + since;
        Verdict verdict = decide(config, observation, state);
        state = std::move(verdict.state);
        outcomes.clear();
        return std::move(verdict.decision);
    }
    // The look, and what it decided is done.
    Decision act(Duration since) {
        Decision decision = look(since);
        carry_out(decision, OutcomeStatus::delivered, since + 1ms);
        return decision;
    }
    void answer(PodStatusResult result, std::int32_t attempt, Duration since, PodEnd end = PodEnd::failed,
                Duration retry_after = Duration::zero()) {
        answers.push_back({{"uid-big"}, attempt, end, result, at(since), at(since), retry_after, ""});
    }
    void change(const std::string& name, const std::function<void(Pod&)>& how) {
        auto& one = find(name);
        Pod made = *one.pod;
        how(made);
        one.pod = std::make_shared<const Pod>(std::move(made));
    }
    void show(PodPhase phase) {
        change("big", [&](Pod& pod) { pod.phase = phase; });
    }
    void stop(Duration since) {
        find("big").populated = false;
        find("big").emptied_at = at(since);
    }
    void start() { find("big").populated = true; }
    // "big" is killed at 0 s and is gone after 2 ms, which relieves the node.
    void kill_big() {
        act(0s);
        stop(2ms);
        set(500_MiB);
    }
    // And the API server shows it failed after 5 ms.
    void evict_big() {
        kill_big();
        look(2ms);
        answer(PodStatusResult::accepted, 1, 5ms);
        show(PodPhase::failed);
        look(6ms);
    }
    [[nodiscard]] const EndedPod* ended() const { return state.ended.empty() ? nullptr : &state.ended.front(); }

    std::vector<PodStatusOutcome> answers;
    std::vector<DesiredPodStatus> recalled;
    bool pods_current = true;
    std::optional<NodeView> node_view;
    std::optional<LogindView> logind_view;
};

inline std::vector<std::string> kills(const Decision& decision) {
    std::vector<std::string> made;
    for (const auto& action : decision.actions) {
        if (action.kind == ActionKind::kill) made.push_back(action.pod.value);
    }
    return made;
}

inline std::vector<EndStepKind> steps(const Decision& decision) {
    std::vector<EndStepKind> made;
    for (const auto& step : decision.end_steps) made.push_back(step.kind);
    return made;
}

}  // namespace evictd::policy::testing
