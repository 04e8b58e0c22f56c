// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the event stream says of pods that are ended in the API as well, after their Evicted.
#pragma once

#include "event.hpp"
#include "evictd/model/ended_pod.hpp"

namespace evictd::codec {

struct EndStepEvent {
    Severity severity = Severity::normal;
    EventReason reason;
};
[[nodiscard]] EndStepEvent event_of(const EndStep& step);

// Message, pod, latency, error and id.
void tell_end_step(const EndStep& step, Event& event);

}  // namespace evictd::codec
