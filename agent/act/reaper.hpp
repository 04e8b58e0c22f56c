// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// After the kill, in a lane of its own: gives the victim's memory back early and kills what escaped, until the kernel
// says that no process is left. It never touches a pod it was not given.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "act/cache_drop.hpp"
#include "act/early_release.hpp"
#include "act/executor.hpp"
#include "act/exit_priority.hpp"
#include "sys/lane.hpp"

namespace evictd::act {

class Pursuit;

class Reaper final : public AfterKill {
public:
    // `rungs_path`: a victim is frozen only after that was written beside it (held_rungs.hpp), so that an evictd that
    // is killed leaves none frozen. Empty: not written, for tests. None: that ledger is another evictd's, and nothing
    // is frozen. `release`: of one process's memory.
    // `urgent_priority`: of SCHED_FIFO, in the first seconds of a kill; 0: the normal policy, for dying processes too.
    // `prioritize`: as set_exit_priority().
    using Prioritize = std::function<bool(const HeldProcess&, ExitPriority)>;
    static Result<std::unique_ptr<Reaper>> make(const sys::Clock& clock, std::optional<std::string> rungs_path = "",
                                                EarlyRelease::Release release = release_memory, int urgent_priority = 0,
                                                Prioritize prioritize = set_exit_priority);
    void expect(std::span<const HeldProcess> doomed) override { release_->expect(doomed); }
    void follow(port::PodCgroupPtr victim, bool forks) override;
    void finish_terminating(port::PodCgroupPtr pod) override;
    void drop_cache(port::PodCgroupPtr victim) override;
    [[nodiscard]] std::optional<KillRounds> rounds_of(CgroupId victim) const override;
    Reaper(const Reaper&) = delete;
    Reaper& operator=(const Reaper&) = delete;
    ~Reaper() override;

private:
    Reaper(const sys::Clock& clock, std::optional<std::string> rungs_path, int urgent_priority, Prioritize prioritize);
    [[nodiscard]] bool pursue(Pursuit& pursuit);
    void pursue_next();
    [[nodiscard]] bool is_over(Pursuit& pursuit);
    void hasten(const Pursuit& pursuit, const std::vector<HeldProcess>& dying, std::set<pid_t>& before_us) const;
    void arm();
    void follow_urgency();
    void arm_cache();
    void note(const Pursuit& pursuit);

    const sys::Clock& clock_;
    std::optional<std::string> rungs_path_;
    int urgent_priority_;
    Prioritize prioritize_;
    std::size_t most_before_us_;  // they leave evictd a CPU: there may be another pod to kill
    mutable std::mutex mutex_;
    std::deque<std::pair<CgroupId, KillRounds>> rounds_;  // guarded by mutex_; the newest last
    // Before lane_, whose thread must be gone first.
    std::vector<std::unique_ptr<Pursuit>> pursuits_;
    sys::Timer timer_;        // one for all pursuits: for the next that is due
    sys::Timer cache_timer_;  // for cache_->due()
    std::unique_ptr<EarlyRelease> release_;
    std::unique_ptr<CacheDrop> cache_;  // lane_'s thread uses it
    std::unique_ptr<sys::Lane> lane_;
};

}  // namespace evictd::act
