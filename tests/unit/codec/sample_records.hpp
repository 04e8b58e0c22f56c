// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A node with a handful of pods, under pressure: the records that codec's and publish's tests start from.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "evictd/model/record.hpp"

namespace evictd::sample {

using namespace std::chrono_literals;

inline MonotonicTime monotonic(Duration since_boot) { return MonotonicTime{since_boot}; }
// 2026-01-01T00:00:00Z, at 1000 s after boot.
inline WallTime start() { return WallTime{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}}; }
constexpr Duration look_at = 1000s;

inline ObservedPod pod(const std::string& name, Bytes working_set, std::uint64_t cgroup, std::int32_t priority = 0) {
    auto made = std::make_shared<Pod>();
    made->uid = PodUid{"uid-" + name};
    made->name_space = "default";
    made->name = name;
    made->priority = priority;
    made->source = name + ".yaml";
    ObservedPod observed;
    observed.pod = std::move(made);
    observed.usage = PodUsage{working_set + 10_MiB, working_set, working_set, 10_MiB, 3};
    observed.cgroup = CgroupId{cgroup};
    observed.populated = true;
    return observed;
}

inline Threshold threshold(Bytes value, Duration grace = 0s) {
    Threshold made;
    made.value.value = Quantity::of(value.value, Quantity::Format::binary_si);
    made.grace_period = grace;
    return made;
}

inline MetThreshold met(Bytes value = 100_MiB, Bytes available = 95_MiB, Duration grace = 0s) {
    return {threshold(value, grace), Amount{value.value}, Amount{available.value}, Amount{(3_GiB).value},
            monotonic(look_at)};
}

// Memory fell below 100Mi at 1000 s - 300 us; the look is at 1000 s.
inline Cause fell_below() {
    Cause cause;
    cause.kind = CauseKind::kernel_event;
    cause.event =
        KernelEvent{monotonic(look_at - 300us), WatermarkCrossed{Signal::memory_available, true, 100_MiB, 95_MiB}};
    cause.detected_at = monotonic(look_at - 250us);
    return cause;
}

inline RankedPod ranked(std::uint32_t index, Bytes usage, Bytes request, Exemption exemption = Exemption::none) {
    RankedPod row;
    row.pod = index;
    row.exemption = exemption;
    row.qos = request.value > 0 ? QosClass::burstable : QosClass::best_effort;
    row.has_usage = true;
    row.exceeds_request = usage > request;
    row.usage = Amount{usage.value};
    row.request = Amount{request.value};
    return row;
}

inline Eviction eviction() {
    Eviction chosen;
    chosen.pod = PodUid{"uid-hog"};
    chosen.threshold = met();
    chosen.grace_period = 1s;
    chosen.message = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 95Mi. ";
    return chosen;
}

// A look with nothing to say.
inline Tick calm() {
    Tick tick;
    tick.observation.cause.kind = CauseKind::timer;
    tick.observation.at = monotonic(look_at);
    tick.observation.wall = start();
    tick.observation.readings[0] = Reading{Amount{(1_GiB).value}, Amount{(3_GiB).value}, monotonic(look_at)};
    tick.observation.pods = {pod("hog", 900_MiB, 11), pod("web", 300_MiB, 12), pod("dns", 500_MiB, 13, 2'000'000'000)};
    tick.decision.ranking = {ranked(0, 900_MiB, 0_MiB), ranked(1, 300_MiB, 400_MiB),
                             ranked(2, 500_MiB, 70_MiB, Exemption::critical)};
    tick.decision.ranking[2].priority = 2'000'000'000;
    tick.decision.why = "Nothing to do: no threshold is met.";
    tick.decided_at = monotonic(look_at + 40us);
    tick.pods_root = "/kubepods.slice";
    return tick;
}

// The look that evicts default/hog.
inline Tick evicting() {
    Tick tick = calm();
    tick.observation.cause = fell_below();
    tick.kernel_events = {*tick.observation.cause.event};
    tick.observation.readings[0]->available = Amount{(95_MiB).value};
    tick.decision.thresholds_met = {met()};
    tick.decision.threshold_edges = {{true, met()}};
    tick.decision.conditions = {Condition::memory_pressure};
    tick.decision.condition_edges = {{Condition::memory_pressure, true}};
    tick.decision.evict = eviction();
    tick.decision.why = "memory.available is 95Mi, below its hard threshold of 100Mi: default/hog goes first.";
    Outcome outcome;
    outcome.action = {ActionKind::kill, PodUid{"uid-hog"}, "default/hog"};
    outcome.decided_at = monotonic(look_at + 40us);
    outcome.delivered_at = monotonic(look_at + 240us);
    outcome.processes = 3;
    outcome.method = "cgroup.kill";
    tick.outcomes = {outcome};
    return tick;
}

inline Victim victim() {
    Victim gone;
    gone.pod = PodUid{"uid-hog"};
    gone.pod_name = "default/hog";
    gone.usage = 900_MiB;
    gone.eviction = eviction();
    gone.cause = fell_below();
    gone.decided_at = monotonic(look_at + 40us);
    gone.killed_at = monotonic(look_at + 240us);
    gone.emptied_at = monotonic(look_at + 12ms);
    return gone;
}

// The look that finds default/hog gone.
inline Tick evicted() {
    Tick tick = calm();
    tick.observation.at = monotonic(look_at + 13ms);
    tick.observation.wall = start() + 13ms;
    tick.decision.finished = {victim()};
    return tick;
}

}  // namespace evictd::sample
