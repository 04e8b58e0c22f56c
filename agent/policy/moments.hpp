// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Adding to a time what a person wrote in a file: a period of centuries ends at the end of time, not before now.
#pragma once

#include "evictd/model/units.hpp"

namespace evictd::policy {

[[nodiscard]] constexpr MonotonicTime after(MonotonicTime time, Duration duration) {
    if (duration > Duration::zero() && time > MonotonicTime::max() - duration) return MonotonicTime::max();
    return time + duration;
}

}  // namespace evictd::policy
