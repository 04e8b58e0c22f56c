// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the kernel is to watch until the next look.
#pragma once

#include "evictd/model/config.hpp"
#include "evictd/model/decision.hpp"
#include "evictd/model/kernel_watch.hpp"
#include "evictd/model/observation.hpp"

namespace evictd::policy {

// Percentages follow the capacity: a new limit of the pods' cgroup moves the lines.
[[nodiscard]] KernelWatch watch_for(const EvictionConfig& config, const Observation& observation,
                                    const Decision& decision);

// Some threshold is met, or a victim is on its way.
[[nodiscard]] bool under_pressure(const Decision& decision);

// Some threshold is met, whether its grace period is over or not.
[[nodiscard]] bool is_met_or_pending(const Decision& decision);

}  // namespace evictd::policy
