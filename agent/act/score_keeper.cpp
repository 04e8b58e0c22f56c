// SPDX-License-Identifier: Apache-2.0
// What is looked at and set. What is told of it is score_telling.cpp's.
#include "act/score_keeper.hpp"

#include <algorithm>
#include <utility>

#include "sys/log.hpp"

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
// Memory that trembles around the line must not have processes' scores written a hundred times a second.
constexpr Duration linger = std::chrono::seconds(1);
// New processes of the steered pod that are nobody's children there (kubectl exec).
constexpr Duration raise_again_after = std::chrono::seconds(1);
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
        raise(account->second);
    }
    if (before) {
        put_back(*before);
    }
    tell_what_is_due(now);
}

// Who was there before is known; who came since has what we gave his parent.
void ScoreKeeper::take_down_originals(Account& account, RaisedPod& raised) {
    const RaisedPod before = std::exchange(raised, RaisedPod{account.kept.cgroup->id(), {}});
    (void)scores_.each(*account.kept.cgroup, [&](port::ScoredProcess& process) {
        const auto score = process.score();
        if (!score) {
            return;
        }
        const bool ours = *score == highest_oom_score_adj || before.knows(process);
        raised.processes.push_back(
            {process.pid(), process.started(), ours ? before.before(process).value_or(*score) : *score});
    });
    if (raised != before) {
        remember();
    }
}

void ScoreKeeper::raise(Account& account) {
    RaisedPod& raised = raised_[account.kept.pod->uid];
    take_down_originals(account, raised);
    (void)scores_.each(*account.kept.cgroup, [&](port::ScoredProcess& process) {
        const auto score = process.score();
        if (score && *score != highest_oom_score_adj && process.set_score(highest_oom_score_adj)) {
            account.raised++;
        }
    });
}

// Only what still has what we gave it: whoever else wrote meanwhile is not overruled.
int ScoreKeeper::restore(const KeptPod& kept, const RaisedPod& raised) {
    int restored = 0;
    const bool enforced = kept.pod && options_.policy == OomScoreAdjPolicy::enforce;
    (void)scores_.each(*kept.cgroup, [&](port::ScoredProcess& process) {
        const auto score = process.score();
        const auto before = raised.before(process);
        if (!score || *score != highest_oom_score_adj || !before) {
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

void ScoreKeeper::put_back(const PodUid& uid) {
    const auto raised = raised_.find(uid);
    if (raised == raised_.end()) {
        return;
    }
    if (const auto account = accounts_.find(uid); account != accounts_.end()) {
        account->second.restored += restore(account->second.kept, raised->second);
    }
    raised_.erase(raised);
    remember();
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
    if (auto written = remember_raised(options_.memory_path, raised_); !written) {
        sys::log::warn("raised scores would not survive a kill of evictd: " + written.error().text());
    }
}

void ScoreKeeper::recover(const std::vector<port::FoundPod>& found) {
    const auto left = remembered_raised(options_.memory_path);
    int restored = 0;
    for (const auto& pod : found) {
        const auto raised = left.find(pod.uid);
        if (raised != left.end() && raised->second.cgroup == pod.cgroup->id() && !options_.dry_run) {
            restored += restore({nullptr, pod.cgroup}, raised->second);
        }
    }
    if (!options_.dry_run) {
        remember();
    }
    if (restored > 0) {
        say(nullptr, "Put back oom_score_adj of " + std::to_string(restored) +
                         " processes, which an evictd that ended before its time had raised");
    }
}

void ScoreKeeper::release() {
    release_at_.reset();
    raise_again_at_.reset();
    if (const auto before = std::exchange(steered_, std::nullopt)) {
        put_back(*before);
    }
    tell_what_is_due(MonotonicTime::max());
}

}  // namespace evictd::act
