// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Looks once: asks every port, tolerates what vanished, stamps every part with its time, and hands back one
// Observation. It judges nothing.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "evictd/model/observation.hpp"
#include "evictd/port/cgroups.hpp"
#include "evictd/port/node_memory.hpp"
#include "evictd/port/stalls.hpp"
#include "observe/cache_check.hpp"
#include "observe/node_reader.hpp"
#include "observe/pod_table.hpp"
#include "observe/victims.hpp"
#include "sys/clock.hpp"

namespace evictd::observe {

// What the last pass found of a cgroup and of what is below it.
struct FoundCgroup {
    bool populated = false;  // processes are left, as the kernel says
    Bytes usage;             // charged to it
    Bytes working_set;
};

// What a look is for. A decision needs every figure as it is now; a rehearsal, over the same figures, does not.
enum class LookFor { decision, rehearsal };

class Observer {
public:
    // All must outlive it. `stalls`: null where nobody counts the node's.
    Observer(port::UsageSource& usage, port::NodeMemory& node, const sys::Clock& clock, port::Stalls* stalls = nullptr);

    [[nodiscard]] Observation look(Cause cause, const PodTable& table, std::vector<Outcome> outcomes,
                                   const NodeNeed& node, LookFor purpose = LookFor::decision);

    // Whether pods may be ranked by processes (pid.available). If so, each look counts them. If not, they are counted
    // once a second, and never by an urgent look: counts in the Observation are then as old as the last.
    void rank_by_processes(bool ranked) { ranked_by_processes_ = ranked; }

    // The next look reads every row. While victims end: their last process may be gone with the same usage as before.
    void forget_rehearsal() { rehearsed_at_.reset(); }

    // Whether the last look found a pod with too many cgroups to read each. A look for a decision then makes the kernel
    // add up its counters, which costs the more the more cgroups changed.
    [[nodiscard]] bool counts_whole() const { return counts_whole_; }

    // As of the last look.
    [[nodiscard]] std::vector<ObservedVictim> victims(std::span<const Followed> followed) const;
    [[nodiscard]] std::optional<HeldMemory> held_by(const Followed& victim) const;

    // As of the last look: oldest_unknown_pods().
    [[nodiscard]] std::vector<UnknownPod> unknown(const PodTable& table, std::size_t most) const;

    // As of the last look: left_cgroups().
    [[nodiscard]] std::vector<LeftCgroup> left(const PodTable& table,
                                               const std::function<bool(const PodUid&)>& is_wanted) const;

    // Whose cgroup it was at the last look, the pod's own or one below it; none: nobody's we know.
    [[nodiscard]] std::optional<PodUid> owner_of(CgroupId cgroup, const PodTable& table) const;

    // Of any cgroup below the pods' root, also of one that was removed: what is left of it where that is more than
    // 1 MiB, else nothing. None: the last pass failed, so it is not known.
    [[nodiscard]] std::optional<FoundCgroup> found(CgroupId cgroup) const;

    // The last failure to read usage or the node's memory, other than that there is no pods' cgroup yet; empty: none.
    [[nodiscard]] const std::string& trouble() const { return trouble_; }

private:
    void read_node(Observation& observation, const NodeNeed& need, bool urgent);
    [[nodiscard]] port::Pass pass_for(const Cause& cause);
    void read_pods(Observation& observation, const PodTable& table, LookFor purpose);
    [[nodiscard]] Status read_rows(Observation& observation, const PodTable& table, LookFor purpose);
    void add_late_cache(port::RootCount& cache, Bytes late);
    [[nodiscard]] std::string crowded_pods(const PodTable& table) const;
    void read_stalls(Observation& observation, const PodTable& table);

    port::UsageSource& usage_;
    NodeReader node_;
    const sys::Clock& clock_;
    port::Stalls* stalls_;
    CacheCheck check_;
    std::vector<port::CgroupUsage> rows_;  // kept for its capacity
    bool rows_known_ = false;              // the last pass did not fail, or there was nothing to read
    bool counts_whole_ = false;
    bool ranked_by_processes_ = false;
    std::optional<MonotonicTime> processes_counted_at_;
    std::optional<MonotonicTime> rehearsed_at_;  // the last pass was for a rehearsal, and did not fail
    Bytes node_total_;
    std::string trouble_;
};

}  // namespace evictd::observe
