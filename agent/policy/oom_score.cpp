// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// GetContainerOOMScoreAdjust, remainingPodMemReqPerContainer and minRegularContainerMemory (kubelet/qos). In 128 bits:
// the kubelet's 64 wrap around at requests of nine petabytes.
#include "oom_score.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "qos.hpp"

namespace evictd::policy {
namespace {

constexpr int best_effort_adj = 1000;  // what the kernel allows at most
constexpr std::string_view node_critical_class = "system-node-critical";

Int128 memory_request(const Container& container) { return container.requests.memory.value_or(Quantity{}).value(); }

constexpr int kube_proxy_adj = -999;

bool is_node_critical(const Pod& pod) { return is_critical_pod(pod) && pod.priority_class_name == node_critical_class; }

// What the pod asks for beyond its containers, in equal parts, init containers counted.
Int128 unclaimed_share(const Pod& pod) {
    const auto containers = Int128{pod.containers.size()} + pod.init_containers.size();
    if (!pod.requests.memory || pod.requests.memory->is_zero() || containers == 0) return 0;
    const Int128 claimed = aggregate(pod, &Container::requests, &ResourceList::memory).value_or(Quantity{}).value();
    return (pod.requests.memory->value() - claimed) / containers;
}

// A sidecar is not to be killed before the containers it serves: it has at least the smallest of their requests.
// A regular container that restarts has that anyhow.
Int128 request_that_counts(const Pod& pod, const Container& container) {
    const Int128 own = memory_request(container);
    if (!container.restartable || pod.containers.empty()) return own;
    const auto smallest =
        std::min_element(pod.containers.begin(), pod.containers.end(),
                         [](const Container& a, const Container& b) { return memory_request(a) < memory_request(b); });
    return std::max(own, memory_request(*smallest));
}

}  // namespace

int oom_score_adj(const Pod& pod, const Container& container, Bytes node_memory, int guaranteed_oom_score_adj) {
    if (is_node_critical(pod)) return guaranteed_oom_score_adj;
    const QosClass qos = qos_class(pod);
    if (qos == QosClass::guaranteed) return guaranteed_oom_score_adj;
    if (qos == QosClass::best_effort) return best_effort_adj;
    // Without the node's size no request is a share of it: nobody is protected by a number that is not known. The
    // kubelet would divide by zero.
    if (node_memory.value <= 0) return best_effort_adj - 1;
    const Int128 request = request_that_counts(pod, container) + unclaimed_share(pod);
    const Int128 adj = best_effort_adj - 1000 * request / node_memory.value;
    // Behind Guaranteed pods and before BestEffort ones, whatever it asks for.
    const Int128 lowest = best_effort_adj + guaranteed_oom_score_adj;
    return static_cast<int>(std::clamp<Int128>(adj, lowest, std::max<Int128>(lowest, best_effort_adj - 1)));
}

ScoreRange oom_score_adj_range(const Pod& pod, std::string_view cgroup_name, Bytes node_memory,
                               int guaranteed_oom_score_adj) {
    std::optional<ScoreRange> range;
    const auto add = [&](const Container& container) {
        const int adj = oom_score_adj(pod, container, node_memory, guaranteed_oom_score_adj);
        range = range ? ScoreRange{std::min(range->least, adj), std::max(range->most, adj)} : ScoreRange{adj, adj};
    };
    if (const auto* known = container_in(pod, cgroup_name)) {
        add(*known);
    } else {
        std::for_each(pod.containers.begin(), pod.containers.end(), add);
        std::for_each(pod.init_containers.begin(), pod.init_containers.end(), add);
        if (!range) add(Container{});  // no range: by the class alone
    }
    if (is_node_critical(pod)) range->least = std::min(range->least, kube_proxy_adj);
    return *range;
}

}  // namespace evictd::policy
