// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "owners.hpp"

#include <algorithm>

namespace evictd::policy {

void carry_out(const GraphAction& action, OwnedObject& object) {
    if (action.verb == GraphVerb::drop_references) {
        const std::set<ObjectId> dropped(action.references.begin(), action.references.end());
        std::erase_if(object.owners, [&](const OwnerReference& owner) {
            return dropped.contains({owner.kind, owner.uid});
        });
    }
    if (action.verb == GraphVerb::unblock) {
        for (OwnerReference& owner : object.owners) owner.block_owner_deletion = false;
    }
}

bool OwnerGraph::request_delete(const ObjectId& id, DeletePolicy policy) {
    Node* node = find(id);
    if (node == nullptr || !node->observed) return false;
    if (node->leaving || node->under_way == GraphVerb::remove) return true;
    if (policy == DeletePolicy::foreground) {
        begin_foreground(id, *node);
        return true;
    }
    node->deletion = policy;
    foreground_.erase(id);
    to_delete_.add(id);
    return true;
}

// Orphaning comes first: a dependent that is to stay must have lost its reference before its owner is missed.
std::optional<GraphAction> OwnerGraph::step() {
    while (true) {
        if (!ready_.empty()) {
            GraphAction action = std::move(ready_.front());
            ready_.pop_front();
            const Node* node = find(action.object);
            if (node != nullptr && node->under_way == action.verb) return action;  // else it went meanwhile
        } else if (const auto owner = to_orphan_.take()) {
            attempt_to_orphan(*owner);
        } else if (const auto id = to_delete_.take()) {
            attempt_to_delete(*id);
        } else if (!break_circle()) {
            return std::nullopt;
        }
    }
}

// attemptToDeleteItem.
void OwnerGraph::attempt_to_delete(const ObjectId& id) {
    Node* node = find(id);
    if (node == nullptr || node->absent || node->under_way || node->leaving) return;
    if (!node->observed) {
        if (node->dependents.empty() || absent_.contains(id)) {
            forget(id);
        } else {
            act(id, *node, {.verb = GraphVerb::look_up, .why = "it is only known as an owner"});
        }
    } else if (!node->deletion) {
        collect(id, *node);
    } else if (*node->deletion == DeletePolicy::foreground) {
        advance_foreground(id, *node);
    } else if (*node->deletion == DeletePolicy::orphan) {
        to_orphan_.add(id);
    } else {
        act(id, *node, {.verb = GraphVerb::remove, .why = "its deletion was asked for"});
    }
}

// attemptToOrphanWorker.
void OwnerGraph::attempt_to_orphan(const ObjectId& id) {
    Node* node = find(id);
    if (node == nullptr || node->under_way || node->deletion != DeletePolicy::orphan) return;
    if (node->dependents.empty()) {
        act(id, *node,
            {.verb = GraphVerb::remove, .policy = DeletePolicy::orphan, .why = "no dependent refers to it any more"});
        return;
    }
    for (const ObjectId& dependent : node->dependents) {
        Node& below = nodes_.at(dependent);
        if (below.under_way) continue;
        act(dependent, below,
            {.verb = GraphVerb::drop_references, .references = {id}, .why = "its owner goes without it"});
    }
}

// processDeletingDependentsItem. Dependents were queued when the deletion began, or when they came.
void OwnerGraph::advance_foreground(const ObjectId& id, Node& node) {
    const bool blocks = std::any_of(node.owners.begin(), node.owners.end(),
                                    [](const OwnerReference& owner) { return owner.block_owner_deletion; });
    if (node.in_circle && blocks) {
        act(id, node, {.verb = GraphVerb::unblock, .why = "it and one of its owners wait for each other"});
    } else if (node.blockers.empty()) {
        act(id, node,
            {.verb = GraphVerb::remove, .policy = DeletePolicy::foreground, .why = "no dependent blocks it any more"});
    }
}

// The second half of attemptToDeleteItem: nobody has asked for its deletion, so its owners decide.
void OwnerGraph::collect(const ObjectId& id, Node& node) {
    if (node.owners.empty()) return;
    References references = classify(node);
    node.undecided = references.unknown;
    if (references.unknown) return;
    if (references.solid) {
        if (references.useless.empty()) return;
        act(id, node,
            {.verb = GraphVerb::drop_references,
             .references = std::move(references.useless),
             .why = "other owners are left"});
    } else if (references.waiting && !node.dependents.empty()) {
        // May see a circle where there is none, as the garbage collector does: then less blocks than could.
        node.in_circle = std::any_of(node.dependents.begin(), node.dependents.end(),
                                     [&](const ObjectId& dependent) { return foreground_.contains(dependent); });
        begin_foreground(id, node);
    } else {
        act(id, node,
            {.verb = GraphVerb::remove,
             .why = references.waiting ? "its last owner waits for it to go" : "none of its owners is left"});
    }
}

// classifyReferences. Only what nobody has seen is looked up; for all else the graph is the truth.
OwnerGraph::References OwnerGraph::classify(const Node& node) const {
    References result;
    for (const OwnerReference& reference : node.owners) {
        const ObjectId owner{reference.kind, reference.uid};
        const Node& above = nodes_.at(owner);
        if (above.observed) {
            const bool waits = above.deletion == DeletePolicy::foreground;
            (waits ? result.waiting : result.solid) = true;
            if (waits) result.useless.push_back(owner);
        } else if (above.absent) {
            result.useless.push_back(owner);
        } else {
            result.unknown = true;
        }
    }
    return result;
}

void OwnerGraph::begin_foreground(const ObjectId& id, Node& node) {
    node.deletion = DeletePolicy::foreground;
    foreground_.insert(id);
    for (const ObjectId& dependent : node.dependents) to_delete_.add(dependent);
    to_delete_.add(id);
}

// Objects of a circle may each have been asked to go in the foreground. Kubernetes leaves them waiting for each other;
// once nothing else is to be done, the reference that closes the circle stops blocking.
bool OwnerGraph::break_circle() {
    if (under_way_ != 0) return false;
    std::set<ObjectId> seen;
    for (const ObjectId& start : foreground_) {
        std::set<ObjectId> path;
        ObjectId id = start;
        while (!seen.contains(id)) {
            seen.insert(id);
            path.insert(id);
            const Node& node = nodes_.at(id);
            const auto next = std::find_if(node.blockers.begin(), node.blockers.end(),
                                           [&](const ObjectId& blocker) { return foreground_.contains(blocker); });
            if (next == node.blockers.end()) break;
            id = *next;
            if (!path.contains(id)) continue;
            nodes_.at(id).in_circle = true;
            to_delete_.add(id);
            return true;
        }
    }
    return false;
}

void OwnerGraph::act(const ObjectId& id, Node& node, GraphAction action) {
    action.object = id;
    action.name = node.name;
    node.under_way = action.verb;
    ++under_way_;
    ready_.push_back(std::move(action));
}

}  // namespace evictd::policy
