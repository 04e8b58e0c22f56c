// SPDX-License-Identifier: Apache-2.0
// What is looked at and set. Whom the kernel is to take first is score_steering.cpp's, what is told
// score_telling.cpp's.
#include "act/score_keeper.hpp"

#include <utility>

namespace evictd::act {
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
// PodInfraOOMAdj of qos/policy.go: a sandbox's, which is none of the pod's containers.
constexpr int sandbox_score = -998;

bool is_sandbox(const Pod& pod, const std::string& container, int score) {
    return score == sandbox_score && container_in(pod, container) == nullptr;
}

}  // namespace

ScoreKeeper::ScoreKeeper(port::ProcessScores& scores, const sys::Clock& clock, ScoreOptions options,
                         std::function<void(AgentNotice)> tell)
    : scores_(scores), clock_(clock), options_(std::move(options)), tell_(std::move(tell)) {}

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
    if (steered_ == account.kept.pod->uid) {
        raise(account);
        return;
    }
    Round round{.whole = options_.wanted(*account.kept.pod, {}, node_memory_)};
    // Gone meanwhile is no trouble: its removal is news of its own.
    (void)scores_.each(*account.kept.cgroup, [&](port::ScoredProcess& process) { look_at(account, process, round); });
    settle(account, round);
}

void ScoreKeeper::look_at(Account& account, port::ScoredProcess& process, Round& round) {
    const auto score = process.score();
    const Pod& pod = *account.kept.pod;
    if (!score || (round.whole.least == round.whole.most && round.whole.contains(*score))) {
        return;
    }
    const auto container = process.container();
    const auto range = options_.wanted(pod, container, node_memory_);
    if (range.contains(*score) || is_sandbox(pod, container, *score)) {
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

}  // namespace evictd::act
