// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Sets processes' oom_score_adj to what the pod's QoS class says, and leaves a pod alone for a while that rewrites it
// in a loop. What a class means is decided elsewhere.
#pragma once

#include <optional>

#include "evictd/port/process_scores.hpp"
#include "reconcile/score_options.hpp"
#include "reconcile/score_reports.hpp"

namespace evictd::reconcile {

class ClassScores {
public:
    // Once through a pod's processes.
    struct Round {
        Bytes node_memory;
        ScoreRange whole;  // of all the pod's containers
        int repaired = 0;
        int found = 0;
        int refused = 0;
    };
    // Of one pod, from one round to the next.
    struct History {
        bool refused = false;  // some score could not be set
        bool found = false;    // in the last round
        int rounds = 0;        // in which something had to be set, since rounds_since
        MonotonicTime rounds_since;
        MonotonicTime left_alone_until;
    };

    // `options` outlive it.
    explicit ClassScores(const ScoreOptions& options) : options_(options) {}

    [[nodiscard]] Round begin(const Pod& pod, Bytes node_memory) const;
    // `score`: what the process has.
    void visit(const Pod& pod, port::ScoredProcess& process, int score, Round& round, const History& history,
               ScoreReport& report) const;
    // At the round's end. When to look again; none: at the next regular look.
    [[nodiscard]] static std::optional<MonotonicTime> end(const Round& round, History& history, ScoreReport& report,
                                                          MonotonicTime now);

private:
    const ScoreOptions& options_;
};

// Kernel events of one cgroup come at most every 100 ms: what was written in between is seen after that.
inline constexpr Duration look_again_after = std::chrono::milliseconds(150);

}  // namespace evictd::reconcile
