// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A pod as the policy needs it: what its v1 Pod object says, defaulted as the API server would. Immutable once made.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evictd/model/ids.hpp"
#include "evictd/model/names.hpp"
#include "evictd/model/quantity.hpp"
#include "evictd/model/units.hpp"

namespace evictd {

enum class QosClass : std::uint8_t { guaranteed, burstable, best_effort };
template <>
struct Names<QosClass> {
    static constexpr Words<3> words{"Guaranteed", "Burstable", "BestEffort"};
};

// Where the kubelet would have got the pod from (kubetypes.ConfigSourceAnnotationKey and the mirror annotation).
enum class PodOrigin : std::uint8_t { api, static_file, mirror };

struct ResourceList {
    std::optional<Quantity> cpu;
    std::optional<Quantity> memory;
    std::optional<Quantity> ephemeral_storage;
    bool hugepages = false;  // any hugepages-SIZE; no decision depends on the amount
};

struct Container {
    std::string name;
    ResourceList requests;  // what is allocated, where the status says so; one left out is its limit
    ResourceList limits;
    bool restartable = false;  // an init container with restartPolicy Always: a sidecar
    std::string id{};          // as the runtime has it now, "containerd://0123..."; empty: not started, or not told
    std::string image{};       // as its manifest names it; empty: an older tape
};

enum class VolumeKind : std::uint8_t { other, empty_dir, host_path };

struct Volume {
    std::string name;
    VolumeKind kind = VolumeKind::other;
    bool in_memory = false;              // emptyDir with medium Memory: no disk
    std::optional<Quantity> size_limit;  // of an emptyDir
    std::string image{};                 // of an image volume, as its manifest names it
};

// v1.Toleration. Empty means any: a key with operator Exists, an effect.
struct Toleration {
    std::string key;
    std::string op;  // "Equal", "Exists", or empty for Equal
    std::string value;
    std::string effect;
    std::optional<std::int64_t> seconds;  // none: for ever
};

struct OwnerReference {
    std::string kind;
    std::string name;
    std::string uid;
    bool controller = false;
    bool block_owner_deletion = false;
};

enum class PodPhase : std::uint8_t { pending, running, succeeded, failed, unknown };

// What ranking and local storage limits need of a pod, computed from its containers once: reading the containers of
// thousands of pods at each look misses the CPU's caches.
struct ComputedResources {
    QosClass qos;
    Quantity memory_request;  // as pod_request()
    Quantity ephemeral_storage_request;
    bool has_storage_limit;  // of a container or an emptyDir
};

// A cache that make_pod() fills. Copying a Pod empties it, because the copy may be changed; moving keeps it.
class ComputedOnce {
public:
    ComputedOnce() = default;
    explicit ComputedOnce(const ComputedResources& computed) : computed_(computed) {}
    ComputedOnce(const ComputedOnce& /*of_another_pod*/) {}
    ComputedOnce(ComputedOnce&&) = default;
    ComputedOnce& operator=(const ComputedOnce& /*of_another_pod*/) {
        computed_.reset();
        return *this;
    }
    ComputedOnce& operator=(ComputedOnce&&) = default;
    ~ComputedOnce() = default;

    [[nodiscard]] const ComputedResources* known() const { return computed_ ? &*computed_ : nullptr; }

private:
    std::optional<ComputedResources> computed_;
};

struct Pod {
    PodUid uid;
    std::string name_space;
    std::string name;
    // From here to `computed`, next to each other, what a ranking reads of each pod but its uid: thousands of pods do
    // not stay in the CPU's caches (policy/prefetch).
    PodOrigin origin = PodOrigin::api;
    PodPhase phase = PodPhase::pending;
    // status.qosClass, or the spec's class where what is allocated differs from the spec. None: requests and limits
    // say.
    std::optional<QosClass> qos;
    bool has_resources = false;  // spec.resources is set, if only to {}
    bool ready = false;          // the condition Ready is True
    std::optional<std::int32_t> priority;
    std::int32_t restarts = 0;           // the most restarts of a container
    std::int32_t sidecar_restarts = 0;   // the most restarts of a sidecar
    std::int32_t deletion_cost = 0;      // controller.kubernetes.io/pod-deletion-cost
    std::optional<WallTime> ready_time;  // its last transition
    std::optional<WallTime> creation_time;
    std::optional<WallTime> deletion_time;  // metadata.deletionTimestamp
    std::string node_name;                  // empty: not assigned
    std::vector<OwnerReference> owners;
    ComputedOnce computed{};
    std::string priority_class_name;
    std::vector<Container> containers;
    std::vector<Container> init_containers;
    ResourceList requests;  // pod-level resources (spec.resources), or what is allocated of them
    ResourceList limits;
    ResourceList overhead;
    std::vector<Volume> volumes;
    std::vector<Toleration> tolerations;
    std::chrono::seconds termination_grace_period{30};
    std::optional<std::chrono::seconds> deletion_grace_period;  // metadata.deletionGracePeriodSeconds
    std::optional<std::chrono::seconds> active_deadline;        // spec.activeDeadlineSeconds
    std::string status_reason;                                  // status.reason, such as Evicted
    std::optional<WallTime> start_time;
    std::map<std::string, std::string> annotations;
    std::string source;           // file or service it was read from
    std::int64_t generation = 0;  // metadata.generation; 0: not known

    [[nodiscard]] std::string full_name() const { return name_space + "/" + name; }
};
using PodPtr = std::shared_ptr<const Pod>;

// Takes the pod and computes its resources, anew where that was done. For pods that are ranked again and again; any
// other Pod gives the same answers, computed at each call.
[[nodiscard]] PodPtr make_pod(Pod pod);

// Pod::source of pods that the API server lists now; those of the kubelet alone may be deleted there.
inline constexpr std::string_view api_server_source = "API server";

// podutil.IsPodTerminal, isPodTerminated: it succeeded or failed, and runs nothing again.
[[nodiscard]] inline bool has_ended(const Pod& pod) {
    return pod.phase == PodPhase::succeeded || pod.phase == PodPhase::failed;
}

// controller.IsPodActive.
[[nodiscard]] inline bool is_pod_active(const Pod& pod) { return !has_ended(pod) && !pod.deletion_time; }

// The container whose cgroup has this name: runtimes name it after the container's id, and who makes cgroups by hand
// after the container. Null: none that is known, such as the pod's sandbox.
[[nodiscard]] const Container* container_in(const Pod& pod, std::string_view cgroup_name);

// AggregateContainerRequests and AggregateContainerLimits: containers add up, sidecars included; an init container
// needs its own beside the sidecars started before it, and the larger of both counts. None: no container says anything.
[[nodiscard]] std::optional<Quantity> aggregate(const Pod& pod, ResourceList Container::*list,
                                                std::optional<Quantity> ResourceList::*resource);

// IsPodLevelResourcesSet: the pod as a whole asks for, or is limited in, cpu, memory or huge pages.
[[nodiscard]] bool has_pod_level_resources(const Pod& pod);

// ComputePodQOS: cpu and memory count, init containers included; spec.resources stands for all containers, even if
// empty.
[[nodiscard]] QosClass compute_qos(const Pod& pod);

}  // namespace evictd
