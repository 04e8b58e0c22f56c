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
    // Counts one and returns the number in a row, for back_off(). `was_heard`: the server answered this request. The
    // first answer after an outage starts the count at 1 again: a server that has just started often refuses the first
    // requests (authorization not ready, resource version too old), and the long pauses of the outage are not needed
    // any more. An outage is at least `outage` failures in a row without an answer. With fewer, the server is
    // overloaded rather than down, and the pauses go on growing.
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
