// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A v1 Pod object as the model's Pod, defaulted as the API server would. Reads what the policy needs and ignores the
// rest; it does not repeat the API server's whole validation.
#pragma once

#include <optional>
#include <string>

#include "document/value.hpp"
#include "evictd/model/pod.hpp"

namespace evictd::kube {

struct PodRules {
    std::string source;  // becomes Pod::source
    // Of the source that delivers the pod. None, in a replay alone: what the pod's annotations say.
    std::optional<PodOrigin> origin;
    // False where nothing is ever done to the pod, as in a replay. A pod without a uid is then called NAMESPACE/NAME,
    // and what only matters for finding and killing the right one (a uid fit for a path, DNS names, any container at
    // all, requests within their limits) is not requested.
    bool uid_required = true;
    // True where the status is the kubelet's word: from the kubelet, the API server or a scenario. False for manifests,
    // whose author writes the status too: its qosClass and allocatedResources are not read.
    bool status_from_kubelet = false;
};

// Nothing if something is wrong with it: up to 8 faults are noted in the value's document. apiVersion and kind may be
// absent, as they are in the items of a list.
[[nodiscard]] std::optional<Pod> read_pod(const document::Value& object, const PodRules& rules = {});

// system-node-critical and system-cluster-critical, for objects that no admission has resolved
// (scheduling/types.go SystemCriticalPriority and its two classes).
inline constexpr std::int32_t system_node_critical = 2'000'001'000;
inline constexpr std::int32_t system_cluster_critical = 2'000'000'000;

}  // namespace evictd::kube
