// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "publish/event_stream.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_set>

namespace evictd::publish {
namespace {

// Reads the pods of a look: not at each of a hundred looks a second.
constexpr Duration forget_every = std::chrono::seconds(60);

// What the agent reports of itself and of what root gave it. No pod can cause these.
bool is_of_the_agent(const codec::EventReason& reason) {
    using codec::Reason;
    constexpr std::array<Reason, 6> reasons{Reason::agent_started,         Reason::agent_stopped,
                                            Reason::config_reloaded,       Reason::config_rejected,
                                            Reason::signal_source_changed, Reason::pod_rejected};
    return std::any_of(reasons.begin(), reasons.end(), [&](Reason own) { return reason == own; });
}

// A pod was sent a signal. A try that failed is no eviction, and may repeat for as long as the pod likes.
bool tells_of_an_eviction(const codec::Event& event) {
    return !event.dry_run && (event.reason == codec::Reason::evicted ||
                              (event.reason == codec::Reason::evicting && event.error.empty() && event.latency.act));
}

}  // namespace

std::optional<EventKey> limited_as(const codec::Event& event) {
    if (is_of_the_agent(event.reason) || tells_of_an_eviction(event)) {
        return std::nullopt;
    }
    EventKey key{event.pod ? event.pod->uid : event.unknown_pod.value, event.reason.text()};
    if (event.oom) {
        key.kind += event.oom->memcg ? " memcg" : " node";
    }
    if (event.threshold && !event.pod) {
        key.kind += event.threshold->hard ? " hard" : " soft";
        if (event.signal) {
            key.kind.append(" ").append(name(*event.signal));
        }
    }
    return key;
}

const std::vector<codec::Event>& EventStream::of(const RecordPtr& record) {
    if (record_ != record) {
        record_ = record;
        events_ = codec::events_of(*record);
        limit(events_);
        if (const auto* tick = std::get_if<Tick>(record.get())) {
            forget_gone(*tick);
        }
    }
    return events_;
}

void EventStream::limit(std::vector<codec::Event>& events) {
    const auto now = clock_->monotonic();
    std::erase_if(events, [&](codec::Event& event) {
        const auto key = limited_as(event);
        const auto count = key ? limiter_.admit(*key, now, event.count) : event.count;
        if (count == 0) {
            held_back_++;
            return true;
        }
        if (const auto more = count - event.count; more > 0) {
            event.count = count;
            event.message += " (and " + std::to_string(more) + " more since the last such event was reported)";
        }
        return false;
    });
}

void EventStream::forget_gone(const Tick& tick) {
    const auto now = clock_->monotonic();
    if (now < forget_at_ || limiter_.buckets() == 0) {
        return;
    }
    forget_at_ = now + forget_every;
    std::unordered_set<std::string_view> there;
    for (const auto& pod : tick.observation.pods) {
        there.insert(pod.pod->uid.value);
    }
    never_reported_ += limiter_.forget([&](const std::string& pod) { return !there.contains(pod); }, now);
}

}  // namespace evictd::publish
