// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How fast memory and disks run out: the rates in the state go on with this look, and the decision says when and by
// whom.
#pragma once

#include "decide.hpp"
#include "evictd/model/config.hpp"
#include "evictd/model/observation.hpp"

namespace evictd::policy {

// After the victims were followed: what one gives back ends the rates before it.
void follow_trends(const EvictionConfig& config, const Observation& observation, Verdict& verdict);

}  // namespace evictd::policy
