// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which pod the kernel's OOM killer should kill, if it is faster than evictd.
#pragma once

#include <optional>

#include "evictd/model/config.hpp"
#include "evictd/model/decision.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/state.hpp"

namespace evictd::policy {

// While a line on memory is crossed or near: a victim of it that still has its grace period, else the first pod that
// may be evicted, also while pods are ranked by another signal. None: no line is near, or it is not known who would be
// first.
[[nodiscard]] std::optional<PodUid> steer_to(const EvictionConfig& config, const Observation& observation,
                                             const State& state, const Decision& decision);

}  // namespace evictd::policy
