// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How long to wait before what failed is tried again: twice as long after each failure in a row.
#pragma once

#include <algorithm>
#include <cstdint>

#include "evictd/model/units.hpp"

namespace evictd {

inline constexpr std::int32_t most_doublings = 6;  // more of them change nothing

// `failures`: in a row, at least 1. After the first it waits for `first`.
[[nodiscard]] constexpr Duration back_off(Duration first, Duration longest, std::int32_t failures) {
    return std::min(longest, first * (1 << std::clamp(failures - 1, 0, most_doublings)));
}

// Counts failed requests to one server in a row.
class ServerFailures {
public:
    // Counts one and returns the number in a row, for back_off(). `was_heard`: the server answered, and refused or
    // ended what was asked of it. After an outage the first answer begins the count anew: what an outage lasted says
    // nothing of a server that is back, and one that has just started refuses a first request as a rule (its rights are
    // not loaded, the resource version is too old). Fewer than `outage` in a row that were not heard are none: a server
    // that answers now and then is overloaded.
    [[nodiscard]] std::int32_t add(bool was_heard) {
        if (was_heard && unheard_ >= outage) count_ = 0;
        unheard_ = was_heard ? 0 : std::min(unheard_ + 1, outage);
        return ++count_;
    }
    void clear() { *this = {}; }  // after a success
    [[nodiscard]] bool any() const { return count_ > 0; }

private:
    static constexpr std::int32_t outage = 3;
    std::int32_t unheard_ = 0;  // in a row, up to `outage`
    std::int32_t count_ = 0;
};

}  // namespace evictd
