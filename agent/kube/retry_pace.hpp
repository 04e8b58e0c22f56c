// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// When a server is asked again after a failure, as the Reflector has it (client-go): twice as late with each failure in
// a row, with up to as much again at random, so that a server that comes back is not asked by thousands of agents at
// the same moment.
#pragma once

#include <chrono>
#include <cstdint>
#include <random>
#include <utility>

#include "evictd/model/back_off.hpp"
#include "evictd/model/units.hpp"

namespace evictd::kube {

class RetryPace {
public:
    RetryPace(Duration first, Duration longest) : first_(first), longest_(longest), random_(std::random_device{}()) {}

    // `was_heard`: the server answered, and refused or ended what was asked of it. The first that it answers after it
    // could not be reached counts as a first failure: what an outage lasted says nothing of a server that is back, and
    // one that has just started refuses a first request as a rule (its rights are not loaded, the resource version is
    // too old).
    [[nodiscard]] Duration after_failure(bool was_heard) {
        if (!std::exchange(was_heard_, was_heard) && was_heard) failures_ = 0;
        const auto pause = back_off(first_, longest_, ++failures_);
        const double more = static_cast<double>(random_() % 1024) / 1024;
        return pause + std::chrono::duration_cast<Duration>(pause * more);
    }
    // It works.
    void begin_anew() { failures_ = 0; }

private:
    Duration first_;
    Duration longest_;
    bool was_heard_ = true;      // at the last failure
    std::int32_t failures_ = 0;  // in a row
    std::mt19937_64 random_;
};

}  // namespace evictd::kube
