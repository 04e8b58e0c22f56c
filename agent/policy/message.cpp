// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// evictionMessage and getThresholdMetInfo of eviction/helpers.go. Its constants end in a blank, and so do these.
#include "message.hpp"

#include <algorithm>
#include <optional>

#include "container_usage.hpp"
#include "evictd/model/pod_requests.hpp"
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

Quantity in_bytes(Bytes bytes) { return Quantity::of(bytes.value, Quantity::Format::binary_si); }

// The starved resource as containers request it and use it. Nobody requests inodes or process IDs.
struct Starved {
    ResourceMember request;
    std::optional<Quantity> (*usage)(const ContainerUsage&);
};

std::optional<Quantity> memory_of(const ContainerUsage& usage) {
    return usage.working_set ? std::optional(in_bytes(*usage.working_set)) : std::nullopt;
}

// Half a figure is none.
std::optional<Quantity> storage_of(const ContainerUsage& usage) {
    if (!usage.rootfs || !usage.logs) return std::nullopt;
    return in_bytes(*usage.rootfs) + in_bytes(*usage.logs);
}

std::optional<Starved> starved(std::string_view resource) {
    if (resource == "memory") return Starved{&ResourceList::memory, memory_of};
    if (resource == "ephemeral-storage") return Starved{&ResourceList::ephemeral_storage, storage_of};
    return std::nullopt;
}

void append(std::string& list, const std::string& entry) { list += (list.empty() ? "" : ",") + entry; }

void add_container(const Container& container, const ObservedPod& observed, const Starved& starved,
                   std::string_view resource, EvictionMessage& message) {
    const auto known = container_usage(container, *observed.pod, *observed.usage);
    const auto usage = known ? starved.usage(*known) : std::nullopt;
    const Quantity request = (container.requests.*starved.request).value_or(Quantity{});
    if (!usage || *usage <= request) return;
    message.text += consumption("Container " + container.name, to_string(*usage), to_string(request), resource);
    append(message.annotations["offending_containers"], container.name);
    append(message.annotations["offending_containers_usage"], to_string(*usage));
}

void add_pod(const Pod& pod, const Quantity& usage, std::string_view resource, EvictionMessage& message) {
    if (!pod.requests.memory) return;
    message.text += consumption("Pod " + pod.name, to_string(usage), to_string(*pod.requests.memory), resource);
    message.annotations["offending_pod"] = pod.name;
    message.annotations["offending_pod_usage"] = to_string(usage);
}

}  // namespace

EvictionMessage eviction_message(const ObservedPod& observed, const std::vector<MetThreshold>& acting) {
    const std::string_view resource = traits(acting.front().threshold.signal).resource;
    EvictionMessage message;
    message.text = "The node was low on resource: " + std::string(resource) + ". " + threshold_part(acting, resource);
    if (!observed.usage) return message;  // the kubelet says no more, and annotates nothing, without figures
    message.annotations = {{"offending_containers", ""}, {"offending_containers_usage", ""}};
    message.annotations["starved_resource"] = resource;
    const Pod& pod = *observed.pod;
    if (resource == "memory") add_pod(pod, in_bytes(observed.usage->working_set), resource, message);
    if (const auto what = starved(resource)) {
        for (const auto& container : pod.containers) add_container(container, observed, *what, resource, message);
        for (const auto& container : pod.init_containers) add_container(container, observed, *what, resource, message);
    }
    return message;
}

}  // namespace evictd::policy
