// SPDX-License-Identifier: Apache-2.0
#include "act/executor.hpp"

#include <csignal>

#include "act/signals.hpp"

namespace evictd::act {
namespace {

void refuse(Outcome& outcome, const Error& error) {
    outcome.status = error.kind == ErrorKind::vanished ? OutcomeStatus::vanished : OutcomeStatus::failed;
    outcome.error = error.text();
}

}  // namespace

Executor::Executor(const port::Cgroups& cgroups, const sys::Clock& clock, AfterKill& after_kill, bool dry_run)
    : cgroups_(cgroups), clock_(clock), after_kill_(after_kill), dry_run_(dry_run) {}

std::vector<Outcome> Executor::carry_out(std::span<const Action> actions, MonotonicTime decided_at, const Find& find) {
    std::vector<Outcome> outcomes;
    for (const auto& action : actions) {
        Outcome& outcome = outcomes.emplace_back(Outcome{.action = action, .decided_at = decided_at});
        const auto cgroup = find(action.pod);
        if (!cgroup) {
            outcome.status = OutcomeStatus::vanished;
            outcome.error = action.pod_name + ": its cgroup is gone";
        } else if (cgroups_.holds_self(*cgroup)) {
            outcome.status = OutcomeStatus::failed;
            outcome.error = action.pod_name + ": evictd itself runs in this pod; it is not touched";
        } else if (dry_run_) {
            const auto processes = cgroup->processes();
            outcome.status = processes ? OutcomeStatus::dry_run : OutcomeStatus::vanished;
            outcome.processes = processes ? static_cast<int>(processes->size()) : 0;
        } else {
            end(outcome, cgroup);
        }
        if (outcome.delivered_at == MonotonicTime{}) {
            outcome.delivered_at = clock_.monotonic();
        }
    }
    return outcomes;
}

void Executor::end(Outcome& outcome, const port::PodCgroupPtr& cgroup) {
    const bool kill = outcome.action.kind == ActionKind::kill;
    if (kill && cgroup->can_kill()) {
        outcome.method = "cgroup.kill";
        auto killed = cgroup->kill();
        outcome.delivered_at = clock_.monotonic();
        if (!killed) {
            refuse(outcome, killed.error());
            return;
        }
        if (const auto left = cgroup->processes()) {
            outcome.processes = static_cast<int>(left->size());
        }
        after_kill_.follow(cgroup);
        return;
    }
    outcome.method = "pidfd";
    if (kill && cgroup->can_freeze() && cgroup->freeze()) {
        // Freezing makes every fork() in flight fail or its child start frozen: who is listed now is all there is. It
        // need not have finished: SIGKILL counts at once, and AfterKill looks again and thaws.
        outcome.method = "freezer+pidfd";
    }
    auto processes = hold_processes(*cgroup);
    auto signalled =
        processes ? signal_all(*processes, kill ? SIGKILL : SIGTERM) : tl::unexpected<Error>(processes.error());
    outcome.delivered_at = clock_.monotonic();
    if (kill && cgroup->can_freeze()) {
        (void)cgroup->thaw();  // a frozen process dies only when thawed (v1)
    }
    if (!signalled) {
        refuse(outcome, signalled.error());
        return;
    }
    outcome.processes = *signalled;
    if (kill) {
        after_kill_.follow(cgroup);
    }
}

}  // namespace evictd::act
