// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Namespaces whose events the API server forbids (403): a webhook, missing rights there. Each is left
// alone with a back-off of its own, so that it delays no event of another. Time is an argument.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "evictd/model/units.hpp"

namespace evictd::publish {

class EventHolds {
public:
    // 1 s, then twice as long each time, up to 5 min. After so many refusals, nearly an hour, the namespace's events
    // are not worth keeping: the API server itself keeps one for an hour (--event-ttl).
    static constexpr Duration shortest = std::chrono::seconds(1);
    static constexpr Duration longest = std::chrono::minutes(5);
    static constexpr int most_refusals = 20;

    // The server forbade an event of this namespace. `factor`: of the pause, around 1. How many times in a row it has.
    int refuse(const std::string& name_space, MonotonicTime now, double factor);
    void accept(const std::string& name_space) { holds_.erase(name_space); }
    // When the next event of it may be sent; the clock's beginning where it is not held.
    [[nodiscard]] MonotonicTime until(const std::string& name_space) const;
    // For longer than by a server that has just started (port::longest_start).
    [[nodiscard]] bool is_lasting(const std::string& name_space) const;

private:
    struct Hold {
        int refusals = 0;
        Duration pause{0};
        MonotonicTime since;
        MonotonicTime until;
    };
    std::map<std::string, Hold> holds_;
};

}  // namespace evictd::publish
