// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A node with a NoExecute taint and pods that have to leave, or may.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evictd/model/node_view.hpp"
#include "unit/policy/ended.hpp"

namespace evictd::policy::testing {

struct Leaving : Ended {
    Leaving() {
        set(4_GiB);
        config.taint_eviction = true;
        config.active_deadlines = true;
        config.kept_terminated_pods = 1;
        view.taints = {{"gone", "", "NoExecute"}};
        view.current = true;
    }
    Decision look(Duration since) {
        Observation observation = observe(since);
        observation.pod_statuses = std::exchange(answers, {});
        observation.pods_current = pods_current;
        view.heard_at = at(heard.value_or(since));
        observation.node = view;
        if (logind)
            observation.logind = LogindView{
                .shuts_down = *logind, .said_at = at(logind_said.value_or(since)), .current = logind_current};
        observation.wall = WallTime(std::chrono::hours(1000)) + since;
        Verdict verdict = decide(config, observation, state);
        state = std::move(verdict.state);
        outcomes.clear();
        return std::move(verdict.decision);
    }
    void tolerate(const std::string& name, std::optional<std::int64_t> seconds) {
        change(name, [&](Pod& pod) { pod.tolerations = {{"gone", "Exists", "", "NoExecute", seconds}}; });
    }
    void keep_all_by_taint() {
        for (const auto* name : {"big", "middle"}) tolerate(name, std::nullopt);
    }
    void list_in_api_server() {
        for (const auto* name : {"big", "middle"}) {
            change(name, [](Pod& pod) { pod.source = api_server_source; });
        }
    }
    void empty_all() {
        for (auto& one : pods) one.populated = false;
    }
    void give_deadline(const std::string& name, std::chrono::seconds deadline) {
        change(name, [&](Pod& pod) {
            pod.active_deadline = deadline;
            pod.start_time = WallTime(std::chrono::hours(1000));
        });
    }

    NodeView view{};
    bool pods_current = true;
    std::optional<bool> logind;
    bool logind_current = true;
    std::optional<Duration> logind_said;
    std::optional<Duration> heard;
};

inline std::vector<std::string> asked(const Decision& decision) {
    std::vector<std::string> made;
    for (const auto& one : decision.pod_statuses) made.push_back(one.name + " " + std::string(name(one.end)));
    return made;
}

}  // namespace evictd::policy::testing
