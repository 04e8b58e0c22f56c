// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// When a server is asked again after a failure, as the Reflector has it (client-go): each pause is twice as long as the
// one before, with up to as much again at random, so that a server that comes back is not asked by thousands of agents
// at the same moment. Unlike the Reflector's, the pauses begin anew with the first answer after an outage.
#pragma once

#include <chrono>
#include <random>

#include "evictd/model/back_off.hpp"
#include "evictd/model/units.hpp"

namespace evictd::kube {

class RetryPace {
public:
    // `longest` is without the random part.
    RetryPace(Duration first, Duration longest) : first_(first), longest_(longest), random_(std::random_device{}()) {}

    // `was_heard`: as ServerFailures has it.
    [[nodiscard]] Duration after_failure(bool was_heard) {
        const auto pause = back_off(first_, longest_, failures_.add(was_heard));
        const double more = static_cast<double>(random_() % 1024) / 1024;
        return pause + std::chrono::duration_cast<Duration>(pause * more);
    }
    // After a success.
    void reset() { failures_.clear(); }

private:
    Duration first_;
    Duration longest_;
    ServerFailures failures_;
    std::mt19937_64 random_;
};

}  // namespace evictd::kube
