// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "publish/event_limiter.hpp"

#include <algorithm>
#include <utility>

namespace evictd::publish {
namespace {

// Looking for idle buckets reads all of them: not at each event of a pod for which there is no room.
constexpr Duration drop_idle_every = std::chrono::seconds(10);

}  // namespace

std::size_t EventLimiter::Hash::operator()(const EventKey& key) const {
    return std::hash<std::string>()(key.pod) * 31U + std::hash<std::string>()(key.kind);
}

std::uint64_t EventLimiter::admit(const EventKey& key, MonotonicTime now, std::uint64_t count) {
    Bucket& bucket = bucket_of(key, now);
    bucket.used_at = now;
    const auto full_at = std::max(bucket.full_at, now);
    if (full_at - now > (limits_.burst - 1) * limits_.refill) {
        bucket.held_back++;
        bucket.counted += count;
        return 0;
    }
    bucket.full_at = full_at + limits_.refill;
    bucket.held_back = 0;
    return std::exchange(bucket.counted, 0U) + count;
}

EventLimiter::Bucket& EventLimiter::bucket_of(const EventKey& key, MonotonicTime now) {
    if (const auto found = buckets_.find(key); found != buckets_.end()) {
        return found->second;
    }
    if (buckets_.size() >= limits_.most_buckets && now >= drop_idle_at_) {
        drop_idle(now);
    }
    return buckets_.size() < limits_.most_buckets ? buckets_[key] : overflow_;
}

// A full bucket is as good as none.
void EventLimiter::drop_idle(MonotonicTime now) {
    drop_idle_at_ = now + drop_idle_every;
    std::erase_if(buckets_,
                  [&](const auto& entry) { return entry.second.full_at <= now && entry.second.held_back == 0; });
}

std::uint64_t EventLimiter::forget(const std::function<bool(const std::string& pod)>& gone, MonotonicTime now) {
    std::uint64_t never_reported = 0;
    std::erase_if(buckets_, [&](const auto& entry) {
        const auto& [key, bucket] = entry;
        if (key.pod.empty() || now - bucket.used_at < limits_.refill || !gone(key.pod)) {
            return false;
        }
        never_reported += bucket.held_back;
        return true;
    });
    return never_reported;
}

}  // namespace evictd::publish
