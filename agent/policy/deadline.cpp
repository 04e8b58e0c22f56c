// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// In 128 bits: a deadline of centuries, or a start that a file made up, is no reason to end a pod.
#include "deadline.hpp"

#include "evictd/model/quantity.hpp"

namespace evictd::policy {

bool past_active_deadline(const Pod& pod, WallTime now) {
    if (!pod.active_deadline || !pod.start_time) return false;
    constexpr Int128 nano = Duration(std::chrono::seconds(1)).count();
    const Int128 active = Int128{now.time_since_epoch().count()} - pod.start_time->time_since_epoch().count();
    return active >= pod.active_deadline->count() * nano;
}

}  // namespace evictd::policy
