// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Pods that go for another reason than pressure, each kind by a setting of its own: NoExecute taints (taints.hpp),
// active deadlines (deadline.hpp), ended pods that are too many (pod_gc.hpp). Those files say which; this one begins
// and follows the requests. It signals no process.
#pragma once

#include <optional>
#include <string>

#include "evictd/model/config.hpp"
#include "evictd/model/decision.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/state.hpp"

namespace evictd::policy {

// Nothing is begun while the API server's word on the pods, or for taints on the node, is not up to date, nor while the
// node shuts down. A pod that is being evicted is left to that. Before desire_removals().
void follow_removals(const EvictionConfig& config, const Observation& observation, State& state, Decision& decision);

// What is not answered yet becomes part of `decision.pod_statuses`, one for each pod, and only while it would be begun:
// a request that waits for the API server is withdrawn when its reason is gone or not known. After
// desire_pod_statuses().
void desire_removals(const State& state, const Observation& observation, Decision& decision);

// The attempts so far, for whoever asks the API server for something else of this pod; the removal is over.
[[nodiscard]] std::int32_t take_over_removal(const PodUid& pod, State& state);

[[nodiscard]] std::optional<MonotonicTime> next_removal_clock(const EvictionConfig& config, const State& state,
                                                              const Observation& observation);

// "; default/web is deleted: ..."; empty where there is nothing to say.
[[nodiscard]] std::string say_removals(const Decision& decision, MonotonicTime now);

}  // namespace evictd::policy
