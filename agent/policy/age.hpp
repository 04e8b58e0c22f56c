// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How long ago something was. As Go's time.Time.Sub the answer saturates: what is centuries apart is as far apart as a
// duration can tell. Reads no clock.
#pragma once

#include "evictd/model/units.hpp"

namespace evictd::policy {

// Negative for what is still to come.
[[nodiscard]] constexpr Duration age(WallTime now, WallTime then) {
    Duration::rep nanoseconds = 0;
    if (__builtin_sub_overflow(now.time_since_epoch().count(), then.time_since_epoch().count(), &nanoseconds)) {
        return now < then ? Duration::min() : Duration::max();
    }
    return Duration(nanoseconds);
}

}  // namespace evictd::policy
