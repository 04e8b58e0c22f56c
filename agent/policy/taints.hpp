// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// NoExecute taints of this node: which pods have to go because of them, and when. Follows tainteviction.Controller.
// Deletes nobody, and knows nothing of taints that only keep new pods away.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "evictd/model/node_status.hpp"
#include "evictd/model/pod.hpp"
#include "evictd/model/removal.hpp"
#include "evictd/model/units.hpp"

namespace evictd::policy {

inline constexpr std::string_view no_execute = "NoExecute";
// TaintNodesByCondition's effect: pods that run already stay.
inline constexpr std::string_view no_schedule = "NoSchedule";

// Toleration.ToleratesTaint. An operator it does not know matches nothing.
[[nodiscard]] bool tolerates(const Toleration& toleration, const Taint& taint);

using evictd::TaintEviction;

// True while the pod must leave now or later for a taint that the node has: one that it does not tolerate, or tolerates
// for a time. More careful than the controller: an operator that evictd does not know tolerates for ever.
[[nodiscard]] bool has_to_leave(const Pod& pod, const std::vector<Taint>& taints);

struct TaintPass {
    std::vector<TaintEviction> due;      // delete now, in order of their time
    std::vector<TaintEviction> pending;  // hand back at the next pass; what is missing was cancelled
};

// One pass over the pods of the node with its taints as they are now. What fell due since the last pass is due, even
// if its taint is gone by now: the controller would have deleted the pod at that time. A pod that stays after it was
// due is judged anew, so the caller leaves out those it is deleting already.
[[nodiscard]] TaintPass pass_taints(const std::vector<Taint>& taints, const std::vector<PodPtr>& pods,
                                    const std::vector<TaintEviction>& pending, MonotonicTime now);

}  // namespace evictd::policy
