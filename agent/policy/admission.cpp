// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The kubelet's own rules at the door, step for step; no state.
#include "admission.hpp"

#include <algorithm>

#include "qos.hpp"
#include "taints.hpp"

namespace evictd::policy {
namespace {

// v1.TaintNodeMemoryPressure.
const Taint memory_pressure_taint{"node.kubernetes.io/memory-pressure", "", std::string(no_schedule)};

// fmt's %v of a slice of strings: in brackets, with blanks between.
std::string listed(const std::vector<Condition>& conditions) {
    std::string text;
    for (const Condition condition : conditions) {
        if (!text.empty()) text += ' ';
        text += name(condition);
    }
    return "[" + text + "]";
}

bool bears_memory_pressure(const Pod& pod) {
    if (qos_class(pod) != QosClass::best_effort) return true;
    return std::any_of(pod.tolerations.begin(), pod.tolerations.end(),
                       [](const Toleration& one) { return tolerates(one, memory_pressure_taint); });
}

}  // namespace

Admission admit(const Pod& pod, const std::vector<Condition>& conditions) {
    if (conditions.empty() || is_critical_pod(pod)) return {};
    // Memory pressure on top of another condition helps nobody.
    const bool memory_alone = conditions.size() == 1 && conditions.front() == Condition::memory_pressure;
    if (memory_alone && bears_memory_pressure(pod)) return {};
    return {false, "Evicted", "The node had condition: " + listed(conditions) + ". "};
}

}  // namespace evictd::policy
