// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Whether a new pod may come to a node under pressure. Asked about one pod at a time; not for pods already running,
// and not for the scheduler's taints, which keep most such pods from ever being asked about.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "evictd/model/pod.hpp"
#include "evictd/model/signal.hpp"

namespace evictd::policy {

struct Admission {
    bool allowed = true;
    std::string reason;   // of a rejected pod's status
    std::string message;  // likewise; its trailing blank is the kubelet's
};

// What kubelets from 1.33 on put before the message in the pod's status, and not in the event (Kubelet.rejectPod).
inline constexpr std::string_view rejection_prefix = "Pod was rejected: ";

// managerImpl.Admit of eviction_manager.go. `conditions` are those reported: they last for the transition period.
[[nodiscard]] Admission admit(const Pod& pod, const std::vector<Condition>& conditions);

}  // namespace evictd::policy
