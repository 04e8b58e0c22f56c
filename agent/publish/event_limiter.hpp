// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How often events of one kind may be reported for one pod: a token bucket each, with the figures of client-go's
// EventSourceObjectSpamFilter. What is held back is counted, and the next event reports the count. Time is an argument.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>

#include "evictd/model/units.hpp"

namespace evictd::publish {

struct EventLimits {
    // defaultSpamBurst and defaultSpamQPS of client-go's events_cache.go.
    int burst = 25;
    Duration refill = std::chrono::seconds(300);  // for one event
    // Every pod of a full node (16,384) with one kind of event each has no place, but the pods that report events at
    // the same time do. A bucket is some 200 bytes: at most 1 MB.
    std::size_t most_buckets = 4096;
};

struct EventKey {
    std::string pod;   // its UID; empty: of no known pod
    std::string kind;  // the reason, and what else tells two series apart
    friend bool operator==(const EventKey&, const EventKey&) = default;
};

class EventLimiter {
public:
    explicit EventLimiter(EventLimits limits = {}) : limits_(limits) {}

    // How much this event reports: its own count and those of the events that were held back since the last that was
    // let through. 0: this one is held back.
    [[nodiscard]] std::uint64_t admit(const EventKey& key, MonotonicTime now, std::uint64_t count = 1);
    // Drops the buckets of pods that are gone. A bucket that was used within the last refill is kept, so that a pod
    // that comes and goes gets no second burst. Returns how many events were held back and are never reported.
    std::uint64_t forget(const std::function<bool(const std::string& pod)>& gone, MonotonicTime now);
    [[nodiscard]] std::size_t buckets() const { return buckets_.size(); }

private:
    struct Bucket {
        MonotonicTime full_at;  // when every token is there again
        MonotonicTime used_at;
        std::uint64_t held_back = 0;  // events
        std::uint64_t counted = 0;    // what they report
    };
    struct Hash {
        std::size_t operator()(const EventKey& key) const;
    };
    Bucket& bucket_of(const EventKey& key, MonotonicTime now);
    void drop_idle(MonotonicTime now);

    EventLimits limits_;
    std::unordered_map<EventKey, Bucket, Hash> buckets_;
    Bucket overflow_;  // of all keys for which there is no room
    MonotonicTime drop_idle_at_;
};

}  // namespace evictd::publish
