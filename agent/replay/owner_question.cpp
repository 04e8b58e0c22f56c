// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "replay/owner_question.hpp"

#include <array>
#include <map>
#include <optional>

namespace evictd::replay {
namespace {

// Where the graph's actions are done at once, and are seen at once.
class World {
public:
    World(const std::vector<policy::OwnedObject>& objects, policy::OwnerGraph& graph) : graph_(graph) {
        for (const auto& object : objects) {
            objects_.emplace(object.id, object);
            graph_.observe(object);
        }
    }

    void carry_out(const policy::GraphAction& action) {
        const auto found = objects_.find(action.object);
        const bool exists = found != objects_.end();
        if (action.verb == policy::GraphVerb::look_up) {
            graph_.answer(action.object, exists ? std::optional(found->second) : std::nullopt);
        } else if (action.verb == policy::GraphVerb::remove) {
            objects_.erase(action.object);
            graph_.removed(action.object);
        } else if (exists) {
            policy::carry_out(action, found->second);
            graph_.observe(found->second);
        }
    }

private:
    policy::OwnerGraph& graph_;
    std::map<policy::ObjectId, policy::OwnedObject> objects_;
};

}  // namespace

std::size_t most_actions(const std::vector<policy::OwnedObject>& objects) {
    std::size_t references = 0;
    for (const auto& object : objects) references += object.owners.size();
    return 4 * (objects.size() + references);
}

// The graph sees all objects before it is asked for anything: an owner that is listed after its dependent is no
// stranger.
OwnerAnswer ask_owner_graph(const std::vector<policy::OwnedObject>& objects,
                            const std::vector<DeleteRequest>& deletions, std::size_t most) {
    OwnerAnswer answer;
    policy::OwnerGraph graph;
    World world(objects, graph);
    for (const DeleteRequest& deletion : deletions) graph.request_delete(deletion.object, deletion.policy);
    while (auto action = graph.step()) {
        if (answer.actions.size() >= most) {
            answer.error = "stopped after " + std::to_string(most) + " actions: the graph does not come to rest";
            break;
        }
        world.carry_out(*action);
        answer.actions.push_back(std::move(*action));
    }
    return answer;
}

std::string_view verb_name(policy::GraphVerb verb) {
    constexpr std::array<std::string_view, 4> names{"look_up", "remove", "drop_references", "unblock"};  // by GraphVerb
    return names[static_cast<std::size_t>(verb)];
}

std::string text_of(const policy::ObjectId& id) { return id.kind + "/" + id.uid; }

}  // namespace evictd::replay
