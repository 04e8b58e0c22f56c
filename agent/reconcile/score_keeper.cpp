// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which pod is looked at when. Which one is raised is in score_steering.cpp, what a sweep does with its processes in
// score_sweep.cpp.
#include "reconcile/score_keeper.hpp"

#include <utility>

#include "evictd/model/text.hpp"

namespace evictd::reconcile {
namespace {

// A runtime starts a container's first process in its cgroup and sets its score a moment later. Looking sooner would
// only do the runtime's work and speak of it.
constexpr Duration settling = std::chrono::seconds(2);

void sooner(std::optional<MonotonicTime>& due, const std::optional<MonotonicTime>& other) {
    if (other && (!due || *other < *due)) {
        due = other;
    }
}

}  // namespace

ScoreKeeper::ScoreKeeper(port::ProcessScores& scores, const sys::Clock& clock, ScoreOptions options,
                         std::function<void(AgentNotice)> tell)
    : scores_(scores),
      clock_(clock),
      options_(std::move(options)),
      class_scores_(options_),
      steered_scores_(scores, options_.ledger_path),
      schedule_(clock, options_.cpu_time),
      reports_(clock, options_, std::move(tell)) {}

// Steered first: that is the urgent part.
void ScoreKeeper::reconcile(const DesiredScores& desired) {
    const auto before = std::exchange(desired_, desired);
    if (desired.steer_to != before.steer_to) {
        steer(desired.steer_to);
    }
    if (desired.pods && desired.pods != before.pods) {
        look(desired.pods->pods, desired.pods->node_memory);
    }
}

ScoreKeeper::Account* ScoreKeeper::account_of(const PodUid& pod) {
    const auto found = accounts_.find(pod);
    return found == accounts_.end() ? nullptr : &found->second;
}

bool ScoreKeeper::is_raised(const Account& account) const {
    return steered_scores_.contains(account.kept.pod->uid, account.kept.cgroup->id());
}

// What was raised in the one before is put back first; where that fails, the pod is the one before until it is done.
void ScoreKeeper::leave_other_cgroup(const KeptPod& kept) {
    const auto& uid = kept.pod->uid;
    auto* account = account_of(uid);
    if (account == nullptr || account->kept.cgroup->id() == kept.cgroup->id()) {
        return;
    }
    if (is_raised(*account)) {
        account->leaving = true;
        account->sweep.reset();
        (void)schedule_.work_at_once(uid, [this](const PodUid& pod) { return step(pod); });
    }
    if (!is_raised(*account)) {
        schedule_.remove(uid);
        accounts_.erase(uid);
    }
}

void ScoreKeeper::look(const std::vector<KeptPod>& pods, Bytes node_memory) {
    const auto now = clock_.monotonic();
    const bool first = accounts_.empty();
    node_memory_ = node_memory;
    std::unordered_map<PodUid, Account> accounts;
    accounts.reserve(pods.size());
    for (const auto& kept : pods) {
        leave_other_cgroup(kept);
        const auto before = accounts_.find(kept.pod->uid);
        Account& account = accounts[kept.pod->uid];
        if (before != accounts_.end()) {
            account = std::move(before->second);
            accounts_.erase(before);
        } else {
            schedule_.remove(kept.pod->uid);
            account.look_at = first ? std::nullopt : std::optional(now + settling);
        }
        if (!account.leaving) {
            account.kept = kept;
        }
    }
    // A pod that is not listed may live on, without its manifest for example: only its cgroup says that it is gone.
    for (auto& [uid, account] : accounts_) {
        if (is_raised(account)) {
            accounts.try_emplace(uid, std::move(account));
        }
    }
    accounts_ = std::move(accounts);
    for (auto& [uid, account] : accounts_) {
        if (!account.look_at || *account.look_at <= now) {
            look_at(account);
        }
    }
    work();
    tell_what_is_due(now);
}

void ScoreKeeper::expect(KeptPod pod) {
    leave_other_cgroup(pod);
    Account& account = accounts_[pod.pod->uid];
    if (account.leaving) {
        return;
    }
    account.kept = std::move(pod);
    account.look_at = clock_.monotonic() + settling;
}

void ScoreKeeper::check(const PodUid& pod) {
    auto* account = account_of(pod);
    if (account == nullptr) {
        return;
    }
    look_at(*account);
    work();
    // This may be the event of our own write, or of one that was right, and a wrong one have come just after it.
    if (!account->look_at && options_.policy != OomScoreAdjPolicy::off) {
        account->look_at = clock_.monotonic() + look_again_after;
    }
    tell_what_is_due(clock_.monotonic());
}

void ScoreKeeper::look_at(Account& account) {
    account.look_at.reset();
    const bool to_put_back = is_raised(account) && (account.leaving || steered_ != account.kept.pod->uid);
    if (options_.policy == OomScoreAdjPolicy::off && !to_put_back) {
        return;
    }
    if (clock_.monotonic() < account.history.left_alone_until) {
        account.look_at = account.history.left_alone_until;
        return;
    }
    schedule_.add(account.kept.pod->uid);
}

void ScoreKeeper::work() {
    schedule_.work([this](const PodUid& pod) { return step(pod); });
}

std::optional<MonotonicTime> ScoreKeeper::due() const {
    std::optional<MonotonicTime> due = schedule_.due();
    sooner(due, change_ ? std::optional(change_->at) : std::nullopt);
    sooner(due, steered_ ? raise_again_at_ : std::nullopt);
    for (const auto& [uid, account] : accounts_) {
        sooner(due, account.look_at);
        sooner(due, account.report.set_due());
        sooner(due, account.report.steer_due());
    }
    return due;
}

void ScoreKeeper::act_on_time() {
    const auto now = clock_.monotonic();
    steer_on_time(now);
    for (auto& [uid, account] : accounts_) {
        if (account.look_at && *account.look_at <= now) {
            look_at(account);
        }
    }
    work();
    tell_what_is_due(now);
}

void ScoreKeeper::recover(const Result<std::vector<port::FoundPod>>& found) {
    const auto processes = steered_scores_.recover(found, options_.dry_run);
    if (!processes) {
        reports_.say(nullptr, "Could not restore oom_score_adj raised by a killed evictd", processes.error().text());
    } else if (*processes > 0) {
        reports_.say(nullptr,
                     "Put back oom_score_adj of " + processes_text(*processes) + " that a killed evictd had raised");
    }
}

// Whatever it costs: the agent ends.
void ScoreKeeper::release() {
    change_.reset();
    raise_again_at_.reset();
    steered_.reset();
    for (auto& [uid, account] : accounts_) {
        if (is_raised(account)) {
            account.sweep.reset();
            while (step(uid)) {}
        }
    }
    tell_what_is_due(MonotonicTime::max());
}

void ScoreKeeper::tell_what_is_due(MonotonicTime now) {
    std::vector<ScoreReports::Due> due;
    for (auto& [uid, account] : accounts_) {
        if (const auto at = account.report.set_due(); at && *at <= now) {
            due.push_back({account.kept.pod, &account.report});
        }
        if (const auto at = account.report.steer_due(); at && *at <= now) {
            reports_.tell_steered(account.kept.pod, account.report, steered_ == uid);
        }
        if (!account.report.slow.empty()) {
            reports_.tell_slow(account.kept.pod, account.report);
        }
    }
    reports_.tell_set(due);
}

ScoreFigures ScoreKeeper::figures() const {
    ScoreFigures figures{.repaired = repaired_, .pods_refused = 0, .steered = {}, .not_raised = {}};
    for (const auto& [uid, account] : accounts_) {
        figures.pods_refused += account.history.refused ? 1U : 0U;
        if (steered_ != uid) {
            continue;
        }
        const auto name = account.kept.pod->full_name();
        if (!account.not_raised.empty()) {
            figures.not_raised = name + " is not raised: " + account.not_raised;
        } else if (is_raised(account)) {
            figures.steered = name;
        }
    }
    return figures;
}

}  // namespace evictd::reconcile
