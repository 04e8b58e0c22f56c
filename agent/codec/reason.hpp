// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The reasons of the event stream. Every event that is emitted has one of them, and `evictd events --reason` accepts
// exactly these.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "evictd/model/names.hpp"

namespace evictd::codec {

enum class Reason : std::uint8_t {
    agent_started,
    agent_stopped,
    signal_source_changed,
    eviction_threshold_met,
    eviction_threshold_cleared,
    node_has_memory_pressure,
    node_has_no_memory_pressure,
    node_has_disk_pressure,
    node_has_no_disk_pressure,
    node_has_pid_pressure,
    node_has_no_pid_pressure,
    reclaim_started,
    reclaim_succeeded,
    reclaim_insufficient,
    orphan_removed,
    pod_squeezed,
    pod_frozen,
    pod_released,
    evicting,
    evicted,
    eviction_failed,
    eviction_delayed,
    memory_not_returned,
    oom_killing,
    pod_at_memory_limit,
    memory_stall,
    io_stall,
    cpu_stall,
    socket_memory_pressure,
    sockets_shed,
    sockets_restored,
    pod_rejected,
    pod_not_admitted,
    look_incomplete,
    oom_score_adjusted,
    kernel_events_lost,
    config_reloaded,
    config_rejected,
    eviction_reported,
    eviction_not_delivered,
    eviction_resumed,
    evicted_pod_restarted,
    eviction_settled,
    eviction_withdrawn,
    taint_eviction,
    deadline_exceeded,
    pod_collected,
    removal_failed,
};

}  // namespace evictd::codec

namespace evictd {

template <>
struct Names<codec::Reason> {
    static constexpr Words<48> words{"AgentStarted",
                                     "AgentStopped",
                                     "SignalSourceChanged",
                                     "EvictionThresholdMet",
                                     "EvictionThresholdCleared",
                                     "NodeHasMemoryPressure",
                                     "NodeHasNoMemoryPressure",
                                     "NodeHasDiskPressure",
                                     "NodeHasNoDiskPressure",
                                     "NodeHasPIDPressure",
                                     "NodeHasNoPIDPressure",
                                     "ReclaimStarted",
                                     "ReclaimSucceeded",
                                     "ReclaimInsufficient",
                                     "OrphanRemoved",
                                     "PodSqueezed",
                                     "PodFrozen",
                                     "PodReleased",
                                     "Evicting",
                                     "Evicted",
                                     "EvictionFailed",
                                     "EvictionDelayed",
                                     "MemoryNotReturned",
                                     "OOMKilling",
                                     "PodAtMemoryLimit",
                                     "MemoryStall",
                                     "IOStall",
                                     "CPUStall",
                                     "SocketMemoryPressure",
                                     "SocketsShed",
                                     "SocketsRestored",
                                     "PodRejected",
                                     "PodNotAdmitted",
                                     "LookIncomplete",
                                     "OOMScoreAdjusted",
                                     "KernelEventsLost",
                                     "ConfigReloaded",
                                     "ConfigRejected",
                                     "EvictionReported",
                                     "EvictionNotDelivered",
                                     "EvictionResumed",
                                     "EvictedPodRestarted",
                                     "EvictionSettled",
                                     "EvictionWithdrawn",
                                     "TaintEviction",
                                     "DeadlineExceeded",
                                     "PodCollected",
                                     "RemovalFailed"};
};

}  // namespace evictd

namespace evictd::codec {

// The reason of an event: one of ours, or, in an event that was read, the word of another version.
class EventReason {
public:
    EventReason() = default;
    EventReason(Reason reason) : text_(name(reason)) {}  // NOLINT(google-explicit-constructor): it is one
    [[nodiscard]] static EventReason read(std::string text) {
        EventReason reason;
        reason.text_ = std::move(text);
        return reason;
    }
    [[nodiscard]] const std::string& text() const { return text_; }
    friend bool operator==(const EventReason&, const EventReason&) = default;
    friend bool operator==(const EventReason& reason, Reason ours) { return reason.text_ == name(ours); }

private:
    std::string text_;
};

}  // namespace evictd::codec
