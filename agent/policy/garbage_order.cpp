// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "garbage_order.hpp"

#include <set>
#include <string>
#include <string_view>
#include <unordered_set>

namespace evictd::policy {

namespace {

// A container depends on its sandbox and blocks its removal. Sandboxes that stay are no part of the graph.
OwnedObject container_node(const RuntimeContainer& container,
                           const std::unordered_set<std::string_view>& leaving_sandboxes) {
    OwnedObject object{.id = {container_object, container.id}, .name = container.name, .owners = {}, .deleting = {}};
    if (leaving_sandboxes.contains(container.sandbox)) {
        object.owners.push_back({.kind = sandbox_object,
                                 .name = container.sandbox,
                                 .uid = container.sandbox,
                                 .controller = true,
                                 .block_owner_deletion = true});
    }
    return object;
}

}  // namespace

// What the graph asks for beyond what was chosen (a container, because its sandbox is to go) is not done, so its
// sandbox waits for ever.
std::vector<ObjectId> removal_order(const Runtime& runtime, const std::vector<std::size_t>& containers,
                                    const std::vector<std::size_t>& sandboxes) {
    OwnerGraph graph;
    std::set<ObjectId> chosen;
    std::unordered_set<std::string_view> leaving;
    for (const std::size_t i : sandboxes) {
        const RuntimeSandbox& sandbox = runtime.sandboxes[i];
        leaving.insert(sandbox.id);
        chosen.insert({sandbox_object, sandbox.id});
        graph.observe({.id = {sandbox_object, sandbox.id}, .name = sandbox.name, .owners = {}, .deleting = {}});
    }
    for (const std::size_t i : containers) chosen.insert({container_object, runtime.containers[i].id});
    for (const RuntimeContainer& container : runtime.containers) {
        const bool concerned = leaving.contains(container.sandbox) || chosen.contains({container_object, container.id});
        if (concerned) graph.observe(container_node(container, leaving));
    }
    for (const std::size_t i : containers) {
        graph.request_delete({container_object, runtime.containers[i].id}, DeletePolicy::background);
    }
    for (const std::size_t i : sandboxes) {
        graph.request_delete({sandbox_object, runtime.sandboxes[i].id}, DeletePolicy::foreground);
    }
    std::vector<ObjectId> order;
    while (const auto action = graph.step()) {
        if (action->verb != GraphVerb::remove || !chosen.contains(action->object)) continue;
        order.push_back(action->object);
        graph.removed(action->object);
    }
    return order;
}

}  // namespace evictd::policy
