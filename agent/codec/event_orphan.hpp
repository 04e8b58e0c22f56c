// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The events of orphans: what was left of pods that are gone, and went.
#pragma once

#include <vector>

#include "event.hpp"

namespace evictd::codec {

// One for each that went, or that would go where they are only reported.
void add_orphans(const ReclaimOutcome& outcome, const Tick& tick, std::vector<Event>& events);

}  // namespace evictd::codec
