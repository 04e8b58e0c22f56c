// SPDX-License-Identifier: Apache-2.0
// A v1 Pod object as the model's Pod, defaulted as the API server would. Reads what the policy needs and ignores the
// rest; it does not repeat the API server's whole validation.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "evictd/model/pod.hpp"
#include "evictd/model/result.hpp"

namespace evictd::kube {

// `source` becomes Pod::source. `origin`, if given, overrules what the annotations say. A fault is of kind invalid and
// its `what` is the field's path, such as `spec.containers[0].resources.requests.memory`. apiVersion and kind may be
// absent, as they are in the items of a list.
[[nodiscard]] Result<Pod> pod_from_json(const nlohmann::json& object, const std::string& source = {},
                                        std::optional<PodOrigin> origin = {});

// system-node-critical and system-cluster-critical, for objects that no admission has resolved
// (scheduling/types.go SystemCriticalPriority and its two classes).
inline constexpr std::int32_t system_node_critical = 2'000'001'000;
inline constexpr std::int32_t system_cluster_critical = 2'000'000'000;

}  // namespace evictd::kube
