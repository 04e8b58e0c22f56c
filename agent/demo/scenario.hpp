// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What is played: which pods there are, what they use, which of them something happens to and where the thresholds lie.
// Values only; who makes it real is stage's affair.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command/demo_options.hpp"
#include "evictd/model/pod.hpp"
#include "evictd/model/result.hpp"
#include "evictd/model/units.hpp"

namespace evictd::demo {

using command::Scenario;

struct PodPlan {
    std::string name_space;
    std::string name;
    std::string uid;
    QosClass qos = QosClass::best_effort;
    std::int32_t priority = 0;
    bool critical = false;  // system-node-critical
    Bytes request;
    Bytes holds;  // memory it touches before anything happens
    int processes = 1;
    [[nodiscard]] std::string full_name() const { return name_space + "/" + name; }
};

struct Plan {
    Scenario scenario = Scenario::spike;
    Bytes limit;  // of the pods' cgroup: all they may use together
    std::vector<PodPlan> pods;
    std::size_t actor = 0;                   // the pod that something happens in
    std::optional<std::size_t> neighbour{};  // sockets: the one that opens some all the time, and may
    Bytes hard;                              // allocatableMemory.available below this: evict at once
    std::optional<Bytes> soft;
    std::chrono::seconds soft_grace{0};  // for the threshold
    std::chrono::seconds pod_grace{0};   // for the pod, between SIGTERM and SIGKILL
    std::int64_t growth = 0;             // bytes a second; 0: as fast as it goes
    Bytes files;             // pagecache: how much is written and read before it begins anew; thrash: how much is read
    std::int32_t stall = 0;  // thrash: evict at once when so much of a second is lost, in percent
    std::string headline;
    bool steering = true;   // oomrace: whether the agent steers the kernel's choice
    std::size_t quiet = 0;  // oomrace: the pod that the kernel would take by itself
    Bytes grows_to;         // oomrace: the actor's processes together

    [[nodiscard]] bool expects_eviction() const {
        return scenario == Scenario::spike || scenario == Scenario::leak || scenario == Scenario::thrash;
    }
    [[nodiscard]] const PodPlan& actor_pod() const { return pods[actor]; }
};

// How much memory the pods may use together on a machine with `available` left: enough to show something, and never so
// much that the machine itself notices. An error says how much would be needed.
[[nodiscard]] Result<Bytes> limit_for(Bytes available);

inline constexpr std::int32_t system_node_critical = 2000001000;  // scheduling.SystemCriticalPriority + 1000

// `figure` MiB on a node with 1 GiB for pods: as many, in proportion, of `limit`.
[[nodiscard]] Bytes scaled(std::int64_t figure, Bytes limit);

[[nodiscard]] Plan plan_for(Scenario scenario, Bytes limit);

// While its actor acts, for the viewer.
[[nodiscard]] const char* what_now(Scenario scenario);

// Below the tree's root, as the kubelet's cgroupfs driver names them: "/kubepods/burstable/pod<uid>".
inline constexpr std::string_view pods_root = "/kubepods";
[[nodiscard]] std::string pod_cgroup(const PodPlan& pod);
[[nodiscard]] std::string container_cgroup(const PodPlan& pod);

}  // namespace evictd::demo
