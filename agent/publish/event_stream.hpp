// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The events of a Record as every publisher of events reports them: made once, and limited for each pod and reason, so
// that no pod can rotate the event log away. Metrics and status do not use it: they count what the Record has.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "codec/event.hpp"
#include "evictd/model/record.hpp"
#include "publish/event_limiter.hpp"
#include "sys/clock.hpp"

namespace evictd::publish {

// For one lane, and for all publishers in it.
class EventStream {
public:
    EventStream() = default;
    explicit EventStream(const sys::Clock& clock, EventLimits limits = {}) : clock_(&clock), limiter_(limits) {}

    // The same answer for the same record, however many publishers ask. Good until the next record's.
    [[nodiscard]] const std::vector<codec::Event>& of(const RecordPtr& record);

    // Any thread. Events held back so far, and those of them that no later event will report: their pod is gone.
    [[nodiscard]] std::uint64_t held_back() const { return held_back_; }
    [[nodiscard]] std::uint64_t never_reported() const { return never_reported_; }

private:
    void limit(std::vector<codec::Event>& events);
    void forget_gone(const Tick& tick);

    sys::SystemClock system_clock_;
    const sys::Clock* clock_ = &system_clock_;
    EventLimiter limiter_;
    RecordPtr record_;
    std::vector<codec::Event> events_;  // of record_
    MonotonicTime forget_at_;
    std::atomic<std::uint64_t> held_back_ = 0;
    std::atomic<std::uint64_t> never_reported_ = 0;
};

// What may be held back, and in which series; none: it is always reported. Apart for tests.
[[nodiscard]] std::optional<EventKey> limited_as(const codec::Event& event);

}  // namespace evictd::publish
