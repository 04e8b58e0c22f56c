// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// When no victim may be chosen because it is not known which pod uses most: pods whose manifest is late, and looks that
// could not read the pods' usage. The kubelet knows every pod that it starts, and evicts none where its summary failed.
#pragma once

#include <optional>
#include <string>

#include "decide.hpp"
#include "evictd/model/config.hpp"
#include "evictd/model/decision.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/state.hpp"
#include "explain.hpp"

namespace evictd::policy {

// What the eviction of `first` for memory waits for: unknown pods that would come before it if they were BestEffort and
// of its priority. None if that cannot save it: each holds less than `first`, and all together too little to end the
// pressure. None of an age beyond unknown_pod_period, and none at all once evictions have waited for so long: then they
// are as slow as the kubelet's.
[[nodiscard]] std::optional<AwaitedPods> awaited_before(const RankedPod& first, const EvictionConfig& config,
                                                        const Observation& observation, const State& state);

// Whether any eviction for memory waits until all pods' cgroups are opened; as long as for unknown pods.
[[nodiscard]] bool waits_for_list(const Observation& observation, const State& state);

// Remembers since when evictions wait, until there is one. A wait that began twice the period ago is forgotten:
// pressure that comes and goes meanwhile begins no new one.
void remember_waiting(Course course, const Decision& decision, MonotonicTime now, State& state);

// When to look again because of it.
[[nodiscard]] std::optional<MonotonicTime> next_awaited_clock(Course course, const Decision& decision,
                                                              MonotonicTime now);

// "a pod whose manifest is not known yet (UID 1234..., 80Mi) may come before default/web; ..."
[[nodiscard]] std::string say_awaited(const AwaitedPods& awaited, const Observation& observation);

}  // namespace evictd::policy
