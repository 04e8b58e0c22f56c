// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Keeps the oom_score_adj of pods' processes: at what the QoS class says, and, while memory is short, that of the pod
// which would be evicted first at 1000, so that the kernel's OOM killer picks it too if it is faster. Which pod that is
// and what a class means is decided elsewhere. One thread, and not the kill path's: a pod may have as many processes as
// it likes, so they are read a few at a time, within a budget of CPU time.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "evictd/model/config.hpp"
#include "evictd/model/oom_score.hpp"
#include "evictd/model/record.hpp"
#include "evictd/port/cgroups.hpp"
#include "evictd/port/process_scores.hpp"
#include "reconcile/cpu_budget.hpp"
#include "reconcile/raised_scores.hpp"
#include "sys/clock.hpp"

namespace evictd::reconcile {

struct KeptPod {
    PodPtr pod;
    port::PodCgroupPtr cgroup;
};

// What the agent says of scores. Must not block: it is called from the kill path's thread.
class ScoreOrders {
public:
    ScoreOrders() = default;
    ScoreOrders(const ScoreOrders&) = delete;
    ScoreOrders& operator=(const ScoreOrders&) = delete;
    virtual ~ScoreOrders() = default;

    // All the pods there are; every one is looked at. `node_memory`: what a request is a share of.
    virtual void look(std::vector<KeptPod> pods, Bytes node_memory) = 0;
    // A pod that is new or got its first process: looked at when its container has had the time to start.
    virtual void expect(KeptPod pod) = 0;
    // Somebody wrote to a score in it.
    virtual void check(PodUid pod) = 0;
    // Whom the kernel should take if it is faster; none: memory is not short any more.
    virtual void steer(std::optional<PodUid> first) = 0;
};

struct ScoreOptions {
    OomScoreAdjPolicy policy = OomScoreAdjPolicy::enforce;
    bool steering = true;
    bool dry_run = false;
    std::string memory_path;  // where originals of raised scores are remembered
    // What a process in the container cgroup of that name may have.
    std::function<ScoreRange(const Pod& pod, const std::string& container_cgroup, Bytes node_memory)> wanted;
    // CPU time that this thread has used; none: it is not measured, and there is no budget.
    std::function<Duration()> cpu_time{};
};

// Of one CPU, averaged. A node with 110 pods of ten processes each costs a tenth of that.
inline constexpr int budget_percent = 2;
// Processes between two looks at the clock, 1 ms or so.
inline constexpr std::size_t slice = 64;

// How it goes, for status.
struct ScoreFigures {
    std::uint64_t repaired = 0;    // scores set since the start
    std::size_t pods_refused = 0;  // in which a score cannot be lowered
    std::string steered;           // the pod that is raised; empty: none
    std::string not_raised;        // the pod that should be, and why it is not or not all of it; empty: none
    friend bool operator==(const ScoreFigures&, const ScoreFigures&) = default;
};

class ScoreKeeper final : public ScoreOrders {
public:
    // `tell` gets notices without a time. All must outlive it.
    ScoreKeeper(port::ProcessScores& scores, const sys::Clock& clock, ScoreOptions options,
                std::function<void(AgentNotice)> tell);

    void look(std::vector<KeptPod> pods, Bytes node_memory) override;
    void expect(KeptPod pod) override;
    void check(PodUid pod) override;
    void steer(std::optional<PodUid> first) override;

    // Puts back what an agent that was killed left raised. Before anything else. An error: the pods could not be
    // listed, so what is remembered stays.
    void recover(const Result<std::vector<port::FoundPod>>& found);
    // Puts back whatever is raised: the agent ends.
    void release();

