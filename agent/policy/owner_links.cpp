// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The half of the owner graph that keeps nodes and edges up to date with what is observed. What follows from a change
// is only queued here; owners.cpp decides.
#include <algorithm>

#include "owners.hpp"

namespace evictd::policy {

namespace {

// The default size of ReferenceCache. Halved or doubled, no decision changes: an owner that dropped out of it is looked
// up again.
constexpr std::size_t absent_owners_kept = 500;

// By owner, and whether it is blocked. An owner that is named twice is blocked if one of both says so.
std::map<ObjectId, bool> edges_of(const std::vector<OwnerReference>& owners) {
    std::map<ObjectId, bool> edges;
    for (const OwnerReference& owner : owners) {
        bool& blocks = edges[{owner.kind, owner.uid}];
        blocks = blocks || owner.block_owner_deletion;
    }
    return edges;
}

const std::string& name_in(const std::vector<OwnerReference>& owners, const ObjectId& id) {
    return std::find_if(owners.begin(), owners.end(),
                        [&](const OwnerReference& owner) { return owner.kind == id.kind && owner.uid == id.uid; })
        ->name;
}

}  // namespace

void OwnerGraph::Queue::add(const ObjectId& id) {
    if (members_.insert(id).second) order_.push_back(id);
}

std::optional<ObjectId> OwnerGraph::Queue::take() {
    if (order_.empty()) return std::nullopt;
    ObjectId id = std::move(order_.front());
    order_.pop_front();
    members_.erase(id);
    return id;
}

void OwnerGraph::AbsentOwners::add(const ObjectId& id) {
    if (!members_.insert(id).second) return;
    order_.push_back(id);
    while (order_.size() > absent_owners_kept) {
        members_.erase(order_.front());
        order_.pop_front();
    }
}

OwnerGraph::Node* OwnerGraph::find(const ObjectId& id) {
    const auto node = nodes_.find(id);
    return node == nodes_.end() ? nullptr : &node->second;
}

void OwnerGraph::observe(const OwnedObject& object) {
    Node& node = nodes_[object.id];
    node.name = object.name;
    if (!node.observed) {
        node.observed = true;
        node.absent = false;
        absent_.erase(object.id);
        if (node.under_way) settle(object.id, node);
        for (const ObjectId& dependent : node.dependents) {
            if (nodes_.at(dependent).undecided) to_delete_.add(dependent);
        }
    }
    const bool changed = relink(object.id, node, object.owners);
    const bool was_asked = node.under_way == GraphVerb::drop_references || node.under_way == GraphVerb::unblock;
    if (changed && was_asked) settle(object.id, node);

    if (!object.deleting) return;
    if (*object.deleting == DeletePolicy::background) {
        node.leaving = true;
        node.deletion = object.deleting;
        foreground_.erase(object.id);
    } else if (node.deletion != object.deleting) {
        request_delete(object.id, *object.deleting);
    }
}

void OwnerGraph::removed(const ObjectId& id) {
    if (find(id) != nullptr) forget(id);
}

void OwnerGraph::answer(const ObjectId& asked, const std::optional<OwnedObject>& found) {
    if (found && found->id == asked) {
        observe(*found);
        return;
    }
    // An answer that is older than an observation proves nothing.
    const Node* node = find(asked);
    if (node != nullptr && !node->observed) forget(asked);
}

void OwnerGraph::failed(const ObjectId& id) {
    Node* node = find(id);
    if (node != nullptr && node->under_way) settle(id, *node);
}

// addDependentToOwners. An owner that nobody has seen yet becomes a virtual node, to be looked up.
void OwnerGraph::link(const ObjectId& id, const ObjectId& owner, const std::string& name, bool blocks) {
    if (owner == id) return;  // it cannot wait for itself
    const auto [entry, added] = nodes_.try_emplace(owner);
    Node& node = entry->second;
    if (added) {
        node.name = name;
        to_delete_.add(owner);
    }
    node.dependents.insert(id);
    if (blocks) {
        node.blockers.insert(id);
    } else if (node.blockers.erase(id) != 0 && node.blockers.empty()) {
        to_delete_.add(owner);
    }
    if (node.absent || node.deletion == DeletePolicy::foreground) to_delete_.add(id);
    if (node.deletion == DeletePolicy::orphan) to_orphan_.add(owner);
}

// removeDependentFromOwners, and the owners that this lets go are examined.
void OwnerGraph::unlink(const ObjectId& id, const ObjectId& owner) {
    Node* node = find(owner);
    if (node == nullptr || node->dependents.erase(id) == 0) return;
    const bool was_last_blocker = node->blockers.erase(id) != 0 && node->blockers.empty();
    if (node->deletion == DeletePolicy::foreground && was_last_blocker) to_delete_.add(owner);
    if (node->deletion == DeletePolicy::orphan && node->dependents.empty()) to_orphan_.add(owner);
    if (node->absent && node->dependents.empty()) nodes_.erase(owner);
}

// referencesDiffs, carried out. True if there was a difference.
bool OwnerGraph::relink(const ObjectId& id, Node& node, const std::vector<OwnerReference>& owners) {
    const auto before = edges_of(node.owners);
    const auto after = edges_of(owners);
    node.owners = owners;
    if (before == after) return false;
    for (const auto& [owner, blocks] : before) {
        if (!after.contains(owner)) unlink(id, owner);
    }
    for (const auto& [owner, blocks] : after) {
        const auto old = before.find(owner);
        if (old == before.end() || old->second != blocks) link(id, owner, name_in(owners, owner), blocks);
    }
    return true;
}

// The delete event of GraphBuilder, real or virtual. While dependents refer to it, it stays known as absent.
void OwnerGraph::forget(const ObjectId& id) {
    Node& node = nodes_.at(id);
    if (node.under_way) --under_way_;
    for (const auto& [owner, blocks] : edges_of(node.owners)) unlink(id, owner);
    foreground_.erase(id);
    if (node.dependents.empty()) {
        nodes_.erase(id);
        return;
    }
    absent_.add(id);
    for (const ObjectId& dependent : node.dependents) to_delete_.add(dependent);
    Node absent;
    absent.name = std::move(node.name);
    absent.dependents = std::move(node.dependents);
    absent.absent = true;
    node = std::move(absent);
}

// Its action has ended, one way or another: what now has to be done is found out anew.
void OwnerGraph::settle(const ObjectId& id, Node& node) {
    node.under_way.reset();
    --under_way_;
    to_delete_.add(id);
    for (const OwnerReference& owner : node.owners) {
        const Node* above = find({owner.kind, owner.uid});
        if (above != nullptr && above->deletion == DeletePolicy::orphan) to_orphan_.add({owner.kind, owner.uid});
    }
}

}  // namespace evictd::policy
