// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How many requests the API server was sent, what it answered and how long that took: for metrics, not for decisions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "evictd/model/names.hpp"
#include "evictd/model/pod_status.hpp"
#include "evictd/model/units.hpp"

namespace evictd {

struct ApiFigures {
    // A watch is counted when it ends, as WATCH, and is in no duration: it lasts as long as was asked for.
    struct Requests {
        std::string method;
        long code = 0;  // 0: no answer
        std::uint64_t count = 0;
    };
    // Upper bounds. Those of client-go's rest_client_request_duration_seconds, of which the last two are for servers
    // that are overloaded.
    static constexpr std::array<double, 12> bounds{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60};

    std::vector<Requests> requests;
    std::array<std::uint64_t, bounds.size() + 1> durations{};  // each in its own bucket only; the last: longer than all
    Duration time_spent{0};                                    // the sum of the durations
    std::uint64_t dropped = 0;                                 // requests that found the queue full
};

// What came of the requests that end pods.
struct PodStatusFigures {
    std::array<std::uint64_t, Names<PodStatusResult>::words.size()> results{};
    std::uint64_t retries = 0;  // sent again because there was no answer
    std::uint64_t waiting = 0;  // now: not answered yet
};

struct ApiUse {
    ApiFigures requests;
    PodStatusFigures pods;
};

}  // namespace evictd
