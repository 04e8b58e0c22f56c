// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Carries out exactly what was decided, once, and reports the outcome. It never chooses: neither the pod nor the
// signal.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "act/signals.hpp"
#include "evictd/model/outcome.hpp"
#include "evictd/port/cgroups.hpp"
#include "sys/clock.hpp"
#include "sys/spare_descriptors.hpp"

namespace evictd::act {

// What happens after the first signal, off the kill path: memory returned early, stragglers, thawing.
class AfterKill {
public:
    AfterKill() = default;
    AfterKill(const AfterKill&) = delete;
    AfterKill& operator=(const AfterKill&) = delete;
    virtual ~AfterKill() = default;

    // Processes that are signalled next; perhaps not all of them. Must not block.
    virtual void expect(std::span<const HeldProcess> /*doomed*/) {}
    // Must not block. A victim that is followed already is no second one. `forks`: of Action.
    virtual void follow(port::PodCgroupPtr victim, bool forks) = 0;
    // SIGTERM to those that were not reached in time. Must not block.
    virtual void finish_terminating(port::PodCgroupPtr pod) = 0;
    // Of a victim without processes: the page cache that it left. Must not block.
    virtual void drop_cache(port::PodCgroupPtr victim) = 0;
    // Of a victim that is followed, or was lately. Must not block.
    [[nodiscard]] virtual std::optional<KillRounds> rounds_of(CgroupId /*victim*/) const { return std::nullopt; }
};

class Executor {
public:
    // Gives the cgroup of the action's pod as it is held now; null: there is none any more. One of another id than the
    // action's is not touched.
    using Find = std::function<port::PodCgroupPtr(const Action&)>;

    // All must outlive it.
    Executor(const sys::Clock& clock, AfterKill& after_kill, bool dry_run);

    // One outcome for each action, in order. `decided_at` is copied into them.
    [[nodiscard]] std::vector<Outcome> carry_out(std::span<const Action> actions, MonotonicTime decided_at,
                                                 const Find& find);

    // As AfterKill's.
    void drop_cache(port::PodCgroupPtr victim) { after_kill_.drop_cache(std::move(victim)); }
    [[nodiscard]] std::optional<KillRounds> rounds_of(CgroupId victim) const { return after_kill_.rounds_of(victim); }

private:
    void attempt(Outcome& outcome, const port::PodCgroupPtr& cgroup);
    [[nodiscard]] bool is_allowed(Outcome& outcome, const port::PodCgroup& cgroup);
    [[nodiscard]] Status kill_at_once(Outcome& outcome, const port::PodCgroup& cgroup);
    // `killed`: what came of cgroup.kill, where it was tried.
    [[nodiscard]] Struck strike_all(Outcome& outcome, const port::PodCgroup& cgroup, Status& killed);
    // Adds those that were signalled to `reached`, in ascending order.
    [[nodiscard]] Struck signal_each(Outcome& outcome, const port::PodCgroup& cgroup, Strike wanted,
                                     std::vector<pid_t>& reached);
    // Whether all that are in it, as far as one quick walk can tell, are among `reached`.
    [[nodiscard]] bool has_only(const port::PodCgroup& cgroup, const std::vector<pid_t>& reached) const;
    void rehearse(Outcome& outcome, const port::PodCgroup& cgroup) const;

    const sys::Clock& clock_;
    AfterKill& after_kill_;
    sys::SpareDescriptors spare_;
    bool dry_run_;
};

}  // namespace evictd::act
