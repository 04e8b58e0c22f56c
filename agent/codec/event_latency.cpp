// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "event_latency.hpp"

#include <algorithm>
#include <optional>
#include <variant>

namespace evictd::codec {
namespace {

// A span that both ends bound. Clocks are one and the same, so a negative one is a source's rounding: 0.
std::optional<Duration> between(MonotonicTime from, MonotonicTime to) {
    if (from == MonotonicTime{} || to == MonotonicTime{}) return std::nullopt;
    return std::max(to - from, Duration::zero());
}

}  // namespace

EventLatency latency_to_kill(const Cause& cause, MonotonicTime decided_at, MonotonicTime delivered_at) {
    EventLatency result;
    result.decide = between(cause.detected_at, decided_at);
    result.act = between(decided_at, delivered_at);
    // A stall trigger carries the time at which we read it: when the kernel saw the crossing is not known.
    if (cause.kind == CauseKind::kernel_event && cause.event &&
        !std::holds_alternative<StallTriggered>(cause.event->kind)) {
        result.detect = between(cause.event->time, cause.detected_at);
        result.total = between(cause.event->time, delivered_at);
    }
    return result;
}

EventLatency latency_of(const Victim& victim) {
    EventLatency result;
    if (victim.eviction.immediate) {
        result = latency_to_kill(victim.cause, victim.decided_at, victim.killed_at);
    } else {
        // Between the cause and this kill lies the grace period, which is no latency of ours.
        result.act = between(victim.decided_at, victim.killed_at);
    }
    result.empty = between(victim.killed_at, victim.emptied_at);
    return result;
}

}  // namespace evictd::codec
