// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// When to look again if nothing happens before, and why. What makes the agent look at once is not here: the kernel's
// events, other pods, another configuration. Pure, as all of policy.
#pragma once

#include <optional>

#include "evictd/model/config.hpp"
#include "evictd/model/decision.hpp"
#include "evictd/model/next_look.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/state.hpp"

namespace evictd::policy {

struct Clock {
    MonotonicTime at;
    NextLookReason why = NextLookReason::period;
};

// Clocks known only to the step of decide() that sets them.
struct StepClocks {
    std::optional<MonotonicTime> stall;
    std::optional<MonotonicTime> awaited;
};

// The next moment at which the verdict may change though nothing happens.
[[nodiscard]] std::optional<Clock> next_clock(const EvictionConfig& config, const Decision& decision,
                                              const State& state, const StepClocks& steps,
                                              const Observation& observation);

// That, or what calls for an earlier look. `decision` has all else that is decided.
[[nodiscard]] NextLook next_look(const EvictionConfig& config, const Observation& observation, const Decision& decision,
                                 const std::optional<Clock>& clock);

}  // namespace evictd::policy
