// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Readiness and restarts as the ReplicaSet controller counts them (controller_utils.go podReadyTime,
// maxContainerRestarts).
#include "kube/pod_status.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "evictd/model/text.hpp"

namespace evictd::kube {
namespace {

PodPhase read_phase(const Value& field) {
    constexpr std::array<std::pair<std::string_view, PodPhase>, 5> phases{{{"Pending", PodPhase::pending},
                                                                           {"Running", PodPhase::running},
                                                                           {"Succeeded", PodPhase::succeeded},
                                                                           {"Failed", PodPhase::failed},
                                                                           {"Unknown", PodPhase::unknown}}};
    if (field.present() && field.text() == "") return PodPhase::pending;
    return field.one_of(phases).value_or(PodPhase::pending);
}

// podutil.GetPodConditionFromList: the first of its type counts.
void read_readiness(const Value& conditions, Pod& pod) {
    for (const Value& condition : conditions.elements()) {
        if (condition["type"].text() != "Ready") continue;
        pod.ready = condition["status"].text() == "True";
        pod.ready_time = condition["lastTransitionTime"].time();
        return;
    }
}

std::int32_t restarts_of(const Value& container) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    return static_cast<std::int32_t>(
        std::clamp<std::int64_t>(container["restartCount"].integer().value_or(0), 0, most));
}

void read_restarts(const Value& status, Pod& pod) {
    for (const Value& container : status["containerStatuses"].elements())
        pod.restarts = std::max(pod.restarts, restarts_of(container));
    for (const Value& container : status["initContainerStatuses"].elements()) {
        const auto name = container["name"].text();
        const bool sidecar = std::any_of(pod.init_containers.begin(), pod.init_containers.end(),
                                         [&](const Container& init) { return init.restartable && init.name == name; });
        if (sidecar) pod.sidecar_restarts = std::max(pod.sidecar_restarts, restarts_of(container));
    }
}

// "containerd://0123...": what the container's cgroup is named after.
void read_ids(const Value& statuses, std::vector<Container>& containers) {
    for (const Value& status : statuses.elements()) {
        const auto name = status["name"].text();
        for (auto& container : containers)
            if (container.name == name) container.id = status["containerID"].text().value_or("");
    }
}

}  // namespace

void read_status(const Value& status, Pod& pod) {
    pod.phase = read_phase(status["phase"]);
    pod.status_reason = status["reason"].text().value_or("");
    pod.start_time = status["startTime"].time();
    read_readiness(status["conditions"], pod);
    read_restarts(status, pod);
    read_ids(status["containerStatuses"], pod.containers);
    read_ids(status["initContainerStatuses"], pod.init_containers);
}

}  // namespace evictd::kube
