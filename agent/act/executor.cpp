// SPDX-License-Identifier: Apache-2.0
#include "act/executor.hpp"

#include <algorithm>
#include <csignal>

#include <unistd.h>

#include "act/signals.hpp"

namespace evictd::act {
namespace {

void refuse(Outcome& outcome, const Error& error) {
    outcome.status = error.kind == ErrorKind::vanished ? OutcomeStatus::vanished : OutcomeStatus::failed;
    outcome.error = error.text();
}

}  // namespace

Executor::Executor(const sys::Clock& clock, AfterKill& after_kill, bool dry_run)
    : clock_(clock), after_kill_(after_kill), dry_run_(dry_run) {}

std::vector<Outcome> Executor::carry_out(std::span<const Action> actions, MonotonicTime decided_at, const Find& find) {
    std::vector<Outcome> outcomes;
    outcomes.reserve(actions.size());
    for (const auto& action : actions) {
        Outcome& outcome = outcomes.emplace_back(Outcome{.action = action, .decided_at = decided_at});
        if (const auto cgroup = find(action.pod)) {
            attempt(outcome, cgroup);
        } else {
            outcome.status = OutcomeStatus::vanished;
            outcome.error = action.pod_name + ": its cgroup is gone";
        }
        if (outcome.delivered_at == MonotonicTime{}) {
            outcome.delivered_at = clock_.monotonic();
        }
    }
    return outcomes;
}

void Executor::attempt(Outcome& outcome, const port::PodCgroupPtr& cgroup) {
    auto listed = cgroup->processes();
    if (!listed) {
        refuse(outcome, listed.error());
        return;
    }
    outcome.processes = static_cast<int>(listed->size());
    if (std::find(listed->begin(), listed->end(), getpid()) != listed->end()) {
        outcome.status = OutcomeStatus::failed;
        outcome.error = outcome.action.pod_name + ": evictd itself runs in this pod; it is not touched";
        return;
    }
    if (dry_run_) {
        outcome.status = OutcomeStatus::dry_run;
        return;
    }
    const bool kill = outcome.action.kind == ActionKind::kill;
    if (kill && cgroup->can_kill()) {
        outcome.method = "cgroup.kill";
        const auto killed = cgroup->kill();
        outcome.delivered_at = clock_.monotonic();
        if (!killed) {
            refuse(outcome, killed.error());
        }
    } else {
        signal_each(outcome, *cgroup, *listed);
    }
    if (kill && outcome.status == OutcomeStatus::delivered) {
        after_kill_.follow(cgroup);
    }
}

// Without the freezer, which would cost more than all the rest: each freeze patches kernel code on every CPU. Whoever
// forks away from this first strike is AfterKill's.
void Executor::signal_each(Outcome& outcome, const port::PodCgroup& cgroup, const std::vector<pid_t>& listed) {
    outcome.method = "pidfd";
    const int signal_number = outcome.action.kind == ActionKind::kill ? SIGKILL : SIGTERM;
    const auto held = hold_processes(cgroup, listed);
    const auto signalled = held ? signal_all(*held, signal_number) : tl::unexpected<Error>(held.error());
    outcome.delivered_at = clock_.monotonic();
    if (signalled) {
        outcome.processes = *signalled;
    } else {
        refuse(outcome, signalled.error());
    }
}

}  // namespace evictd::act
