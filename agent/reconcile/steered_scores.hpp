// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Raises processes' oom_score_adj to 1000 and puts it back, with a ledger of what they had, which is written first.
// Which pod, and when, is the score keeper's decision.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "evictd/port/cgroups.hpp"
#include "evictd/port/process_scores.hpp"
#include "reconcile/put_back.hpp"
#include "reconcile/raised_scores.hpp"

namespace evictd::reconcile {

class SteeredScores {
public:
    // The score that replaces the recorded one, `before`, if it can be set.
    using Replacement = std::function<int(const port::ScoredProcess& process, int before)>;

    // `ledger_path`: the ledger. `scores` outlives it.
    SteeredScores(port::ProcessScores& scores, std::string ledger_path)
        : scores_(scores), ledger_path_(std::move(ledger_path)) {}

    struct Raised {
        int processes = 0;
        bool first_sweep = false;
    };
    // A slice of a sweep. `first_sweep`: what is at 1000 by itself is recorded too, and not only what was raised or
    // inherited it; false for the first slice, then as returned for the slice before. An error: what the processes had
    // cannot be written down, so none was raised.
    [[nodiscard]] Result<Raised> raise(const PodUid& uid, const port::PodCgroup& cgroup, std::span<const pid_t> pids,
                                       bool first_sweep);
    struct Lowered {
        int processes = 0;
        std::optional<Error> failed{};  // the first that is not `vanished`: to be tried again
    };
    [[nodiscard]] Lowered restore(const PodUid& uid, const port::PodCgroup& cgroup, std::span<const pid_t> pids,
                                  const Replacement& replacement);

    [[nodiscard]] bool contains(const PodUid& uid, CgroupId cgroup) const {
        const auto raised = raised_.find(uid);
        return raised != raised_.end() && raised->second.cgroup == cgroup;
    }
    // Whether evictd raised it, also before the ledger failed: such a score is not repaired.
    [[nodiscard]] bool is_raised(const PodUid& uid, CgroupId cgroup, const port::ScoredProcess& process,
                                 int score) const;

    void forget(const PodUid& uid);
    // Where the ledger has many more than the processes that are there.
    void forget_ended(const PodUid& uid, const std::vector<pid_t>& listed);

    // Puts back what an agent that was killed left in these pods, and says in how many processes; what cannot be put
    // back now stays. An error: the ledger cannot be read, or not be understood, and is set aside then.
    [[nodiscard]] Result<int> recover(const Result<std::vector<port::FoundPod>>& found, bool dry_run);

private:
    [[nodiscard]] Result<RaisedPods> read_ledger();
    [[nodiscard]] Status learn_ledger();
    [[nodiscard]] Status record_originals(const PodUid& uid, RaisedPod& raised, std::span<const RaisedProcess> more);
    void remember();

    port::ProcessScores& scores_;
    std::string ledger_path_;
    RaisedPods raised_;           // the steered pod, and those that are still to be put back
    bool ledger_whole_ = false;   // the file says all of raised_, and can be added to
    bool ledger_unread_ = false;  // it may remember what must not be overwritten, so nothing is raised
};

// All that the ledger at `ledger_path` remembers. What could not be put back, and what is in pods that cannot be
// listed, stays in it. One that cannot be understood is set aside.
[[nodiscard]] PutBack put_back_raised(port::ProcessScores& scores, port::Cgroups& cgroups,
                                      const std::string& ledger_path);

}  // namespace evictd::reconcile
