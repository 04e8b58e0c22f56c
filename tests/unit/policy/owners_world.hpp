// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A world that does what the owner graph asks for and tells it what happened. Nothing is asserted here.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "owners.hpp"

namespace evictd::policy::testing {

inline ObjectId thing(const std::string& uid) { return {"Thing", uid}; }

// "web" owns without blocking, "web!" blocks its owner's deletion.
inline OwnerReference owner(std::string words) {
    OwnerReference reference;
    reference.block_owner_deletion = words.back() == '!';
    if (reference.block_owner_deletion) words.pop_back();
    reference.kind = "Thing";
    reference.name = "name-of-" + words;
    reference.uid = words;
    return reference;
}

inline OwnedObject object(const std::string& uid, const std::vector<std::string>& owners = {}) {
    OwnedObject made;
    made.id = thing(uid);
    made.name = "name-of-" + uid;
    for (const std::string& words : owners) made.owners.push_back(owner(words));
    return made;
}

struct World {
    OwnerGraph graph{};
    std::map<ObjectId, OwnedObject> objects{};
    std::vector<std::string> done{};  // "look up a", "remove a", "drop a: b c", "unblock a"
    std::function<void(const GraphAction&)> before_action = [](const GraphAction&) {};

    void add(const OwnedObject& made, bool seen = true) {
        objects[made.id] = made;
        if (seen) graph.observe(made);
    }
    void remove(const std::string& uid) {
        objects.erase(thing(uid));
        graph.removed(thing(uid));
    }
    [[nodiscard]] bool has(const std::string& uid) const { return objects.contains(thing(uid)); }

    static std::string words(const GraphAction& action) {
        if (action.verb == GraphVerb::look_up) return "look up " + action.object.uid;
        if (action.verb == GraphVerb::remove) return "remove " + action.object.uid;
        if (action.verb == GraphVerb::unblock) return "unblock " + action.object.uid;
        std::string text = "drop " + action.object.uid + ":";
        for (const ObjectId& id : action.references) text += " " + id.uid;
        return text;
    }

    void carry_out(const GraphAction& action) {
        const auto found = objects.find(action.object);
        if (action.verb == GraphVerb::look_up) {
            graph.answer(action.object, found == objects.end() ? std::nullopt : std::optional(found->second));
        } else if (action.verb == GraphVerb::remove) {
            objects.erase(action.object);
            graph.removed(action.object);
        } else if (found != objects.end()) {
            policy::carry_out(action, found->second);
            graph.observe(found->second);
        }
    }

    // Until there is nothing to do, or `limit` actions. False: there was no end.
    bool run(std::size_t limit = 1000) {
        for (std::size_t i = 0; i < limit; ++i) {
            const auto action = graph.step();
            if (!action) return true;
            before_action(*action);
            done.push_back(words(*action));
            carry_out(*action);
        }
        return !graph.step().has_value();
    }
};

}  // namespace evictd::policy::testing
