// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which pod's processes are looked at next, and when: pods in turn, a slice of each, within a budget of CPU time, so
// that a pod with many processes neither keeps others waiting nor costs more than the budget.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <unordered_set>

#include "evictd/model/ids.hpp"
#include "reconcile/cpu_budget.hpp"
#include "sys/clock.hpp"

namespace evictd::reconcile {

// Of one CPU, averaged. A node with 110 pods of ten processes each costs a tenth of that.
inline constexpr int budget_percent = 2;
// Processes between two looks at the clock, 1 ms or so.
inline constexpr std::size_t slice = 64;

class SweepSchedule {
public:
    // A slice of the pod's processes. True: there is more of it.
    using Step = std::function<bool(const PodUid&)>;

    // `cpu_time`: of this thread; empty: it is not measured. The clock outlives it.
    SweepSchedule(const sys::Clock& clock, std::function<Duration()> cpu_time);

    void add(const PodUid& pod);  // no effect where it waits already
    void remove(const PodUid& pod) { waiting_.erase(pod); }
    // As much of what waits as the budget allows; due() says when to continue.
    void work(const Step& step);
    // All of one pod now. Not put off by the budget, which pays for it afterwards, but bounded. False: the rest waits.
    [[nodiscard]] bool work_at_once(const PodUid& pod, const Step& step);
    // The first slices of one pod now, as many as work_at_once() does in any case. The rest waits for its turn.
    void begin_at_once(const PodUid& pod, const Step& step);
    [[nodiscard]] std::optional<MonotonicTime> due() const;

private:
    [[nodiscard]] std::optional<PodUid> next();
    bool charge(const PodUid& pod, const Step& step);
    [[nodiscard]] Duration cpu_time() const { return cpu_time_ ? cpu_time_() : Duration::zero(); }

    const sys::Clock& clock_;
    std::function<Duration()> cpu_time_;
    CpuBudget budget_;
    std::deque<PodUid> turns_;  // has those of waiting_, and others that were removed
    std::unordered_set<PodUid> waiting_;
};

}  // namespace evictd::reconcile
