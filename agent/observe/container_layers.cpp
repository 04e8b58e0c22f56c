// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "observe/container_layers.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace evictd::observe {
namespace {

using Key = std::pair<std::string, std::string>;  // pod and name

bool is_newer(const RuntimeContainer& one, const RuntimeContainer& other) {
    const bool runs = one.state != ContainerState::exited;
    const bool other_runs = other.state != ContainerState::exited;
    if (runs != other_runs) return runs;
    return one.attempt != other.attempt ? one.attempt > other.attempt : one.created > other.created;
}

}  // namespace

Result<ContainerLayersPtr> read_layers(port::ContainerRuntime& runtime, MonotonicTime now) {
    const auto containers = runtime.containers();
    if (!containers) return tl::unexpected(containers.error());
    const auto layers = runtime.layers();
    if (!layers) return tl::unexpected(layers.error());
    std::unordered_map<std::string, RuntimeUsage> usages;
    for (const auto& layer : *layers) {
        if (layer.layer) usages.emplace(layer.id, *layer.layer);
    }
    std::map<Key, const RuntimeContainer*> newest;
    for (const auto& container : *containers) {
        auto& held = newest[{container.pod, container.name}];
        if (held == nullptr || is_newer(container, *held)) held = &container;
    }
    auto made = std::make_shared<ContainerLayers>();
    made->at = now;
    for (const auto& [key, container] : newest) {
        ContainerLayer layer{.pod = {key.first}, .name = key.second};
        if (const auto usage = usages.find(container->id); usage != usages.end()) layer.usage = usage->second;
        made->of.push_back(std::move(layer));
    }
    return made;
}

}  // namespace evictd::observe
