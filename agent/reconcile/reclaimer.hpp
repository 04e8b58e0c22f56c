// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Asks pods for page cache back, a piece at a time, as long as it was decided and no longer than was said. A thread of
// its own: each piece may block for as long as the kernel takes to find it.
#pragma once

#include <vector>

#include "reconcile/rung_keeper.hpp"

namespace evictd::reconcile {

class Reclaimer {
public:
    // All must outlive it.
    Reclaimer(const port::PodControls& controls, const sys::Clock& clock, bool dry_run, TellRung tell);

    // Rungs of other kinds than reclaim are passed over. What is not wanted any more ends, with what it brought so far.
    void want(const std::vector<WantedRung>& wanted);
    // One piece of one pod. False: nothing is left to do.
    bool step();

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
