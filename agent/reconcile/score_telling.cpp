// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What is reported of scores, and when: the first at once, what follows summed up, so that a pod that writes in a loop
// cannot flood the log.
#include <algorithm>
#include <utility>

#include "reconcile/score_keeper.hpp"

namespace evictd::reconcile {
namespace {

// A pod is spoken of once in this time.
constexpr Duration tell_every = std::chrono::seconds(10);
// More pods than that at once are reported in one sentence: an agent that starts on a node with other scores.
constexpr std::size_t most_at_once = 8;

std::string processes_text(int count) { return std::to_string(count) + (count == 1 ? " process" : " processes"); }

std::optional<MonotonicTime> after(bool something, const std::optional<MonotonicTime>& told_at) {
    if (!something) {
        return std::nullopt;
    }
    return told_at ? *told_at + tell_every : MonotonicTime{};
}

void sooner(std::optional<MonotonicTime>& due, const std::optional<MonotonicTime>& other) {
    if (other && (!due || *other < *due)) {
        due = other;
    }
}

}  // namespace

std::optional<MonotonicTime> ScoreKeeper::Account::set_due() const {
    return after(repaired > 0 || found > 0 || !refusal.empty() || !left_alone.empty(), told_at);
}

std::optional<MonotonicTime> ScoreKeeper::Account::steer_due() const {
    return after(raised > 0 || restored > 0, steer_told_at);
}

std::optional<MonotonicTime> ScoreKeeper::due() const {
    std::optional<MonotonicTime> due;
    sooner(due, release_at_);
    sooner(due, steered_ ? raise_again_at_ : std::nullopt);
    for (const auto& [uid, account] : accounts_) {
        sooner(due, account.look_at);
        sooner(due, account.set_due());
        sooner(due, account.steer_due());
    }
    if (!ready_.empty()) {
        sooner(due, budget_.ready_at(clock_.monotonic()));
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

void ScoreKeeper::tell_what_is_due(MonotonicTime now) {
    std::vector<Account*> due;
    for (auto& [uid, account] : accounts_) {
        if (const auto at = account.set_due(); at && *at <= now) {
            due.push_back(&account);
        }
        if (const auto at = account.steer_due(); at && *at <= now) {
            tell_steered(account);
        }
        if (!account.slow.empty()) {
            say(&account.kept, "oom_score_adj of pod " + account.kept.pod->full_name() + ": " + account.slow,
                account.slow);
            account.slow.clear();
        }
    }
    if (due.size() > most_at_once) {
        tell_sum(due);
    }
    for (auto* account : due) {
        if (due.size() <= most_at_once) {
            tell_set(*account);
        }
        account->told_at = clock_.monotonic();
        account->repaired = 0;
        account->found = 0;
        account->refusal.clear();
        account->left_alone.clear();
    }
}

void ScoreKeeper::tell_set(Account& account) {
    const std::string pod = account.kept.pod->full_name();
    std::string text;
    if (account.repaired > 0) {
        text = "Set oom_score_adj of " + processes_text(account.repaired) + " of pod " + pod +
               " to what its QoS class says: " + account.example;
    } else if (account.found > 0) {
        text = (options_.dry_run ? "Dry run: would have set" : "Not as the QoS class says, and left so:") +
               std::string(" oom_score_adj of ") + processes_text(account.found) + " of pod " + pod + ": " +
               account.example;
    } else {
        text = "oom_score_adj of pod " + pod + " cannot be set to what its QoS class says: " + account.example;
    }
    if (!account.left_alone.empty()) {
        text += "; " + account.left_alone + ", so evictd leaves this pod alone for 10s";
    }
    say(&account.kept, std::move(text), account.refusal.empty() ? account.left_alone : account.refusal);
}

void ScoreKeeper::tell_sum(const std::vector<Account*>& accounts) {
    int repaired = 0;
    int found = 0;
    std::string refusal;
    std::size_t refused = 0;
    for (const auto* account : accounts) {
        repaired += account->repaired;
        found += account->found;
        refused += account->refusal.empty() ? 0U : 1U;
        refusal = account->refusal.empty() ? refusal : account->refusal;
    }
    std::string text = "Set oom_score_adj of " + processes_text(repaired);
    if (only_looks()) {
        text = "Not as the QoS class says, and left so: oom_score_adj of " + processes_text(found);
    }
    text += " in " + std::to_string(accounts.size()) + " pods";
    if (refused > 0) {
        text += "; in " + std::to_string(refused) + " of them it cannot be lowered as far as the QoS class says";
    }
    say(nullptr, std::move(text), std::move(refusal));
}

void ScoreKeeper::tell_steered(Account& account) {
    const bool up = steered_ == account.kept.pod->uid;
    const int count = up ? account.raised : account.restored;
    const std::string pod = processes_text(count) + " of pod " + account.kept.pod->full_name();
    if (up && count > 0) {
        say(&account.kept, "Raised oom_score_adj of " + pod +
                               " to 1000: memory is within 64Mi of a threshold, and if the kernel's OOM killer is "
                               "faster it takes the pod "
                               "that evictd would evict first");
    } else if (count > 0) {
        say(&account.kept, "Put back oom_score_adj of " + pod);
    }
    account.raised = 0;
    account.restored = 0;
    account.steer_told_at = clock_.monotonic();
}

void ScoreKeeper::say(const KeptPod* kept, std::string message, std::string error) {
    tell_({.notice = Notice::oom_score_adjusted,
           .wall = clock_.wall(),
           .message = std::move(message),
           .error = std::move(error),
           .pod = kept != nullptr ? kept->pod : nullptr,
           .dry_run = options_.dry_run});
}

ScoreFigures ScoreKeeper::figures() const {
    ScoreFigures figures{.repaired = repaired_, .pods_refused = 0, .steered = {}, .not_raised = {}};
    for (const auto& [uid, account] : accounts_) {
        figures.pods_refused += account.refused_before ? 1U : 0U;
        if (steered_ != uid) {
            continue;
        }
        const auto name = account.kept.pod->full_name();
        if (!account.not_raised.empty()) {
            figures.not_raised = name + " is not raised: " + account.not_raised;
        } else if (raised_.contains(uid)) {
            figures.steered = name;
        }
    }
    return figures;
}

}  // namespace evictd::reconcile
