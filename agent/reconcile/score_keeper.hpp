// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Keeps the oom_score_adj of pods' processes: at what the QoS class says (class_scores), and, while memory is short,
// that of the pod which would be evicted first at 1000 (steered_scores), so that the kernel's OOM killer picks it too
// if it is faster. It decides which pod is visited when and for which of the two; sweep_schedule how much at a time;
// score_reports what is reported. One thread, and not the kill path's: a pod may have as many processes as it likes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "evictd/model/record.hpp"
#include "evictd/port/process_scores.hpp"
#include "reconcile/class_scores.hpp"
#include "reconcile/score_options.hpp"
#include "reconcile/score_reports.hpp"
#include "reconcile/steered_scores.hpp"
#include "reconcile/sweep_schedule.hpp"
#include "sys/clock.hpp"

namespace evictd::reconcile {

// All the pods there are at one time.
struct KeptPods {
    std::vector<KeptPod> pods;
    Bytes node_memory;  // what a request is a share of
};

struct DesiredScores {
    std::shared_ptr<const KeptPods> pods;  // another object than before: every pod is looked at
    std::optional<PodUid> steer_to;        // which the kernel should take if it is faster; none: memory is not short
};

// How it goes, for status.
struct ScoreFigures {
    std::uint64_t repaired = 0;    // scores set since the start
    std::size_t pods_refused = 0;  // in which a score cannot be lowered
    std::string steered;           // the pod that is raised; empty: none
    std::string not_raised;        // the pod that should be, and why it is not or not all of it; empty: none
    friend bool operator==(const ScoreFigures&, const ScoreFigures&) = default;
};

class ScoreKeeper {
public:
    using Desired = DesiredScores;

    // `tell` gets notices without a time. All must outlive it.
    ScoreKeeper(port::ProcessScores& scores, const sys::Clock& clock, ScoreOptions options,
                std::function<void(AgentNotice)> tell);
    ScoreKeeper(const ScoreKeeper&) = delete;
    ScoreKeeper& operator=(const ScoreKeeper&) = delete;
    ~ScoreKeeper() = default;

    // As a Reconciler (control_loop.hpp).
    void reconcile(const DesiredScores& desired);
    [[nodiscard]] std::optional<MonotonicTime> due() const;
    void act_on_time();
    void release();

    // The parts of reconcile(): every pod is looked at; another pod, or none, is steered to.
    void look(const std::vector<KeptPod>& pods, Bytes node_memory);
    void steer(std::optional<PodUid> first);

    // Incremental changes; a missed one is found at the next regular look.
    // A pod that is new or got its first process: looked at when its container has had the time to start.
    void expect(KeptPod pod);
    // Somebody wrote to a score in it.
    void check(const PodUid& pod);

    // Puts back what an agent that was killed left raised. Before anything else. `found` is an error: the pods could
    // not be listed, so what is remembered stays.
    void recover(const Result<std::vector<port::FoundPod>>& found);

    [[nodiscard]] ScoreFigures figures() const;

private:
    // Once through a pod's processes, a slice at a time.
    struct Sweep {
        enum class Kind : std::uint8_t { keep, raise, restore };
        Kind kind = Kind::keep;
        std::vector<pid_t> pids;
        std::size_t next = 0;  // of pids
        MonotonicTime begun{};
        bool first_sweep = false;  // when raising
        ClassScores::Round round{};
        std::optional<Error> failed{};           // why not all could be put back
        [[nodiscard]] std::string rest() const;  // how many are left, for people
    };
    struct Account {
        KeptPod kept;
        std::optional<MonotonicTime> look_at;
        std::optional<Sweep> sweep;
        bool leaving = false;      // its pod has another cgroup now, and this one is still to be put back
        bool slow_before = false;  // its last sweep took too long, which is reported once
        std::string not_raised;    // why; empty: it is, or was not tried
        ClassScores::History history{};
        ScoreReport report{};
    };

    // A change of which pod is raised. `to` is none: no pod is.
    struct Change {
        std::optional<PodUid> to;
        MonotonicTime at;
    };

    [[nodiscard]] Account* account_of(const PodUid& pod);
    [[nodiscard]] bool is_raised(const Account& account) const;
    void leave_other_cgroup(const KeptPod& kept);
    void look_at(Account& account);
    void work();
    bool step(const PodUid& pod);
    [[nodiscard]] bool begin(Account& account);
    void note_unlisted(Account& account, Sweep::Kind kind, const Error& error);
    [[nodiscard]] bool advance(Account& account, std::span<const pid_t> pids);
    [[nodiscard]] bool raise(Account& account, std::span<const pid_t> pids);
    [[nodiscard]] bool keep_instead(Account& account, const Error& error);
    void restore(Account& account, std::span<const pid_t> pids);
    void finish(Account& account);
    void note_slow(Account& account);
    [[nodiscard]] bool is_gone(const PodUid& pod);
    void change_steered(std::optional<PodUid> to, MonotonicTime now);
    void raise_now(const PodUid& pod);
    void put_back(const PodUid& pod);
    void steer_on_time(MonotonicTime now);
    void tell_what_is_due(MonotonicTime now);

    port::ProcessScores& scores_;
    const sys::Clock& clock_;
    ScoreOptions options_;
    ClassScores class_scores_;
    SteeredScores steered_scores_;
    SweepSchedule schedule_;
    ScoreReports reports_;
    std::unordered_map<PodUid, Account> accounts_;
    Bytes node_memory_;
    DesiredScores desired_;             // last
    std::optional<PodUid> steered_;     // not put back yet
    MonotonicTime changes_paid_until_;  // each change moves it on; how far ahead it is says when the next may be
    std::optional<Change> change_;      // from steered_, later
    std::optional<MonotonicTime> raise_again_at_;
    bool ledger_failure_told_ = false;
    std::uint64_t repaired_ = 0;
};

}  // namespace evictd::reconcile
