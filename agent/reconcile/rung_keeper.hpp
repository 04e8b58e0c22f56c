// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Sets the rungs that have to be put back, limits and freezes, for as long as it was decided and no longer than their
// deadline, and reports the outcome of each. It never chooses a pod. One thread; nothing in it waits for reclaim.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "evictd/model/ladder.hpp"
#include "evictd/port/cgroups.hpp"
#include "evictd/port/pod_controls.hpp"
#include "reconcile/held_rungs.hpp"
#include "sys/clock.hpp"

namespace evictd::reconcile {

struct WantedRung {
    Rung rung;
    port::PodCgroupPtr cgroup;
    [[nodiscard]] port::CgroupPlace place() const { return {cgroup->path(), cgroup->id()}; }
};

using DesiredRungs = std::vector<WantedRung>;

[[nodiscard]] bool contains(const DesiredRungs& desired, const Rung& rung);

using TellRung = std::function<void(RungOutcome)>;

struct RungOptions {
    bool dry_run = false;
    std::string ledger_path;  // where what has to be put back is remembered, before it is done
};

class RungKeeper {
public:
    using Desired = DesiredRungs;

    // All must outlive it.
    RungKeeper(const port::PodControls& controls, const sys::Clock& clock, RungOptions options, TellRung tell);

    // As a Reconciler (control_loop.hpp). Rungs of other kinds than squeeze and freeze are passed over; due() is when
    // one is over, or is to be put back once more.
    void reconcile(const DesiredRungs& desired);
    [[nodiscard]] std::optional<MonotonicTime> due() const;
    void act_on_time();
    void release() { reconcile({}); }

    // Puts back what an agent that was killed left, and lists it. Nothing in a dry run.
    [[nodiscard]] PutBack recover();

private:
    struct Holding {
        WantedRung wanted;
        HeldRung held;
        MonotonicTime since;
        bool done = false;        // there is something to put back
        bool over = false;        // it ended, or failed: kept to know that it was wanted
        MonotonicTime try_again;  // putting it back failed
    };
    void begin(const WantedRung& wanted);
    [[nodiscard]] Status set(Holding& holding);
    [[nodiscard]] Status reject_own_pod(const WantedRung& wanted) const;
    [[nodiscard]] Status set_limit(Holding& holding);
    [[nodiscard]] Status freeze(Holding& holding);
    void end(Holding& holding);
    [[nodiscard]] Status remember(const Holding* more = nullptr) const;
    void tell(const Holding& holding, RungStatus status, std::string error) const;

    const port::PodControls& controls_;
    const sys::Clock& clock_;
    RungOptions options_;
    TellRung tell_;
    std::vector<Holding> holdings_;
};

}  // namespace evictd::reconcile
