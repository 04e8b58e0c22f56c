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

PodPhase read_phase(const Field& field) {
    constexpr std::array<std::pair<std::string_view, PodPhase>, 5> phases{{{"Pending", PodPhase::pending},
                                                                           {"Running", PodPhase::running},
                                                                           {"Succeeded", PodPhase::succeeded},
                                                                           {"Failed", PodPhase::failed},
                                                                           {"Unknown", PodPhase::unknown}}};
    const auto text = field.text();
    if (!text || text->empty()) return PodPhase::pending;
    for (const auto& [name, phase] : phases)
        if (*text == name) return phase;
    field.refuse("is no phase: " + in_quotes(*text), "use Pending, Running, Succeeded, Failed or Unknown");
    return PodPhase::unknown;
}

// podutil.GetPodConditionFromList: the first of its type counts.
void read_readiness(const Field& conditions, Pod& pod) {
    for (const Field& condition : conditions.elements()) {
        if (condition["type"].text() != "Ready") continue;
        pod.ready = condition["status"].text() == "True";
        pod.ready_time = condition["lastTransitionTime"].time();
        return;
    }
}

std::int32_t restarts_of(const Field& container) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    return static_cast<std::int32_t>(
        std::clamp<std::int64_t>(container["restartCount"].integer().value_or(0), 0, most));
}

void read_restarts(const Field& status, Pod& pod) {
    for (const Field& container : status["containerStatuses"].elements())
        pod.restarts = std::max(pod.restarts, restarts_of(container));
    for (const Field& container : status["initContainerStatuses"].elements()) {
        const auto name = container["name"].text();
        const bool sidecar = std::any_of(pod.init_containers.begin(), pod.init_containers.end(),
                                         [&](const Container& init) { return init.restartable && init.name == name; });
        if (sidecar) pod.sidecar_restarts = std::max(pod.sidecar_restarts, restarts_of(container));
    }
}

// "containerd://0123...": what the container's cgroup is named after.
void read_ids(const Field& statuses, std::vector<Container>& containers) {
    for (const Field& status : statuses.elements()) {
        const auto name = status["name"].text();
        for (auto& container : containers)
            if (container.name == name) container.id = status["containerID"].text().value_or("");
    }
}

}  // namespace

void read_status(const Field& status, Pod& pod) {
    pod.phase = read_phase(status["phase"]);
    pod.status_reason = status["reason"].text().value_or("");
    pod.start_time = status["startTime"].time();
    read_readiness(status["conditions"], pod);
    read_restarts(status, pod);
    read_ids(status["containerStatuses"], pod.containers);
    read_ids(status["initContainerStatuses"], pod.init_containers);
}

}  // namespace evictd::kube
