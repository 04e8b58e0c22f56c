// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which pod is raised, when another one is raised instead, and that the one before is put back.
#include <algorithm>
#include <utility>

#include "reconcile/score_keeper.hpp"

namespace evictd::reconcile {
namespace {

// Neither memory that moves around the line nor pods that take turns as the first must have processes' scores written
// a hundred times a second: what is raised at once is beyond the budget.
constexpr Duration linger = std::chrono::seconds(1);
// While memory falls at full speed another pod becomes the first within milliseconds, and the OOM killer comes soon:
// this many changes, the first pod included, do not wait.
constexpr int changes_at_once = 4;
// New processes of the steered pod without a parent there (kubectl exec).
constexpr Duration raise_again_after = std::chrono::seconds(1);

}  // namespace

void ScoreKeeper::steer(std::optional<PodUid> first) {
    change_.reset();
    if (!options_.steering || options_.dry_run || first == steered_) {
        return;
    }
    const auto now = clock_.monotonic();
    change_ = {.to = std::move(first), .at = now};
    if (!change_->to) {
        change_->at = now + linger;
    } else if (steered_ && !is_gone(*steered_)) {
        change_->at = std::max(now, changes_paid_until_ - (changes_at_once - 1) * linger);
    }
    if (change_->at > now) {
        return;
    }
    steer_on_time(now);
    work();
    tell_what_is_due(now);
}

// As far as two small files say, whatever the pod made below its cgroup. While the next pod waited for one that is
// gone, the OOM killer would take the biggest process.
bool ScoreKeeper::is_gone(const PodUid& pod) {
    const auto* account = account_of(pod);
    if (account == nullptr || account->kept.cgroup->surely_empty()) {
        return true;
    }
    const auto tasks = account->kept.cgroup->tasks();
    return !tasks && tasks.error().kind == ErrorKind::vanished;
}

// Raised first, put back second: the one that is first now is the urgent one.
void ScoreKeeper::change_steered(std::optional<PodUid> to, MonotonicTime now) {
    const auto before = std::exchange(steered_, std::move(to));
    if (steered_) {
        changes_paid_until_ = std::max(changes_paid_until_, now) + linger;
        raise_again_at_ = now + raise_again_after;
        raise_now(*steered_);
    }
    if (before) {
        put_back(*before);
    }
}

void ScoreKeeper::raise_now(const PodUid& pod) {
    auto* account = account_of(pod);
    if (account == nullptr) {
        return;
    }
    account->sweep.reset();
    const bool done = schedule_.work_at_once(pod, [this](const PodUid& uid) { return step(uid); });
    if (!done && !std::exchange(account->slow_before, true)) {
        account->report.slow = account->sweep->rest() + " are raised later, because evictd spends at most " +
                               std::to_string(budget_percent) + " % of a CPU on oom_score_adj";
    }
}

// Memory is not short any more, or another pod is raised, so most of it can wait. A small pod is put back now: it
// may have been first for a moment only, because of others that spent the budget.
void ScoreKeeper::put_back(const PodUid& pod) {
    auto* account = account_of(pod);
    if (account != nullptr && is_raised(*account)) {
        account->sweep.reset();
        schedule_.begin_at_once(pod, [this](const PodUid& uid) { return step(uid); });
    }
}

void ScoreKeeper::steer_on_time(MonotonicTime now) {
    if (change_ && change_->at <= now) {
        change_steered(std::exchange(change_, std::nullopt)->to, now);
    }
    if (steered_ && raise_again_at_ && *raise_again_at_ <= now) {
        raise_again_at_ = now + raise_again_after;
        if (accounts_.contains(*steered_)) {
            schedule_.add(*steered_);
        }
    }
}

}  // namespace evictd::reconcile
