// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What is reported of scores, and when: the first at once, what follows summed up, so that a pod that writes in a loop
// cannot flood the log.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "evictd/model/record.hpp"
#include "reconcile/score_options.hpp"
#include "sys/clock.hpp"

namespace evictd::reconcile {

// What was not reported yet of one pod, and when it was reported last.
struct ScoreReport {
    int repaired = 0;  // processes that were set
    int found = 0;     // processes that would be, but only looking is allowed
    std::string example;
    std::string refusal;     // why one cannot be set
    std::string left_alone;  // why the pod is
    int raised = 0;
    int restored = 0;
    std::string slow;                            // what takes too long, or cannot be looked at
    std::optional<MonotonicTime> told_at;        // of what was set
    std::optional<MonotonicTime> steer_told_at;  // of raising and putting back

    // When to report it; none: there is nothing.
    [[nodiscard]] std::optional<MonotonicTime> set_due() const;
    [[nodiscard]] std::optional<MonotonicTime> steer_due() const;
};

class ScoreReports {
public:
    struct Due {
        PodPtr pod;
        ScoreReport* report;
    };

    // `tell` gets notices without a time. The clock outlives it.
    ScoreReports(const sys::Clock& clock, const ScoreOptions& options, std::function<void(AgentNotice)> tell);

    // What was set, or should be: each pod, or all in one sentence where they are many.
    void tell_set(const std::vector<Due>& due) const;
    // `raised`: it is the steered pod.
    void tell_steered(const PodPtr& pod, ScoreReport& report, bool raised) const;
    void tell_slow(const PodPtr& pod, ScoreReport& report) const;
    void say(const PodPtr& pod, std::string message, std::string error = {}) const;

private:
    void tell_one(const PodPtr& pod, const ScoreReport& report) const;
    void tell_sum(const std::vector<Due>& due) const;

    const sys::Clock& clock_;
    bool dry_run_;
    bool only_looks_;
    std::function<void(AgentNotice)> tell_;
};

}  // namespace evictd::reconcile
