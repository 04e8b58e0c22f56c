// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Thresholds on stalls: which are met, since when, and who has to go for it. Beside the kubelet's thresholds, which
// know only amounts; the kubelet has nothing of the kind. Pure, as all of policy.
#pragma once

#include <optional>
#include <vector>

#include "evictd/model/config.hpp"
#include "evictd/model/decision.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/state.hpp"

namespace evictd::policy {

// A pod that did at least this part of the pods' reclaim work causes the stall: whoever needs memory has to make room
// for it. Half as much would count those who only defend what they have; twice as much, and of six pods that push alike
// none would be to blame. In hundredths of a percent, as shares are.
inline constexpr std::int32_t culprit_share = 1'000;

// Under confirm_pressure: so much of the last tenth of a second or of the last second lost by tasks of the node means
// that memory is really short. Streaming page cache through a full cgroup costs less; tasks that refault or wait for
// writeback lose nearly all their time.
inline constexpr std::int32_t confirming_share = 2'500;

// The reclaim work by which the pod causes the stall: of its own stall all of it, of the node's and of other pods' only
// what it did not at a limit of its own.
[[nodiscard]] Bytes work_for(const MetStall& stall, const ObservedPod& pod);

// Whether the pod may cause the stall, so that evicting it can be expected to end it. The node's waiting for memory any
// pod may end by giving some, unless all reclaim work was done at pods' own limits. A pod's own waiting may be for its
// own limit, which no other pod's memory eases: who does reclaim work causes it. So with io: what that work takes is
// read again; without it the disk is busy with something that is not counted here. CPU time the kernel shares out as
// the requests say, and nobody has to die for it.
[[nodiscard]] bool may_cause(const MetStall& stall, const ObservedPod& pod);
// Where no pod does, the stall is only reported.
[[nodiscard]] bool has_culprit(const MetStall& stall, const Observation& observation);

// What is met at this look. A stall of ten seconds is still in its window when its cause is gone: what was lost before
// the last victim ended is not held against anybody, so a threshold acts only once its window begins after that.
struct StallPass {
    std::vector<MetStall> merged;     // met; grace period ignored
    std::vector<MetStall> satisfied;  // of those, the ones past their grace period
    std::vector<MetStall> acting;  // of those, the ones somebody causes whose window lies behind the last victim's end
};
[[nodiscard]] StallPass pass_stalls(const EvictionConfig& config, const Observation& observation, const State& state);

// Fills in what the decision tells of stalls, and what is remembered of them. Tasks of the node that wait for memory
// are memory pressure: MemoryPressure is what the scheduler and admission act on. A pod's own stall is none: it may
// wait for its own limit on a node that has memory to spare. Io and cpu trip none.
void report_stalls(const StallPass& pass, const State& before, MonotonicTime now, Decision& decision, State& next);

// When a stall that is met begins to act, if nothing changes until then.
[[nodiscard]] std::optional<MonotonicTime> next_stall_clock(const StallPass& pass, const State& state,
                                                            MonotonicTime now);

// `ranking` (the kubelet's order for memory) with those in front who cause the stall: the lowest priority first, then
// who did most of the work. Where nobody did any, the order stays.
void rank_by_stall(const MetStall& stall, const Observation& observation, std::vector<RankedPod>& ranking);

// Whether a threshold on memory may evict under confirm_pressure: tasks stall, or the kernel had to kill. Where
// nobody counts stalls it always may: an old protection is not given up for a new one that is not there.
[[nodiscard]] bool is_confirmed(const Observation& observation);

// The message of a pod evicted for a stall. It begins as the kubelet's does, for those who search for that.
[[nodiscard]] std::string stall_message(const MetStall& stall);

// For people: "tasks of the node stalled on memory for 45% of the last 1s (some), threshold 10%".
[[nodiscard]] std::string say_stall(const MetStall& stall, const Observation& observation);
// "87.5%"
[[nodiscard]] std::string say_share(std::int64_t hundredths);
[[nodiscard]] std::int64_t share_of(const MetStall& stall);

}  // namespace evictd::policy