    // When act_on_time() has something to do; none: nothing is due.
    [[nodiscard]] std::optional<MonotonicTime> due() const;
    void act_on_time();
    [[nodiscard]] ScoreFigures figures() const;

private:
    struct Round {
        ScoreRange whole;  // of all its containers
        int repaired = 0;
        int found = 0;
        int refused = 0;
    };
    // Once through a pod's processes, a few at a time.
    struct Sweep {
        enum class Kind : std::uint8_t { keep, raise, restore };
        Kind kind = Kind::keep;
        std::vector<pid_t> pids;
        std::size_t next = 0;  // of pids
        MonotonicTime begun{};
        bool first_of_pod = false;  // when raising: nothing in it was raised before
        Round round{};
        [[nodiscard]] bool done() const { return next >= pids.size(); }
    };
    // One pod, and what is still to be told of it.
    struct Account {
        KeptPod kept;
        std::optional<Sweep> sweep;
        bool queued = false;       // in ready_
        bool slow_before = false;  // its last sweep took too long, which is reported once
        std::string slow;
        int repaired = 0;  // processes, since it was last told
        int found = 0;     // would be changed, but only looking is allowed
        std::string example;
        std::string refusal;
        std::string left_alone;  // why it is
        int raised = 0;
        int restored = 0;
        std::string not_raised;  // why; empty: it is, or was not tried
        bool refused_before = false;
        bool found_before = false;
        std::optional<MonotonicTime> told_at;        // of what was set
        std::optional<MonotonicTime> steer_told_at;  // of raising and putting back
        int rounds = 0;                              // in which something had to be set, since rounds_since
        MonotonicTime rounds_since;
        MonotonicTime left_alone_until;
        std::optional<MonotonicTime> look_at;
        [[nodiscard]] std::optional<MonotonicTime> set_due() const;  // when to tell; none: nothing to tell
        [[nodiscard]] std::optional<MonotonicTime> steer_due() const;
    };

    [[nodiscard]] bool only_looks() const;
    void queue(Account& account);
    void work();
    [[nodiscard]] Account* next_ready();
    bool step(Account& account);
    [[nodiscard]] bool begin(Account& account);
    void finish(Account& account);
    void note_slow(Account& account);
    void charge(Duration used);
    [[nodiscard]] Duration cpu_time() const { return options_.cpu_time ? options_.cpu_time() : Duration::zero(); }
    void look_at(Account& account);
    void look_at(Account& account, port::ScoredProcess& process, Round& round);
    void refuse(Account& account, const port::ScoredProcess& process, int wanted, const Error& error, Round& round);
    void settle(Account& account, const Round& round);
    void count_round(Account& account);
    void raise_now(Account& account);
    void put_off(Account& account);
    bool raise(Account& account, std::span<const pid_t> pids);
    void keep_instead(Account& account, const Error& error);
    [[nodiscard]] bool is_raised(const PodUid& uid, const port::ScoredProcess& process, int score) const;
    [[nodiscard]] Status record_originals(const PodUid& uid, RaisedPod& raised, std::span<const RaisedProcess> more);
    int restore(const KeptPod& kept, const RaisedPod& raised, std::span<const pid_t> pids);
    void put_back(const PodUid& uid);
    void forget(const PodUid& uid);
    void forget_ended(const PodUid& uid, const std::vector<pid_t>& listed);
    void steer_on_time(MonotonicTime now);
    void forget_gone();
    void remember();
    void tell_set(Account& account);
    void tell_steered(Account& account);
    void tell_sum(const std::vector<Account*>& accounts);
    void tell_what_is_due(MonotonicTime now);
    void say(const KeptPod* kept, std::string message, std::string error = {});

    port::ProcessScores& scores_;
    const sys::Clock& clock_;
    ScoreOptions options_;
    std::function<void(AgentNotice)> tell_;
    std::unordered_map<PodUid, Account> accounts_;
    Bytes node_memory_;
    RaisedPods raised_;           // the steered pod, and those that are still to be put back
    bool ledger_whole_ = false;   // the file says all of raised_, and can be added to
    bool ledger_failed_ = false;  // which was told
    std::deque<PodUid> ready_;    // pods with a sweep to begin or to go on with, in turn
    CpuBudget budget_;
    std::optional<PodUid> steered_;
    std::optional<MonotonicTime> release_at_;
    std::optional<MonotonicTime> raise_again_at_;
    std::uint64_t repaired_ = 0;
};

}  // namespace evictd::reconcile
