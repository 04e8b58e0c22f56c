// SPDX-License-Identifier: Apache-2.0
// Who is raised for the kernel's OOM killer, and that it is put back, also what an agent that was killed left.
#include <utility>

#include "act/score_keeper.hpp"
#include "sys/log.hpp"

namespace evictd::act {
namespace {

// Memory that trembles around the line must not have processes' scores written a hundred times a second.
constexpr Duration linger = std::chrono::seconds(1);
// New processes of the steered pod that are nobody's children there (kubectl exec).
constexpr Duration raise_again_after = std::chrono::seconds(1);

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
            raise(account->second);
        }
    }
}

}  // namespace evictd::act
