// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Judges a round of the soak: from the agent's event log, and from which processes died.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "node.hpp"

namespace evictd::soak {

class Witness {
public:
    explicit Witness(std::string log) : log_(std::move(log)) {}
    // What was wrong since the last call; `innocents` and `hostile` are the pods of the round. `settled` (seconds of
    // the day): since then all hostile pods hold what they will hold, but for those that grow.
    Words judge(const std::vector<Pod>& innocents, const std::vector<Pod>& hostile, double settled);
    [[nodiscard]] std::size_t evictions() const { return evictions_; }

private:
    struct Event {
        std::string reason;
        std::string pod;
        double seconds = 0;        // of the day
        double available_mib = 0;  // of a threshold
        std::string line;
    };
    std::vector<Event> unread();
    static Words judge_victims(const std::vector<Event>& events, const std::vector<Pod>& hostile, double settled);

    std::string log_;
    std::size_t read_ = 0;
    std::size_t evictions_ = 0;
};

}  // namespace evictd::soak
