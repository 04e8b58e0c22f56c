// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How long to wait before what failed is tried again: twice as long after each failure in a row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "evictd/model/units.hpp"

namespace evictd {

inline constexpr std::int32_t most_doublings = 6;  // more of them change nothing

// `failures`: in a row, at least 1. After the first it waits for `first`.
[[nodiscard]] constexpr Duration back_off(Duration first, Duration longest, std::int32_t failures) {
    return std::min(longest, first * (1 << std::clamp(failures - 1, 0, most_doublings)));
}

// Failures in a row of a server.
class ServerFailures {
public:
    // One more: how many there are. `was_heard`: the server answered, and refused or ended what was asked of it. The
    // first that it answers after it could not be reached counts as a first failure: what an outage lasted says nothing
    // of a server that is back, and one that has just started refuses a first request as a rule (its rights are not
    // loaded, the resource version is too old).
    [[nodiscard]] std::int32_t add(bool was_heard) {
        if (!std::exchange(was_heard_, was_heard) && was_heard) count_ = 0;
        count_ = std::min(count_, most_doublings) + 1;
        return count_;
    }
    void clear() { count_ = 0; }  // it works
    [[nodiscard]] bool any() const { return count_ > 0; }

private:
    bool was_heard_ = true;  // at the last one
    std::int32_t count_ = 0;
};

}  // namespace evictd
