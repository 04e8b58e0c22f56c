// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which kube event is the same as one before, and which are so similar that they become one: client-go's
// EventCorrelator (tools/record/events_cache.go), with its figures. Time is an argument.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "codec/kube_event.hpp"
#include "publish/event_limiter.hpp"

namespace evictd::publish {

class EventCorrelator {
public:
    struct Correlated {
        codec::KubeEvent event;  // with its name, count and first time
        bool is_again = false;   // an event of this name was made before: its count changes
    };
    // None: its object has had too many, or it has a name and was made before.
    [[nodiscard]] std::optional<Correlated> correlate(codec::KubeEvent event, MonotonicTime now);

private:
    struct Similar {
        std::set<std::string> messages;
        MonotonicTime last;
    };
    struct Seen {
        std::string name;
        WallTime first;
        std::uint64_t count = 0;
        MonotonicTime last;
    };
    [[nodiscard]] std::optional<Correlated> once(codec::KubeEvent event, MonotonicTime now);
    [[nodiscard]] std::string fresh_name(const codec::KubeEvent& event);

    EventLimiter limiter_;
    std::map<std::string, Similar> similar_;
    std::map<std::string, Seen> seen_;
    std::int64_t last_name_ = 0;
};

}  // namespace evictd::publish
