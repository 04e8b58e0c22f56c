// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What publishers get: one look from its cause to its outcomes, or a notice of the agent about itself.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "evictd/model/decision.hpp"
#include "evictd/model/held_memory.hpp"
#include "evictd/model/history.hpp"
#include "evictd/model/kernel_event.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/outcome.hpp"
#include "evictd/model/record_ptr.hpp"
#include "evictd/model/runtime_names.hpp"
#include "evictd/model/state.hpp"
#include "evictd/model/units.hpp"

namespace evictd {

// Reasons of the event stream that the agent gives about itself.
enum class Notice : std::uint8_t {
    agent_started,
    agent_stopped,
    signal_source_changed,
    kernel_events_lost,
    config_reloaded,
    config_rejected,
    pod_rejected,     // a manifest that cannot be used
    look_incomplete,  // a part of the node could not be looked at
    oom_score_adjusted,
};

struct AgentNotice {
    Notice notice = Notice::agent_started;
    WallTime wall;
    std::string message;  // a sentence for people
    std::string error;    // what went wrong, where it did
    PodPtr pod{};         // whom it is about, if it is a pod
    bool dry_run = false;
};

// A pod begins to get no new sockets, or gets them again.
struct ShedEdge {
    ShedPod pod;
    bool begun = true;
    MonotonicTime at;          // when it had been done
    std::int64_t refused = 0;  // at the end: how many sockets it asked for meanwhile
    std::string error;         // what went wrong, where it did
};

// What a cgroup was charged with when Decision::owed was reported.
struct HeldBy {
    CgroupId cgroup;
    HeldMemory memory;
};

// Of a victim that is finished.
struct KilledIn {
    PodUid pod;
    KillRounds rounds;
};

// Cgroups named as a pod's whose manifest no source knows, however old they are (Observation has the new ones): they
// are never evicted.
struct PodWithoutManifest {
    PodUid pod;
    std::optional<Bytes> working_set{};  // none: it could not be read
};
struct PodsWithoutManifest {
    std::size_t count = 0;
    std::vector<PodWithoutManifest> some;  // a few of them, for people; the largest first
};

// One tick. `decided_at` is taken after decide(), before the first action.
struct Tick {
    std::vector<KernelEvent> kernel_events;  // those that called for this look, the cause among them
    Observation observation;
    Decision decision;
    MonotonicTime decided_at;
    std::vector<Outcome> outcomes;
    std::vector<ShedEdge> shed;
    std::vector<HeldBy> held;  // by those of Decision::owed that are fresh, as far as it could be read
    std::vector<KilledIn> killed_in;
    bool dry_run = false;
    std::string pods_root;  // the pods' cgroup that is watched; empty: none, and no pod is protected
    PodsWithoutManifest without_manifest;
    RuntimeNamesPtr runtime_names;  // for people: of pods that no source knows
    // For the tape only, and empty when none is written: what else decide() was given.
    std::uint64_t number = 0;  // counts looks; a gap is a record that was lost
    std::shared_ptr<const EvictionConfig> config;
    std::shared_ptr<const State> before;
    // What led to the evictions and OOM kills of this look; added in the publishing lane.
    std::vector<HistoryPtr> histories;
};

}  // namespace evictd
