// SPDX-License-Identifier: Apache-2.0
// evictionMessage and getThresholdMetInfo of eviction/helpers.go. Its constants end in a blank, and so do these.
#include "message.hpp"

#include <algorithm>
#include <optional>

#include "thresholds.hpp"

namespace evictd::policy {
namespace {

std::string consumption(const std::string& what, const std::string& usage, const std::string& request,
                        std::string_view resource) {
    return what + " was using " + usage + ", request is " + request + ", has larger consumption of " +
           std::string(resource) + ". ";
}

// The first threshold of the starved resource, with its own unit.
std::string threshold_part(const std::vector<MetThreshold>& acting, std::string_view resource) {
    const auto met = std::find_if(acting.begin(), acting.end(), [&](const MetThreshold& candidate) {
        return traits(candidate.threshold.signal).resource == resource;
    });
    if (met == acting.end()) return {};
    const auto available = Quantity::of(met->available.value, format_of(met->threshold.signal));
    return "Threshold quantity: " + to_string(resolve(met->threshold.value, met->capacity)) +
           ", available: " + to_string(available) + ". ";
}

// The container whose memory is the pod's: the only one that can be running. With several, who uses what is not known,
// and unknown containers are left out, as the kubelet leaves out those without figures.
const Container* sole_container(const Pod& pod) {
    if (pod.containers.size() != 1) return nullptr;
    const bool sidecar = std::any_of(pod.init_containers.begin(), pod.init_containers.end(),
                                     [](const Container& container) { return container.restartable; });
    const bool initialized = pod.init_containers.empty() || pod.phase == PodPhase::running;
    return sidecar || !initialized ? nullptr : &pod.containers.front();
}

void add_memory_part(const Pod& pod, const Quantity& usage, std::string_view resource, EvictionMessage& message) {
    if (pod.requests.memory) {
        message.text += consumption("Pod " + pod.name, to_string(usage), to_string(*pod.requests.memory), resource);
        message.annotations["offending_pod"] = pod.name;
        message.annotations["offending_pod_usage"] = to_string(usage);
    }
    const Container* container = sole_container(pod);
    if (container == nullptr) return;
    const Quantity request = container->requests.memory.value_or(Quantity{});
    if (usage <= request) return;
    message.text += consumption("Container " + container->name, to_string(usage), to_string(request), resource);
    message.annotations["offending_containers"] = container->name;
    message.annotations["offending_containers_usage"] = to_string(usage);
}

}  // namespace

EvictionMessage eviction_message(const ObservedPod& observed, const std::vector<MetThreshold>& acting) {
    const std::string_view resource = traits(acting.front().threshold.signal).resource;
    EvictionMessage message;
    message.text = "The node was low on resource: " + std::string(resource) + ". " + threshold_part(acting, resource);
    if (!observed.usage) return message;  // the kubelet says no more, and annotates nothing, without figures
    message.annotations = {{"offending_containers", ""}, {"offending_containers_usage", ""}};
    message.annotations["starved_resource"] = resource;
    if (resource == "memory") {
        const auto usage = Quantity::of(observed.usage->working_set.value, Quantity::Format::binary_si);
        add_memory_part(*observed.pod, usage, resource, message);
    }
    return message;
}

}  // namespace evictd::policy
