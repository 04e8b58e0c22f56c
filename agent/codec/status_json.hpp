// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What `evictd status` and `evictd rank` know, as one JSON document each: made by the agent from its last look, carried
// by the socket, rendered by status_text. Quantities are Kubernetes' text; a number's unit stands in its key.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "evictd/model/config.hpp"
#include "evictd/model/decision.hpp"
#include "evictd/model/record.hpp"
#include "evictd/model/scale_down.hpp"
#include "evictd/model/signal.hpp"
#include "evictd/model/signal_source.hpp"
#include "evictd/model/sockets.hpp"
#include "evictd/model/units.hpp"

namespace evictd::codec {

// What the agent is: changes only with its config or its sources.
struct AgentStatus {
    std::string node;
    std::string version;
    std::int64_t pid = 0;
    WallTime started;
    bool dry_run = false;
    std::string config_file;                         // empty: built-in defaults
    std::vector<Threshold> thresholds;               // all that are configured
    std::vector<StallThreshold> stalls;              // likewise
    std::vector<StallThreshold> uncounted_stalls{};  // of those, the ones that can never be met on this kernel
    std::vector<SourceRow> sources;
    std::vector<std::string> pod_sources;             // a description each
    std::vector<PodSourceState> pod_source_states{};  // of those that are servers
    MonotonicTime as_of{};                            // the clock's now, for their ages
};

// An order of eviction over the pods of one look. `places` says why, one sentence a row, or is empty.
struct VictimOrder {
    Signal signal = Signal::memory_available;
    std::vector<RankedPod> ranking;
    std::vector<std::string> places;
};

struct PastEviction {
    WallTime ended;
    Victim victim;
    bool dry_run = false;
};

struct StatusInput {
    const AgentStatus& agent;
    const Tick* tick = nullptr;  // none: the agent has not looked yet
    const VictimOrder& order;
    const std::vector<PastEviction>& last_evictions;   // newest last
    const std::map<std::string, std::uint64_t>& lost;  // by cause
    SocketsReading sockets{};                          // empty: they are not counted
};

[[nodiscard]] std::string status_json(const StatusInput& input);
[[nodiscard]] std::string rank_json(const AgentStatus& agent, const Tick& tick, const VictimOrder& order);
// The same for the order in which a ReplicaSet would give up pods.
[[nodiscard]] std::string scale_down_json(const AgentStatus& agent, const Tick& tick,
                                          const std::vector<ScaleDownPlace>& places);

}  // namespace evictd::codec
