// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What is raised for the kernel's OOM killer, and that it is put back, also what an agent that was killed left.
#include <utility>

#include "reconcile/score_keeper.hpp"
#include "sys/log.hpp"

namespace evictd::reconcile {
namespace {

// Memory that moves around the line must not have processes' scores written a hundred times a second.
constexpr Duration linger = std::chrono::seconds(1);
// New processes of the steered pod without a parent there (kubectl exec).
constexpr Duration raise_again_after = std::chrono::seconds(1);
// Of CPU time: some 10,000 processes. The budget has earned it back after 25 s.
constexpr Duration most_debt = std::chrono::milliseconds(500);
// However often it was done before: 10 ms.
constexpr std::size_t raised_at_least = 256;

}  // namespace

// Raised first, put back second: the one that is first now is the urgent one.
void ScoreKeeper::steer(std::optional<PodUid> first) {
    const auto now = clock_.monotonic();
    if (!options_.steering || options_.dry_run || first == steered_) {
        release_at_.reset();
        return;
    }
    if (!first) {
        release_at_ = now + linger;
        return;
    }
    release_at_.reset();
    raise_again_at_ = now + raise_again_after;
    const auto before = std::exchange(steered_, std::move(first));
    if (const auto account = accounts_.find(*steered_); account != accounts_.end()) {
        raise_now(account->second);
    }
    if (before) {
        put_back(*before);
    }
    work();
    tell_what_is_due(now);
}

// Not put off by the budget, which pays for it afterwards: memory is short. But bounded, so that a pod cannot have it
// done again and again; the rest is done as the budget allows.
void ScoreKeeper::raise_now(Account& account) {
    account.sweep.reset();
    auto before = cpu_time();
    while (step(account)) {
        const auto after = cpu_time();
        charge(after - before);
        before = after;
        const std::size_t done = account.sweep->next;
        if (done >= raised_at_least && budget_.spent(clock_.monotonic()) > most_debt) {
            put_off(account);
            return;
        }
    }
    charge(cpu_time() - before);
}

void ScoreKeeper::put_off(Account& account) {
    const auto& sweep = *account.sweep;
    if (!std::exchange(account.slow_before, true)) {
        account.slow = std::to_string(sweep.pids.size() - sweep.next) + " of its " + std::to_string(sweep.pids.size()) +
                       " processes are raised later, because evictd spends at most " + std::to_string(budget_percent) +
                       " % of a CPU on oom_score_adj";
    }
    queue(account);
}

// Those that are at 1000 already were raised, or inherited it. False: what they had could not be written down, so they
// are not raised.
bool ScoreKeeper::raise(Account& account, std::span<const pid_t> pids) {
    const auto& uid = account.kept.pod->uid;
    const bool first = !raised_.contains(uid);
    RaisedPod& raised = raised_[uid];
    raised.cgroup = account.kept.cgroup->id();
    const bool begun = first || account.sweep->first_of_pod;
    account.sweep->first_of_pod = begun;
    std::vector<RaisedProcess> originals;
    std::vector<pid_t> lower;
    scores_.visit(*account.kept.cgroup, pids, [&](port::ScoredProcess& process) {
        const auto score = process.score();
        const bool at_top = score && *score == highest_oom_score_adj;
        if (!score || (at_top && !begun)) {
            return;
        }
        if (!at_top) {
            lower.push_back(process.pid());
        }
        originals.push_back({process.pid(), process.started(), *score});
    });
    if (const auto written = record_originals(uid, raised, originals); !written) {
        if (first) {
            raised_.erase(uid);
        }
        keep_instead(account, written.error());
        return false;
    }
    ledger_failed_ = false;
    account.not_raised.clear();
    scores_.visit(*account.kept.cgroup, lower, [&](port::ScoredProcess& process) {
        account.raised += process.set_score(highest_oom_score_adj) ? 1 : 0;
    });
    return true;
}

// The first victim must not stay below its class: the OOM killer would prefer every other pod.
void ScoreKeeper::keep_instead(Account& account, const Error& error) {
    account.not_raised = error.text();
    if (!std::exchange(ledger_failed_, true)) {
        say(&account.kept,
            "No oom_score_adj of pod " + account.kept.pod->full_name() +
                " is raised: what its processes have cannot be written down first",
            account.not_raised);
    }
    if (options_.policy != OomScoreAdjPolicy::off) {
        account.sweep->kind = Sweep::Kind::keep;
        account.sweep->next = 0;
    }
}

// By this keeper: what was raised before the ledger failed is not repaired.
bool ScoreKeeper::is_raised(const PodUid& uid, const port::ScoredProcess& process, int score) const {
    const auto raised = raised_.find(uid);
    return score == highest_oom_score_adj && raised != raised_.end() &&
           raised->second.before(process).value_or(highest_oom_score_adj) != highest_oom_score_adj;
}

Status ScoreKeeper::record_originals(const PodUid& uid, RaisedPod& raised, std::span<const RaisedProcess> more) {
    if (more.empty() && ledger_whole_) {
        return {};
    }
    for (const auto& process : more) {
        raised.processes.add(process);
    }
    auto written = ledger_whole_ ? remember_more(options_.memory_path, uid, raised.cgroup, more)
                                 : remember_raised(options_.memory_path, raised_);
    ledger_whole_ = written.has_value();
    return written;
}

// A pod whose processes come and go must not fill memory and disk with what those had that are gone.
void ScoreKeeper::forget_ended(const PodUid& uid, const std::vector<pid_t>& listed) {
    const auto raised = raised_.find(uid);
    if (raised == raised_.end() || raised->second.processes.all().size() < 2 * listed.size() + slice) {
        return;
    }
    raised->second.processes.keep_only(listed);
    remember();
}

// Only what still has what we gave it: what was written by others meanwhile is not overruled.
int ScoreKeeper::restore(const KeptPod& kept, const RaisedPod& raised, std::span<const pid_t> pids) {
    int restored = 0;
    const bool enforced = kept.pod && options_.policy == OomScoreAdjPolicy::enforce;
    scores_.visit(*kept.cgroup, pids, [&](port::ScoredProcess& process) {
        const auto score = process.score();
        if (!score || *score != highest_oom_score_adj) {
            return;
        }
        const auto before = raised.before(process);
        if (!before) {
            return;
        }
        const int wanted =
            enforced ? options_.wanted(*kept.pod, process.container(), node_memory_).nearest(*before) : *before;
        if (wanted != highest_oom_score_adj && (process.set_score(wanted) || process.set_score(*before))) {
            restored++;
        }
    });
    return restored;
}

// Begins it; within the budget, as memory is not short any more or another pod is raised.
void ScoreKeeper::put_back(const PodUid& uid) {
    const auto account = accounts_.find(uid);
    if (account == accounts_.end()) {
        forget(uid);
    } else if (raised_.contains(uid)) {
        account->second.sweep.reset();
        queue(account->second);
    }
}

void ScoreKeeper::forget(const PodUid& uid) {
    if (raised_.erase(uid) > 0) {
        remember();
    }
}

// Pods that are no more take their processes with them.
void ScoreKeeper::forget_gone() {
    const auto gone = std::erase_if(raised_, [&](const auto& entry) {
        const auto account = accounts_.find(entry.first);
        return account == accounts_.end() || account->second.kept.cgroup->id() != entry.second.cgroup;
    });
    if (gone > 0) {
        remember();
    }
}

void ScoreKeeper::remember() {
    const auto written = remember_raised(options_.memory_path, raised_);
    ledger_whole_ = written.has_value() && !raised_.empty();
    if (!written) {
        sys::log::warn("raised scores cannot be written down: " + written.error().text());
    }
}

void ScoreKeeper::recover(const Result<std::vector<port::FoundPod>>& found) {
    const auto left = remembered_raised(options_.memory_path);
    if (!left) {
        say(nullptr, "The oom_score_adj that a killed evictd may have raised is not put back", left.error().text());
        return;
    }
    if (options_.dry_run) {
        return;
    }
    if (!found && found.error().kind != ErrorKind::vanished) {
        raised_ = *left;  // to be put back when the pods are known
        return;
    }
    int restored = 0;
    for (const auto& pod : found.value_or(std::vector<port::FoundPod>{})) {
        const auto raised = left->find(pod.uid);
        if (raised == left->end() || raised->second.cgroup != pod.cgroup->id()) {
            continue;
        }
        const auto listed = scores_.list(*pod.cgroup);
        if (listed) {
            restored += restore({nullptr, pod.cgroup}, raised->second, *listed);
        } else if (listed.error().kind != ErrorKind::vanished) {
            raised_[pod.uid] = raised->second;
        }
    }
    remember();
    if (restored > 0) {
        say(nullptr,
            "Put back oom_score_adj of " + std::to_string(restored) + " processes that a killed evictd had raised");
    }
}

// To its end, whatever it costs: the agent ends.
void ScoreKeeper::release() {
    release_at_.reset();
    raise_again_at_.reset();
    steered_.reset();
    for (auto& [uid, account] : accounts_) {
        if (raised_.contains(uid)) {
            account.sweep.reset();
            while (step(account)) {}
        }
    }
    tell_what_is_due(MonotonicTime::max());
}

void ScoreKeeper::steer_on_time(MonotonicTime now) {
    if (release_at_ && *release_at_ <= now) {
        release_at_.reset();
        if (const auto before = std::exchange(steered_, std::nullopt)) {
            put_back(*before);
        }
    }
    if (steered_ && raise_again_at_ && *raise_again_at_ <= now) {
        raise_again_at_ = now + raise_again_after;
        if (const auto account = accounts_.find(*steered_); account != accounts_.end()) {
            queue(account->second);
        }
    }
}

}  // namespace evictd::reconcile
