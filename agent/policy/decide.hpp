// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The policy: what to do about one look at the node. Pure: no clock, no I/O, no log, no randomness, and it cannot fail.
// The same arguments give the same verdict, which is what replay, the golden tests and the fuzzers rest on.
#pragma once

#include "evictd/model/config.hpp"
#include "evictd/model/decision.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/state.hpp"

namespace evictd::policy {

struct Verdict {
    Decision decision;
    State state;  // to be handed back at the next look
};

// managerImpl.synchronize of eviction_manager.go. Observations come in the order of their time; the outcomes of a
// decision's actions come with the next one. Begin with a State{}.
[[nodiscard]] Verdict decide(const EvictionConfig& config, const Observation& observation, const State& state);

}  // namespace evictd::policy
