// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "act/executor.hpp"

#include <algorithm>
#include <csignal>
#include <iterator>
#include <utility>

namespace evictd::act {
namespace {

// What the signals to one pod may take of the agent's thread, and the check behind them as long once more; the rest is
// AfterKill's. An ordinary pod takes 0.1 ms. Half of it cuts pods of a few hundred cgroups short; twice as much is half
// of what another pod's kill may take in all. Where cgroup.kill is written between two passes of signals, each has this
// time.
constexpr Duration time_budget = std::chrono::milliseconds(4);
// Walks over one pod within that time. Processes that were seen to move are struck again at once; one that moves all
// the time is left to AfterKill: on v1 to the freezer, on v2 to cgroup.kill.
constexpr int most_walks = 3;

// Of one pod. The first processes of a pod's containers, if it is ordinary; of more, several exit at once anyway.
constexpr std::size_t most_expected = 8;

// A walk holds one for each of its levels, 32 at most, and few pods have more than 4; a listing, and some pidfds.
constexpr std::size_t spare_descriptors = 16;

// In one cgroup. As many take 0.3 ms.
constexpr std::size_t most_before_cgroup_kill = 64;

void refuse(Outcome& outcome, const Error& error) {
    outcome.status = error.kind == ErrorKind::vanished ? OutcomeStatus::vanished : OutcomeStatus::failed;
    outcome.error = error.text();
}

bool is_populated(const port::PodCgroup& cgroup) {
    const auto any = cgroup.populated();
    return any && *any;
}

void merge(std::vector<pid_t>& into, std::vector<pid_t> more) {
    std::sort(more.begin(), more.end());
    std::vector<pid_t> both;
    std::set_union(into.begin(), into.end(), more.begin(), more.end(), std::back_inserter(both));
    into = std::move(both);
}

}  // namespace

Executor::Executor(const sys::Clock& clock, AfterKill& after_kill, bool dry_run)
    : clock_(clock), after_kill_(after_kill), spare_(spare_descriptors), dry_run_(dry_run) {}

std::vector<Outcome> Executor::carry_out(std::span<const Action> actions, MonotonicTime decided_at, const Find& find) {
    std::vector<Outcome> outcomes;
    outcomes.reserve(actions.size());
    for (const auto& action : actions) {
        Outcome& outcome = outcomes.emplace_back(Outcome{.action = action, .decided_at = decided_at});
        const auto cgroup = find(action);
        const bool same = cgroup && (action.cgroup == CgroupId{} || action.cgroup == cgroup->id());
        if (same) {
            attempt(outcome, cgroup);
        } else {
            outcome.status = OutcomeStatus::vanished;
            outcome.error =
                action.pod_name + (cgroup ? ": it was restarted in another cgroup" : ": its cgroup is gone");
        }
        if (outcome.delivered_at == MonotonicTime{}) {
            outcome.delivered_at = clock_.monotonic();
        }
    }
    return outcomes;
}

// A handle that cannot tell is refused like one that says yes: with cgroup.kill it would be our end. Without
// descriptors it cannot tell.
bool Executor::is_allowed(Outcome& outcome, const port::PodCgroup& cgroup) {
    auto ours = cgroup.holds_us();
    if (!ours && spare_.release()) {
        ours = cgroup.holds_us();
    }
    if (!ours) {
        refuse(outcome, ours.error());
        return false;
    }
    if (*ours) {
        outcome.status = OutcomeStatus::refused;
        outcome.error = outcome.action.pod_name + ": evictd itself runs in this pod; it is not touched";
    }
    return !*ours;
}

// Each process is signalled by pidfd: cgroup.kill does not reach one whose main thread has exited (measured on Linux
// 6.18), and the record counts those that were signalled. Writing cgroup.kill takes the kernel's cgroup_mutex, which
// whoever moves a process between cgroups, as every start of a container does, holds for 10 to 40 ms. So it is left to
// AfterKill where the signals reached all. This thread writes it where the pod forks, also meanwhile, and where a
// cgroup has many processes, before it signals those.
Struck Executor::strike_all(Outcome& outcome, const port::PodCgroup& cgroup, Status& killed) {
    const bool kill = outcome.action.kind == ActionKind::kill;
    Strike wanted{.signal_number = kill ? SIGKILL : SIGTERM, .until = clock_.monotonic() + time_budget};
    std::vector<pid_t> reached;
    Struck struck;
    if (kill && cgroup.can_kill()) {
        wanted.most_listed = most_before_cgroup_kill;
        struck = signal_each(outcome, cgroup, wanted, reached);
        wanted.most_listed.reset();
        if (struck.whole() && !reached.empty() && !outcome.action.forks && has_only(cgroup, reached)) {
            return struck;
        }
        killed = kill_at_once(outcome, cgroup);
    }
    if (!struck.whole() || reached.empty()) {
        wanted.until = clock_.monotonic() + time_budget;
        struck = signal_each(outcome, cgroup, wanted, reached);
    }
    return struck;
}

void Executor::attempt(Outcome& outcome, const port::PodCgroupPtr& cgroup) {
    const bool kill = outcome.action.kind == ActionKind::kill;
    if (!is_allowed(outcome, *cgroup)) {
        return;
    }
    if (dry_run_) {
        rehearse(outcome, *cgroup);
        return;
    }
    const bool at_once = kill && cgroup->can_kill();
    Status killed;
    outcome.method = "pidfd";
    const auto struck = strike_all(outcome, *cgroup, killed);
    if (!killed && (struck.trouble || outcome.processes == 0)) {
        refuse(outcome, killed.error());
    } else if (struck.trouble && !(at_once && struck.trouble->kind == ErrorKind::vanished)) {
        refuse(outcome, *struck.trouble);
    }
    // Also where it failed for some: the pod is no longer what it was.
    if (kill && (outcome.status == OutcomeStatus::delivered || outcome.processes > 0)) {
        after_kill_.follow(cgroup, outcome.action.forks);
    } else if (!kill && struck.cut) {
        after_kill_.finish_terminating(cgroup);
    }
}

Status Executor::kill_at_once(Outcome& outcome, const port::PodCgroup& cgroup) {
    auto killed = cgroup.kill();
    if (!killed && spare_.release()) {
        killed = cgroup.kill();
    }
    if (killed) {
        outcome.method = "cgroup.kill";
        if (outcome.delivered_at == MonotonicTime{}) {
            outcome.delivered_at = clock_.monotonic();
        }
    }
    return killed;
}

// Without the freezer, which would cost more than all the rest: each freeze patches kernel code on every CPU. What
// forks or moves away from this first strike is AfterKill's.
Struck Executor::signal_each(Outcome& outcome, const port::PodCgroup& cgroup, Strike wanted,
                             std::vector<pid_t>& reached) {
    std::size_t expected = 0;
    if (wanted.signal_number == SIGKILL) {
        wanted.before_batch = [&](std::span<const HeldProcess> doomed) {
            const auto count = std::min(doomed.size(), most_expected - expected);
            after_kill_.expect(doomed.first(count));
            expected += count;
        };
    }
    Struck struck;
    for (int walk = 0; walk < most_walks; walk++) {
        struck = strike(cgroup, wanted, clock_);
        if (outcome.delivered_at == MonotonicTime{} && struck.whole() && !struck.signalled.empty()) {
            outcome.delivered_at = struck.last_signal;
        }
        merge(reached, std::exchange(struck.signalled, {}));
        struck.to_close.clear();
        if (struck.trouble && struck.trouble->kind != ErrorKind::vanished) {
            (void)spare_.release();
            wanted.close_at_once = true;
        } else if (reached.empty() && struck.whole() && is_populated(cgroup)) {
            wanted.listing = port::Listing::thorough;  // an empty list is not the kernel's word
        } else if (!struck.moved || struck.cut) {
            break;
        }
    }
    spare_.refill();
    outcome.processes = static_cast<int>(reached.size());
    if (struck.trouble && struck.trouble->kind == ErrorKind::vanished && !reached.empty()) {
        struck.trouble.reset();  // it went away under our signals
    }
    return struck;
}

bool Executor::has_only(const port::PodCgroup& cgroup, const std::vector<pid_t>& reached) const {
    const auto until = clock_.monotonic() + time_budget;
    bool only = true;
    const auto walked = cgroup.each_batch(port::Listing::quick, [&](const port::ProcessBatch& batch) {
        only = clock_.monotonic() < until && std::all_of(batch.pids.begin(), batch.pids.end(), [&](pid_t pid) {
                   return std::binary_search(reached.begin(), reached.end(), pid);
               });
        return only;
    });
    return only && (walked || walked.error().kind == ErrorKind::vanished);
}

// The same walk, as far as one goes that touches nothing.
void Executor::rehearse(Outcome& outcome, const port::PodCgroup& cgroup) const {
    const auto until = clock_.monotonic() + time_budget;
    const auto walked = cgroup.each_batch(port::Listing::quick, [&](const port::ProcessBatch& batch) {
        outcome.processes += static_cast<int>(batch.pids.size());
        return outcome.processes == 0 || clock_.monotonic() < until;  // a record of no process would be wrong
    });
    outcome.status = OutcomeStatus::dry_run;
    if (!walked) {
        refuse(outcome, walked.error());
    }
}

}  // namespace evictd::act
