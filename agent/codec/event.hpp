// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The event stream as values: what happened, in the words users and their tools hold on to. Derived from a Record
// alone; written and read by event_json, shown by event_text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "evictd/model/ids.hpp"
#include "evictd/model/pod.hpp"
#include "evictd/model/record.hpp"
#include "evictd/model/signal.hpp"
#include "evictd/model/units.hpp"
#include "reason.hpp"

namespace evictd::codec {

enum class Severity : std::uint8_t { normal, warning };

}  // namespace evictd::codec

namespace evictd {

template <>
struct Names<codec::Severity> {
    static constexpr Words<2> words{"Normal", "Warning"};
};

}  // namespace evictd

namespace evictd::codec {

struct EventThreshold {
    bool hard = true;
    Amount value;  // a percentage already taken of the capacity
    Amount available;
    Amount capacity;
    Duration grace_period{0};
    Duration time_left{0};  // a threshold in time: `value` is what it came to
};

struct EventCondition {
    std::string type;
    bool status = true;
};

struct EventPod {
    std::string name_space;
    std::string name;
    std::string uid;
    std::optional<QosClass> qos;
    std::optional<std::int32_t> priority;
};

// The way from the kernel's event to the last process: what was not measured is absent, never 0.
struct EventLatency {
    std::optional<Duration> detect;  // kernel event to agent
    std::optional<Duration> decide;
    std::optional<Duration> act;    // decision to signal delivered
    std::optional<Duration> total;  // kernel event to signal delivered
    std::optional<Duration> empty;  // kill to last process gone
    std::optional<Duration> api{};  // decision to the API server's answer
    [[nodiscard]] bool any() const { return detect || decide || act || total || empty || api; }
};

// A kill by the kernel's OOM killer.
struct EventOom {
    std::string process;
    std::int32_t pid = 0;
    std::int32_t oom_score_adj = 0;
    std::string container;       // its name; empty: not known
    std::string cgroup;          // the name of its cgroup
    std::string role;            // "first_process", "child"; empty: not known
    bool group = false;          // with all of its cgroup (memory.oom.group)
    bool memcg = false;          // a cgroup's limit, not the whole machine
    std::optional<Bytes> usage;  // of that cgroup, when it happened
    std::optional<Bytes> limit;
};

// Memory that a pod without processes still holds.
struct EventOwed {
    std::optional<Bytes> bytes;
    std::string kind;  // that most of it is: "anon", "file", "shmem", "slab", "page_tables", "kernel"; empty: not known
};

struct Event {
    WallTime time;
    std::string node;  // filled when read from JSON; the writer names its own
    Severity severity = Severity::normal;
    EventReason reason;
    std::string message;
    std::optional<Signal> signal;
    std::optional<EventThreshold> threshold;
    std::optional<EventCondition> condition;
    std::optional<EventPod> pod;
    bool pod_is_unlisted = false;  // no source knows it: the container runtime names it. Not published either
    PodUid unknown_pod;            // instead of it: no source knows the pod. Not a part of what is published
    std::string container;         // of the pod; empty: not about one, or not known
    std::string cause;             // what the kernel said
    std::optional<EventOom> oom;
    std::optional<EventOwed> not_returned;
    std::optional<Bytes> reclaimed;
    std::optional<Bytes> limit;        // that a pod was given, or has hit
    std::optional<Duration> duration;  // of what has ended
    bool dry_run = false;
    std::uint64_t count = 1;  // how often it happened: this time, and those that were not reported
    EventLatency latency;
    std::string error;
    std::string id;      // of an eviction or an OOM kill, the same in all its events; for `evictd explain`
    HistoryPtr history;  // what led to it; null: none was kept
};

// What a Record says to the world, in the order in which it happened.
[[nodiscard]] std::vector<Event> events_of(const Record& record);

// One of the look that `tick` is, without a message. `at`: zero: when it was made.
[[nodiscard]] Event new_event(const Tick& tick, Severity severity, EventReason reason, MonotonicTime at);

// Whose event it is. Without the QoS class, which is the policy's to say.
[[nodiscard]] EventPod event_pod(const Pod& pod);

// The moment `at` of the look `observation`, for people.
[[nodiscard]] inline WallTime wall_time(const Observation& observation, MonotonicTime at) {
    return observation.wall + (at - observation.at);
}

}  // namespace evictd::codec
