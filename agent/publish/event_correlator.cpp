// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "publish/event_correlator.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace evictd::publish {
namespace {

// defaultAggregateMaxEvents and defaultAggregateIntervalInSeconds. maxLruCacheEntries is 4096 there, for all of a
// cluster's controllers.
constexpr std::size_t most_similar = 10;
constexpr Duration similar_within = std::chrono::minutes(10);
constexpr std::size_t most_kept = 1024;

std::string object_key(const codec::KubeObject& object) {
    return object.kind + "/" + object.name_space + "/" + object.name + "/" + object.uid;
}

template <class Map>
void forget_oldest_of(Map& map) {
    if (map.size() <= most_kept) return;
    map.erase(std::min_element(map.begin(), map.end(),
                               [](const auto& a, const auto& b) { return a.second.last < b.second.last; }));
}

}  // namespace

// makeEventName: the object's name and the time. A name is used once, and is a DNS subdomain.
std::string EventCorrelator::fresh_name(const codec::KubeEvent& event) {
    last_name_ = std::max(last_name_ + 1, static_cast<std::int64_t>(event.last.time_since_epoch().count()));
    return codec::kube_event_name(event.object.name, fmt::format("{:x}", last_name_));
}

std::optional<EventCorrelator::Correlated> EventCorrelator::once(codec::KubeEvent event, MonotonicTime now) {
    auto& seen = seen_[event.name_space() + "/" + event.name];
    seen.last = now;
    if (seen.count++ > 0) return std::nullopt;
    forget_oldest_of(seen_);
    return Correlated{std::move(event), false};
}

std::optional<EventCorrelator::Correlated> EventCorrelator::correlate(codec::KubeEvent event, MonotonicTime now) {
    if (!event.name.empty()) return once(std::move(event), now);
    if (limiter_.admit({object_key(event.object), {}}, now) == 0) return std::nullopt;
    const auto group = object_key(event.object) + "|" + std::string(name(event.severity)) + "|" + event.reason;
    auto key = group + "|" + event.object.field_path + "|" + event.message;
    auto& similar = similar_[group];
    if (now - similar.last > similar_within) similar.messages.clear();
    similar.messages.insert(event.message);
    similar.last = now;
    if (similar.messages.size() >= most_similar) {
        similar.messages.erase(similar.messages.begin());
        event.message = "(combined from similar events): " + event.message;
        event.annotations.clear();
        key = group;
    }
    auto& seen = seen_[key];
    const bool is_again = seen.count > 0;
    if (!is_again) {
        seen.name = fresh_name(event);
        seen.first = event.first;
    }
    seen.last = now;
    event.count = ++seen.count;
    event.name = seen.name;
    event.first = seen.first;
    forget_oldest_of(similar_);
    forget_oldest_of(seen_);
    return Correlated{std::move(event), is_again};
}

}  // namespace evictd::publish
