// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/steered_scores.hpp"

#include <utility>

#include "evictd/model/oom_score.hpp"
#include "evictd/model/text.hpp"
#include "reconcile/ledger_file.hpp"
#include "sys/log.hpp"

namespace evictd::reconcile {
namespace {

// Below so many entries in the ledger those of ended processes are kept.
constexpr std::size_t ended_kept = 64;

using Lowered = SteeredScores::Lowered;

void note_failure(Lowered& lowered, const Error& error) {
    if (error.kind != ErrorKind::vanished && !lowered.failed) {
        lowered.failed = error;
    }
}

// Only what still has what we gave it: what was written by others meanwhile is not overruled.
Lowered lower(port::ProcessScores& scores, const RaisedPod& raised, const port::PodCgroup& cgroup,
              std::span<const pid_t> pids, const SteeredScores::Replacement& replacement = {}) {
    Lowered lowered;
    const auto visited = scores.visit(cgroup, pids, [&](port::ScoredProcess& process) {
        const auto score = process.score();
        if (score && *score != highest_oom_score_adj) {
            return;
        }
        if (!score || process.started() == 0) {
            const auto again = process.score();  // it may just have ended
            note_failure(lowered,
                         again ? Error{ErrorKind::failed, "stat", "the start time cannot be read", {}} : again.error());
            return;
        }
        const auto before = raised.before(process);
        const int wanted =
            before && replacement ? replacement(process, *before) : before.value_or(highest_oom_score_adj);
        if (wanted == highest_oom_score_adj) {
            return;
        }
        auto set = process.set_score(wanted);
        if (!set && wanted != *before) {
            set = process.set_score(*before);
        }
        if (set) {
            lowered.processes++;
        } else {
            note_failure(lowered, set.error());
        }
    });
    if (!visited) {
        note_failure(lowered, visited.error());
    }
    return lowered;
}

struct Ledger {
    Result<RaisedPods> pods;
    bool is_set_aside = false;
};

// A ledger that cannot be parsed is set aside, so that the next write does not lose it.
Ledger read_or_set_aside(const std::string& path) {
    Ledger ledger{remembered_raised(path)};
    if (!ledger.pods && ledger.pods.error().kind == ErrorKind::invalid && set_aside(path)) {
        ledger.is_set_aside = true;
        ledger.pods.error().remedy = "look at " + path + ".broken and at the pods' oom_score_adj";
    }
    return ledger;
}

using EachPod = std::function<Status(const std::function<void(port::FoundPod)>&)>;

// Removes from `raised` what was put back, and what is in no pod that `each_pod` lists: such a pod is gone, and its
// processes with it. Unless the listing fails: then it may be there.
int lower_all(port::ProcessScores& scores, const EachPod& each_pod, RaisedPods& raised, PutBack& result) {
    int processes = 0;
    RaisedPods left;
    const auto listed = each_pod([&](const port::FoundPod& pod) {
        const auto one = raised.find(pod.uid);
        if (one == raised.end() || one->second.cgroup != pod.cgroup->id()) {
            return;
        }
        const auto pids = scores.list(*pod.cgroup);
        auto lowered = pids ? lower(scores, one->second, *pod.cgroup, *pids) : Lowered{0, pids.error()};
        if (lowered.failed && lowered.failed->kind != ErrorKind::vanished) {
            const std::string what = "oom_score_adj in " + pod.cgroup->path();
            result.failed.push_back({lowered.failed->kind, what, lowered.failed->text(), ""});
            left.insert(*one);
        }
        if (lowered.processes > 0) {
            result.done.push_back("put back oom_score_adj of " + processes_text(lowered.processes) + " in " +
                                  pod.cgroup->path());
        }
        processes += lowered.processes;
        raised.erase(one);
    });
    if (!listed) {
        result.failed.push_back(listed.error());
        left.merge(raised);
    }
    raised = std::move(left);
    return processes;
}

}  // namespace

Result<SteeredScores::Raised> SteeredScores::raise(const PodUid& uid, const port::PodCgroup& cgroup,
                                                   std::span<const pid_t> pids, bool first_sweep) {
    if (auto known = learn_ledger(); !known) {
        return tl::unexpected(known.error());
    }
    const bool first = !contains(uid, cgroup.id());
    if (first && raised_.erase(uid) > 0) {
        ledger_whole_ = false;
    }
    Raised result{.processes = 0, .first_sweep = first || first_sweep};
    RaisedPod& raised = raised_[uid];
    raised.cgroup = cgroup.id();
    std::vector<RaisedProcess> originals;
    std::vector<pid_t> lower_ones;
    // What cannot be looked at now is raised a moment later.
    (void)scores_.visit(cgroup, pids, [&](port::ScoredProcess& process) {
        const auto score = process.score();
        const bool at_top = score && *score == highest_oom_score_adj;
        const auto started = score ? process.started() : 0;
        if (started == 0 || (at_top && !result.first_sweep)) {
            return;
        }
        if (!at_top) {
            lower_ones.push_back(process.pid());
        }
        originals.push_back({process.pid(), started, *score});
    });
    if (auto written = record_originals(uid, raised, originals); !written) {
        if (first) {
            raised_.erase(uid);
        }
        return tl::unexpected(written.error());
    }
    (void)scores_.visit(cgroup, lower_ones, [&](port::ScoredProcess& process) {
        result.processes += process.set_score(highest_oom_score_adj) ? 1 : 0;
    });
    return result;
}

Status SteeredScores::record_originals(const PodUid& uid, RaisedPod& raised, std::span<const RaisedProcess> more) {
    if (more.empty() && ledger_whole_) {
        return {};
    }
    for (const auto& process : more) {
        raised.processes.add(process);
    }
    auto written =
        ledger_whole_ ? remember_more(ledger_path_, uid, raised.cgroup, more) : remember_raised(ledger_path_, raised_);
    ledger_whole_ = written.has_value();
    return written;
}

SteeredScores::Lowered SteeredScores::restore(const PodUid& uid, const port::PodCgroup& cgroup,
                                              std::span<const pid_t> pids, const Replacement& replacement) {
    return lower(scores_, raised_.at(uid), cgroup, pids, replacement);
}

bool SteeredScores::is_raised(const PodUid& uid, CgroupId cgroup, const port::ScoredProcess& process, int score) const {
    return score == highest_oom_score_adj && contains(uid, cgroup) &&
           raised_.at(uid).before(process).value_or(highest_oom_score_adj) != highest_oom_score_adj;
}

void SteeredScores::forget(const PodUid& uid) {
    if (raised_.erase(uid) > 0) {
        remember();
    }
}

// A pod whose processes come and go must not fill memory and disk with what those had that are gone.
void SteeredScores::forget_ended(const PodUid& uid, const std::vector<pid_t>& listed) {
    const auto raised = raised_.find(uid);
    if (raised == raised_.end() || raised->second.processes.all().size() < 2 * listed.size() + ended_kept) {
        return;
    }
    raised->second.processes.keep_only(listed);
    remember();
}

void SteeredScores::remember() {
    const auto written = remember_raised(ledger_path_, raised_);
    ledger_whole_ = written.has_value() && !raised_.empty();
    if (!written) {
        sys::log::warn("could not save raised oom_score_adj: " + written.error().text());
    }
}

Result<RaisedPods> SteeredScores::read_ledger() {
    auto ledger = read_or_set_aside(ledger_path_);
    ledger_unread_ = !ledger.pods && !ledger.is_set_aside;
    return std::move(ledger.pods);
}

// What it says is put back when the pods are looked at.
Status SteeredScores::learn_ledger() {
    if (!ledger_unread_) {
        return {};
    }
    auto left = read_ledger();
    if (!left) {
        return tl::unexpected(left.error());
    }
    raised_ = std::move(*left);
    return {};
}

Result<int> SteeredScores::recover(const Result<std::vector<port::FoundPod>>& found, bool dry_run) {
    if (dry_run) {
        return remembered_raised(ledger_path_).map([](const RaisedPods& /*left*/) { return 0; });
    }
    auto left = read_ledger();
    if (!left) {
        return tl::unexpected(left.error());
    }
    const auto each_found = [&](const std::function<void(port::FoundPod)>& visit) -> Status {
        if (!found && found.error().kind != ErrorKind::vanished) {
            return tl::unexpected(found.error());  // to be put back when the pods are known
        }
        for (const auto& pod : found.value_or(std::vector<port::FoundPod>{})) {
            visit(pod);
        }
        return {};
    };
    PutBack result;
    const int processes = left->empty() ? 0 : lower_all(scores_, each_found, *left, result);
    for (const auto& error : result.failed) {
        sys::log::warn("oom_score_adj raised by a killed evictd is not restored yet: " + error.text());
    }
    raised_ = std::move(*left);
    remember();
    return processes;
}

PutBack put_back_raised(port::ProcessScores& scores, port::Cgroups& cgroups, const std::string& ledger_path) {
    auto raised = read_or_set_aside(ledger_path).pods;
    if (!raised) {
        return {.done = {}, .left = {}, .failed = {raised.error()}};
    }
    PutBack result;
    if (!raised->empty()) {
        const auto each_pod = [&](const std::function<void(port::FoundPod)>& visit) -> Status {
            const auto root = cgroups.find_pods_root();
            if (root) {
                return cgroups.each_pod(visit);
            }
            const bool none = root.error().kind == ErrorKind::vanished;
            const auto& [kind, what, why, remedy] = root.error();
            return fail(kind, what, why, none ? "name the kubelet's --cgroup-root as cgroupRoot" : remedy);
        };
        (void)lower_all(scores, each_pod, *raised, result);
    }
    if (auto written = remember_raised(ledger_path, *raised); !written) {
        result.failed.push_back(written.error());
    }
    return result;
}

}  // namespace evictd::reconcile
