// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "observe/runtime_inventory.hpp"

#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "evictd/model/image_uses.hpp"
#include "evictd/model/log_names.hpp"

namespace evictd::observe {
namespace {

// What is in `from`, and whether that is all.
template <class Value>
bool take(Result<std::vector<Value>> from, std::vector<Value>& into, std::vector<std::string>& troubles) {
    if (from) {
        into = std::move(*from);
    } else {
        troubles.push_back(from.error().text());
    }
    return from.has_value();
}

// The newest container of that name in that pod has the logs.
std::string writer_of(const std::vector<RuntimeContainer>& containers, std::string_view pod, std::string_view name) {
    const RuntimeContainer* newest = nullptr;
    for (const auto& container : containers) {
        if (container.pod != pod || container.name != name) continue;
        if (newest == nullptr || container.created > newest->created) newest = &container;
    }
    return newest != nullptr ? newest->id : std::string();
}

}  // namespace

InventoryLook RuntimeInventory::look() {
    InventoryLook look;
    Runtime runtime;
    runtime.at = clock_.monotonic();
    list_runtime(runtime, look.troubles);
    list_logs(runtime, look.troubles);
    note_image_uses(before_.get(), clock_.wall(), runtime);
    look.runtime = std::make_shared<const Runtime>(std::move(runtime));
    if (look.runtime->whole.images) before_ = look.runtime;  // else the images would be new with the next
    return look;
}

// One call after the other: what answers late has told of its containers before the others.
void RuntimeInventory::list_runtime(Runtime& into, std::vector<std::string>& troubles) {
    into.whole.sandboxes = take(runtime_.sandboxes(), into.sandboxes, troubles);
    if (!into.whole.sandboxes) return;  // the others would wait for their time limits too
    into.whole.containers = take(runtime_.containers(), into.containers, troubles);
    if (!into.whole.containers) return;
    into.whole.images = take(runtime_.images(), into.images, troubles);
    if (auto known = runtime_.add_image_volumes(into.containers); !known) {
        troubles.push_back(known.error().text());
        into.whole.images = false;
    }
    if (auto image = runtime_.sandbox_image()) {  // each time: the runtime may be started again with another one
        into.sandbox_image = std::move(*image);
    } else {
        troubles.push_back(image.error().text());
        into.whole.images = false;  // it is not pinned by every runtime
    }
}

void RuntimeInventory::list_logs(Runtime& into, std::vector<std::string>& troubles) {
    auto logs = logs_.list();
    into.whole.logs = logs.trouble.empty();
    if (!logs.trouble.empty()) troubles.push_back(logs.trouble);
    for (auto& name : logs.directories) into.log_directories.push_back({std::move(name)});
    std::unordered_map<std::string_view, ContainerState> states;
    for (const auto& container : into.containers) states.emplace(container.id, container.state);
    for (auto& link : logs.links) {
        const auto state = states.find(link.container);
        auto& one = into.log_links.emplace_back();
        one.path = std::move(link.path);
        one.dangling = link.dangling;
        if (state != states.end()) one.container = state->second;
    }
    for (auto& log : logs.rotated) {
        const std::string pod = pod_of_log_directory(log.directory);
        into.rotated_logs.push_back(
            {std::move(log.path), writer_of(into.containers, pod, log.container), pod, log.size});
    }
}

}  // namespace evictd::observe
