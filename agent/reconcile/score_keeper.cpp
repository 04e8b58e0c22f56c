// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What is looked at and set, and how much at a time. Raising and putting back is score_steering.cpp's, what is reported
// score_telling.cpp's.
#include "reconcile/score_keeper.hpp"

#include <algorithm>
#include <utility>

namespace evictd::reconcile {
namespace {

// A runtime starts a container's first process in its cgroup and sets its score a moment later. Looking sooner would
// only do the runtime's work and speak of it.
constexpr Duration settling = std::chrono::seconds(2);
// Kernel events of one cgroup come at most every 100 ms: what was written in between is seen after that.
constexpr Duration look_again_after = std::chrono::milliseconds(150);
// Who has changed it so often in so short a time does it in a loop. Ten looks cost 2 ms or so.
constexpr int most_rounds = 10;
constexpr Duration rounds_within = std::chrono::seconds(5);
constexpr Duration leave_alone_for = std::chrono::seconds(10);
// Ten seconds of the budget: the round of a node with 110 pods of ten processes each is never put off.
constexpr Duration budget_burst = std::chrono::milliseconds(200);
// CPU time after which the thread takes what was posted to it meanwhile: steering must not wait for regular looks.
constexpr Duration at_once = std::chrono::milliseconds(20);
// Three regular looks: a sweep that takes longer is reported.
constexpr Duration slow_after = std::chrono::seconds(30);
// PodInfraOOMAdj of qos/policy.go: a sandbox's, which is none of the pod's containers.
constexpr int sandbox_score = -998;

bool is_sandbox(const Pod& pod, const std::string& container, int score) {
    return score == sandbox_score && container_in(pod, container) == nullptr;
}

}  // namespace

ScoreKeeper::ScoreKeeper(port::ProcessScores& scores, const sys::Clock& clock, ScoreOptions options,
                         std::function<void(AgentNotice)> tell)
    : scores_(scores),
      clock_(clock),
      options_(std::move(options)),
      tell_(std::move(tell)),
      budget_(budget_percent, budget_burst) {}

bool ScoreKeeper::only_looks() const { return options_.dry_run || options_.policy == OomScoreAdjPolicy::observe; }

void ScoreKeeper::look(std::vector<KeptPod> pods, Bytes node_memory) {
    const auto now = clock_.monotonic();
    const bool first = accounts_.empty();
    node_memory_ = node_memory;
    std::unordered_map<PodUid, Account> accounts;
    accounts.reserve(pods.size());
    for (auto& kept : pods) {
        const auto before = accounts_.find(kept.pod->uid);
        const bool same = before != accounts_.end() && before->second.kept.cgroup->id() == kept.cgroup->id();
        Account& account = accounts[kept.pod->uid];
        if (same) {
            account = std::move(before->second);
        } else if (!first) {
            account.look_at = now + settling;
        }
        account.kept = std::move(kept);
    }
    accounts_ = std::move(accounts);
    forget_gone();
    for (auto& [uid, account] : accounts_) {
        if (!account.look_at || *account.look_at <= now) {
            look_at(account);
        }
    }
    work();
    tell_what_is_due(now);
}

void ScoreKeeper::expect(KeptPod pod) {
    Account& account = accounts_[pod.pod->uid];
    if (account.kept.cgroup && account.kept.cgroup->id() != pod.cgroup->id()) {
        account = {};
    }
    account.kept = std::move(pod);
    account.look_at = clock_.monotonic() + settling;
}

void ScoreKeeper::check(PodUid pod) {
    const auto found = accounts_.find(pod);
    if (found == accounts_.end()) {
        return;
    }
    Account& account = found->second;
    look_at(account);
    work();
    // This may be the event of our own write, or of one that was right, and a wrong one have come just after it.
    if (!account.look_at && options_.policy != OomScoreAdjPolicy::off) {
        account.look_at = clock_.monotonic() + look_again_after;
    }
    tell_what_is_due(clock_.monotonic());
}

void ScoreKeeper::look_at(Account& account) {
    const auto now = clock_.monotonic();
    account.look_at.reset();
    if (options_.policy == OomScoreAdjPolicy::off) {
        return;
    }
    if (now < account.left_alone_until) {
        account.look_at = account.left_alone_until;
        return;
    }
    queue(account);
}

void ScoreKeeper::queue(Account& account) {
    if (!account.queued) {
        account.queued = true;
        ready_.push_back(account.kept.pod->uid);
    }
}

// In turn, so that a pod with many processes does not keep others waiting.
ScoreKeeper::Account* ScoreKeeper::next_ready() {
    while (!ready_.empty()) {
        const auto found = accounts_.find(ready_.front());
        ready_.pop_front();
        if (found != accounts_.end() && std::exchange(found->second.queued, false)) {
            return &found->second;
        }
    }
    return nullptr;
}

void ScoreKeeper::charge(Duration used) { budget_.charge(used, clock_.monotonic()); }

// As much of what is ready as the budget allows. due() says when to go on.
void ScoreKeeper::work() {
    const auto begin = cpu_time();
    auto before = begin;
    while (before - begin < at_once && budget_.ready(clock_.monotonic())) {
        Account* account = next_ready();
        if (account == nullptr) {
            return;
        }
        if (step(*account)) {
            queue(*account);
        }
        const auto after = cpu_time();
        charge(after - before);
        before = after;
    }
}

// A slice of the account's sweep. True: there is more of it.
bool ScoreKeeper::step(Account& account) {
    if (!account.sweep && !begin(account)) {
        return false;
    }
    Sweep& sweep = *account.sweep;
    const auto pids = std::span(sweep.pids).subspan(sweep.next, std::min(slice, sweep.pids.size() - sweep.next));
    sweep.next += pids.size();
    bool going = true;
    switch (sweep.kind) {
        case Sweep::Kind::keep:
            scores_.visit(*account.kept.cgroup, pids,
                          [&](port::ScoredProcess& process) { look_at(account, process, sweep.round); });
            break;
        case Sweep::Kind::raise:
            going = raise(account, pids) || sweep.kind == Sweep::Kind::keep;
            break;
        case Sweep::Kind::restore:
            account.restored += restore(account.kept, raised_.at(account.kept.pod->uid), pids);
            break;
    }
    if (going && !sweep.done()) {
        note_slow(account);
        return true;
    }
    finish(account);
    return false;
}

// Lists what is there. False: nothing, or the pod is gone, which is news of its own.
bool ScoreKeeper::begin(Account& account) {
    const auto& uid = account.kept.pod->uid;
    Sweep sweep;
    sweep.begun = clock_.monotonic();
    sweep.kind = steered_ == uid         ? Sweep::Kind::raise
                 : raised_.contains(uid) ? Sweep::Kind::restore
                                         : Sweep::Kind::keep;
    if (sweep.kind == Sweep::Kind::keep && options_.policy == OomScoreAdjPolicy::off) {
        return false;
    }
    auto listed = scores_.list(*account.kept.cgroup);
    if (!listed) {
        if (listed.error().kind != ErrorKind::vanished && !std::exchange(account.slow_before, true)) {
            account.slow = "its processes could not be listed: " + listed.error().text();
        }
        return false;
    }
    sweep.pids = std::move(*listed);
    sweep.round.whole = options_.wanted(*account.kept.pod, {}, node_memory_);
    account.sweep = std::move(sweep);
    return true;
}

void ScoreKeeper::finish(Account& account) {
    const auto sweep = *std::exchange(account.sweep, std::nullopt);
    account.slow_before = account.slow_before && clock_.monotonic() - sweep.begun >= slow_after;
    if (sweep.kind == Sweep::Kind::keep) {
        settle(account, sweep.round);
    } else if (sweep.kind == Sweep::Kind::restore) {
        forget(account.kept.pod->uid);
    } else {
        forget_ended(account.kept.pod->uid, sweep.pids);
    }
}

// Once, until a sweep is in time again.
void ScoreKeeper::note_slow(Account& account) {
    const Sweep& sweep = *account.sweep;
    if (clock_.monotonic() - sweep.begun < slow_after || std::exchange(account.slow_before, true)) {
        return;
    }
    account.slow = std::to_string(sweep.pids.size() - sweep.next) + " of its " + std::to_string(sweep.pids.size()) +
                   " processes were not reached within 30s, because evictd spends at most " +
                   std::to_string(budget_percent) + " % of a CPU on oom_score_adj";
}

void ScoreKeeper::look_at(Account& account, port::ScoredProcess& process, Round& round) {
    const auto score = process.score();
    const Pod& pod = *account.kept.pod;
    if (!score || (round.whole.least == round.whole.most && round.whole.contains(*score))) {
        return;
    }
    const auto container = process.container();
    const auto range = options_.wanted(pod, container, node_memory_);
    if (range.contains(*score) || is_sandbox(pod, container, *score) || is_raised(pod.uid, process, *score)) {
        return;
    }
    const int wanted = range.nearest(*score);
    account.example = "pid " + std::to_string(process.pid()) + (container.empty() ? "" : " in " + container) + " had " +
                      std::to_string(*score) + ", not " + std::to_string(wanted);
    if (only_looks()) {
        round.found++;
        return;
    }
    if (const auto set = process.set_score(wanted)) {
        round.repaired++;
    } else {
        refuse(account, process, wanted, set.error(), round);
    }
}

void ScoreKeeper::refuse(Account& account, const port::ScoredProcess& process, int wanted, const Error& error,
                         Round& round) {
    if (error.kind == ErrorKind::vanished) {
        return;
    }
    round.refused++;
    if (!account.refused_before && account.refusal.empty()) {
        account.refusal = "oom_score_adj " + std::to_string(wanted) + " for pid " + std::to_string(process.pid()) +
                          ": " + error.why +
                          (error.kind == ErrorKind::not_permitted ? " (give evictd CAP_SYS_RESOURCE)" : "");
    }
}

void ScoreKeeper::settle(Account& account, const Round& round) {
    if (round.found > 0 && !account.found_before) {
        account.found = round.found;
    }
    account.found_before = round.found > 0;
    account.refused_before = account.refused_before || round.refused > 0;
    if (round.repaired == 0) {
        return;
    }
    account.repaired += round.repaired;
    repaired_ += static_cast<std::uint64_t>(round.repaired);
    account.look_at = clock_.monotonic() + look_again_after;
    count_round(account);
}

void ScoreKeeper::count_round(Account& account) {
    const auto now = clock_.monotonic();
    if (account.rounds == 0 || now - account.rounds_since > rounds_within) {
        account.rounds = 0;
        account.rounds_since = now;
    }
    if (++account.rounds < most_rounds) {
        return;
    }
    account.left_alone = "it was set anew " + std::to_string(account.rounds) + " times in a row";
    account.left_alone_until = now + leave_alone_for;
    account.look_at = account.left_alone_until;
    account.rounds = 0;
}

}  // namespace evictd::reconcile
