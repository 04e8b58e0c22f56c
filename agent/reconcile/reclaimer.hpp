// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Asks pods for page cache back, a piece at a time, as long as it was decided and no longer than was said. A thread of
// its own: each piece may block for as long as the kernel takes to find it.
#pragma once

#include <optional>
#include <vector>

#include "reconcile/rung_keeper.hpp"

namespace evictd::reconcile {

class Reclaimer {
public:
    using Desired = DesiredRungs;

    // All must outlive it.
    Reclaimer(const port::PodControls& controls, const sys::Clock& clock, bool dry_run, TellRung tell);

    // As a Reconciler (control_loop.hpp). Rungs of other kinds than reclaim are passed over. What is not wanted any
    // more ends, with what it brought so far.
    void reconcile(const DesiredRungs& desired);
    // At once while there is something to reclaim, and then one piece of one pod: what is wanted meanwhile comes
    // between.
    [[nodiscard]] std::optional<MonotonicTime> due() const;
    void act_on_time();
    void release() { reconcile({}); }

private:
    struct Job {
        WantedRung wanted;
        MonotonicTime since;
        Bytes reclaimed;
        bool over = false;  // kept to know that it was wanted
    };
    void end(Job& job, std::string error = {}, bool cut_short = false);
    [[nodiscard]] Result<Bytes> take_piece(const Job& job) const;

    const port::PodControls& controls_;
    const sys::Clock& clock_;
    bool dry_run_;
    TellRung tell_;
    std::vector<Job> jobs_;
};

}  // namespace evictd::reconcile
