// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The events of what the node gives back: before a pod is evicted, and of orphans.
#pragma once

#include <vector>

#include "event.hpp"

namespace evictd::codec {

// That a reclaim began, or whether what it gave back was enough; and each orphan that was removed, or that would be
// where they are only reported.
void add_reclaim(const Tick& tick, std::vector<Event>& events);

}  // namespace evictd::codec
