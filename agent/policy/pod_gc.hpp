// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which pod objects, and which remains of pods, nobody needs any more: the pod garbage collector, as far as a node can
// see. Looks nothing up and deletes nothing: questions and deletions are actions for others.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "evictd/model/pod.hpp"
#include "evictd/model/units.hpp"

namespace evictd::policy {

struct PodGcPolicy {
    // --terminated-pod-gc-threshold of the kube-controller-manager. Halved, results of finished jobs go sooner than
    // people expect; doubled, the API server lists twice as many dead pods. 0 or less: terminated pods stay.
    int terminated_threshold = 12500;
    // quarantineTime of gc_controller.go. Halved, a slow source loses what it was about to name; doubled, leftovers of
    // a deleted pod hold disk and memory for twice as long.
    Duration quarantine = std::chrono::seconds(40);
};

// The condition DisruptionTarget that a pod gets which had not ended by itself.
inline constexpr std::string_view pod_gc_reason = "DeletionByPodGC";
inline constexpr std::string_view node_gone_message = "PodGC: node no longer exists";
inline constexpr std::string_view never_scheduled_message = "PodGC: terminating and never scheduled";

enum class RemainsKind : std::uint8_t { sandbox, container, cgroup, log_directory, volume_directory };

}  // namespace evictd::policy

namespace evictd {

template <>
struct Names<policy::RemainsKind> {
    static constexpr Words<5> words{"sandbox", "container", "cgroup", "log directory", "volume directory"};
};

}  // namespace evictd

namespace evictd::policy {

// What is left of a pod on this node.
struct Remains {
    PodUid pod;
    RemainsKind kind = RemainsKind::cgroup;
    std::string id;  // of the sandbox or container; the path of anything else
};

// What may be gone: a node that pods are bound to, or a pod that something remains of.
struct Suspect {
    enum class Kind : std::uint8_t { node, pod };
    Kind kind = Kind::pod;
    std::string id;  // the node's name, the pod's uid
    friend auto operator<=>(const Suspect&, const Suspect&) = default;
};

// The answer of the API server, or of whatever else is the authority, asked directly and not through a cache.
struct LookUpAnswer {
    Suspect suspect;
    std::optional<bool> exists;  // none: it could not be asked
};

struct PodGcLook {
    MonotonicTime now;
    std::vector<PodPtr> pods;                    // of all sources
    bool sources_ready = true;                   // every source was read: what is missing is really missing there
    std::optional<std::set<std::string>> nodes;  // names of those that exist; none: not known, and nobody is judged
    std::vector<Remains> remains;
    std::vector<LookUpAnswer> answers;  // to the look-ups asked for before
};

enum class PodGcVerb : std::uint8_t {
    look_up,     // ask for `suspect` directly
    fail_pod,    // patch the pod to phase Failed, with DisruptionTarget, pod_gc_reason and `message`
    delete_pod,  // with grace period 0
    remove,      // `remains`
};

struct PodGcAction {
    PodGcVerb verb = PodGcVerb::look_up;
    Suspect suspect;       // of look_up
    PodUid pod;            // of all others
    std::string pod_name;  // namespace/name, where it is known
    std::string message;   // of fail_pod
    Remains remains;       // of remove
    std::string why;
};

struct PodGcState {
    struct Quarantine {
        MonotonicTime since;
        bool asked = false;
    };
    std::map<Suspect, Quarantine> quarantined;
};

struct PodGcPass {
    std::vector<PodGcAction> actions;  // to be carried out in this order
    PodGcState state;                  // to be handed back at the next look
};

// PodGCController.gc. Begin with a PodGcState{}.
[[nodiscard]] PodGcPass collect_pods(const PodGcPolicy& policy, const PodGcLook& look, const PodGcState& state);

}  // namespace evictd::policy
