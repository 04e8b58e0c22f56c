// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Once through a pod's processes: kept, raised or put back, a slice at a time.
#include <algorithm>
#include <utility>

#include "evictd/model/oom_score.hpp"
#include "reconcile/score_keeper.hpp"

namespace evictd::reconcile {
namespace {

// Three regular looks: a sweep that takes longer is reported.
constexpr Duration slow_after = std::chrono::seconds(30);
// What could not be put back, because descriptors are short for example.
constexpr Duration restore_again_after = std::chrono::seconds(1);

}  // namespace

std::string ScoreKeeper::Sweep::rest() const {
    return std::to_string(pids.size() - next) + " of its " + std::to_string(pids.size()) + " processes";
}

// A slice of the account's sweep. True: there is more of it.
bool ScoreKeeper::step(const PodUid& pod) {
    auto* account = account_of(pod);
    if (account == nullptr || (!account->sweep && !begin(*account))) {
        return false;
    }
    Sweep& sweep = *account->sweep;
    const auto pids = std::span(sweep.pids).subspan(sweep.next, std::min(slice, sweep.pids.size() - sweep.next));
    sweep.next += pids.size();
    if (advance(*account, pids) && sweep.next < sweep.pids.size()) {
        note_slow(*account);
        return true;
    }
    finish(*account);
    return false;
}

// Lists the pod's processes. False: there is nothing to do, or they cannot be listed.
bool ScoreKeeper::begin(Account& account) {
    const auto& uid = account.kept.pod->uid;
    Sweep sweep;
    sweep.begun = clock_.monotonic();
    sweep.kind = steered_ == uid && !account.leaving ? Sweep::Kind::raise
                 : is_raised(account)                ? Sweep::Kind::restore
                                                     : Sweep::Kind::keep;
    if (sweep.kind == Sweep::Kind::keep && options_.policy == OomScoreAdjPolicy::off) {
        return false;
    }
    auto listed = scores_.list(*account.kept.cgroup);
    if (!listed) {
        note_unlisted(account, sweep.kind, listed.error());
        return false;
    }
    sweep.pids = std::move(*listed);
    sweep.round = class_scores_.begin(*account.kept.pod, node_memory_);
    account.sweep = std::move(sweep);
    return true;
}

void ScoreKeeper::note_unlisted(Account& account, Sweep::Kind kind, const Error& error) {
    if (error.kind == ErrorKind::vanished) {
        if (is_raised(account)) {
            steered_scores_.forget(account.kept.pod->uid);
        }
        return;
    }
    if (kind == Sweep::Kind::restore) {
        account.look_at = clock_.monotonic() + restore_again_after;
    }
    if (!std::exchange(account.slow_before, true)) {
        account.report.slow = "its processes could not be listed: " + error.text();
    }
}

// False: it ends here.
bool ScoreKeeper::advance(Account& account, std::span<const pid_t> pids) {
    Sweep& sweep = *account.sweep;
    const Pod& pod = *account.kept.pod;
    switch (sweep.kind) {
        case Sweep::Kind::raise:
            return raise(account, pids);
        case Sweep::Kind::restore:
            restore(account, pids);
            return true;
        case Sweep::Kind::keep:
            break;
    }
    (void)scores_.visit(*account.kept.cgroup, pids, [&](port::ScoredProcess& process) {
        const auto score = process.score();
        if (score && !steered_scores_.is_raised(pod.uid, account.kept.cgroup->id(), process, *score)) {
            class_scores_.visit(pod, process, *score, sweep.round, account.history, account.report);
        }
    });
    return true;
}

bool ScoreKeeper::raise(Account& account, std::span<const pid_t> pids) {
    const auto raised =
        steered_scores_.raise(account.kept.pod->uid, *account.kept.cgroup, pids, account.sweep->first_sweep);
    if (!raised) {
        return keep_instead(account, raised.error());
    }
    ledger_failure_told_ = false;
    account.not_raised.clear();
    account.sweep->first_sweep = raised->first_sweep;
    account.report.raised += raised->processes;
    return true;
}

// The first victim must not stay below its class: the OOM killer would prefer every other pod.
bool ScoreKeeper::keep_instead(Account& account, const Error& error) {
    account.not_raised = error.text();
    if (!std::exchange(ledger_failure_told_, true)) {
        reports_.say(account.kept.pod,
                     "Not raising oom_score_adj of pod " + account.kept.pod->full_name() +
                         ": could not save the original values",
                     account.not_raised);
    }
    if (options_.policy == OomScoreAdjPolicy::off) {
        return false;
    }
    account.sweep->kind = Sweep::Kind::keep;
    account.sweep->next = 0;
    return true;
}

void ScoreKeeper::restore(Account& account, std::span<const pid_t> pids) {
    const KeptPod& kept = account.kept;
    const auto of_class = [&](const port::ScoredProcess& process, int before) {
        return options_.wanted(*kept.pod, process.container(), node_memory_).nearest(before);
    };
    const bool enforced = options_.policy == OomScoreAdjPolicy::enforce;
    auto lowered =
        steered_scores_.restore(kept.pod->uid, *kept.cgroup, pids,
                                enforced ? SteeredScores::Replacement(of_class) : SteeredScores::Replacement());
    account.report.restored += lowered.processes;
    if (lowered.failed && !account.sweep->failed) {
        account.sweep->failed = std::move(lowered.failed);
    }
}

void ScoreKeeper::finish(Account& account) {
    const auto sweep = *std::exchange(account.sweep, std::nullopt);
    const auto now = clock_.monotonic();
    if (sweep.failed) {
        account.look_at = now + restore_again_after;
        if (!std::exchange(account.slow_before, true)) {
            account.report.slow = "not all of it could be put back: " + sweep.failed->text();
        }
        return;
    }
    account.slow_before = account.slow_before && now - sweep.begun >= slow_after;
    switch (sweep.kind) {
        case Sweep::Kind::keep:
            repaired_ += static_cast<std::uint64_t>(sweep.round.repaired);
            if (const auto again = ClassScores::end(sweep.round, account.history, account.report, now)) {
                account.look_at = again;
            }
            return;
        case Sweep::Kind::restore:
            steered_scores_.forget(account.kept.pod->uid);
            return;
        case Sweep::Kind::raise:
            steered_scores_.forget_ended(account.kept.pod->uid, sweep.pids);
    }
}

// Once, until a sweep is in time again.
void ScoreKeeper::note_slow(Account& account) {
    const Sweep& sweep = *account.sweep;
    if (clock_.monotonic() - sweep.begun < slow_after || std::exchange(account.slow_before, true)) {
        return;
    }
    account.report.slow = sweep.rest() + " were not reached within 30s, because evictd spends at most " +
                          std::to_string(budget_percent) + " % of a CPU on oom_score_adj";
}

}  // namespace evictd::reconcile
