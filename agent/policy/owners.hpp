// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Who owns whom on a node, and what follows from it: the graph of the garbage collector. It only says what has to be
// done next; objects change by what is observed, never by what was decided here.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "evictd/model/pod.hpp"

namespace evictd::policy {

// Pod, sandbox, container, image, log directory, cgroup, volume directory, ...: a kind is any word. A name is no part
// of an identity: a new object of an old name is another one.
struct ObjectId {
    std::string kind;
    std::string uid;
    friend auto operator<=>(const ObjectId&, const ObjectId&) = default;
};

enum class DeletePolicy : std::uint8_t {
    background,  // the object at once, its dependents follow
    foreground,  // dependents first; those that block it must be gone before it goes
    orphan,      // dependents lose their reference and stay
};

struct OwnedObject {
    ObjectId id;
    std::string name;
    std::vector<OwnerReference> owners;
    std::optional<DeletePolicy> deleting;  // somebody else has asked for its deletion
};

enum class GraphVerb : std::uint8_t {
    look_up,          // ask for the object by kind and name; the answer goes to answer()
    remove,           // delete it now; removed() when it is gone
    drop_references,  // take `references` out of its owners; observe() it then
    unblock,          // none of its references blocks its owner any more; observe() it then
};

struct GraphAction {
    GraphVerb verb = GraphVerb::look_up;
    ObjectId object;
    std::string name;
    DeletePolicy policy = DeletePolicy::background;  // of remove: what brought it about
    std::vector<ObjectId> references;
    std::string why;
};

// Changes an object as drop_references and unblock ask for. What was already changed stays as it is.
void carry_out(const GraphAction& action, OwnedObject& object);

// GraphBuilder and GarbageCollector of pkg/controller/garbagecollector in one thread. An object has one action under
// way at most. A plain value; the same calls give the same actions.
class OwnerGraph {
public:
    // It was added or has changed.
    void observe(const OwnedObject& object);
    // It is gone.
    void removed(const ObjectId& id);
    // What a look-up by name found. Nothing, or one with another uid, proves `asked` absent.
    void answer(const ObjectId& asked, const std::optional<OwnedObject>& found);
    // The action under way on it failed. It is tried again, so not before a while the next step().
    void failed(const ObjectId& id);
    // False if there is no such object. The last policy counts, until its removal is under way.
    bool request_delete(const ObjectId& id, DeletePolicy policy);

    // What to do next; none: nothing, until something is observed.
    [[nodiscard]] std::optional<GraphAction> step();

private:
    struct Node {
        std::string name;
        std::vector<OwnerReference> owners;
        std::set<ObjectId> dependents;
        std::set<ObjectId> blockers;           // those of the dependents that block its deletion
        bool observed = false;                 // else virtual: only known as somebody's owner
        bool absent = false;                   // proved to be gone, and somebody still names it as its owner
        bool undecided = false;                // it waits for what a look-up says of its owners
        bool leaving = false;                  // somebody else is deleting it
        bool in_circle = false;                // it waits for itself: its references must not block
        std::optional<DeletePolicy> deletion;  // asked for, or begun here
        std::optional<GraphVerb> under_way;
    };
    // As a work queue of client-go: in order of arrival, nothing twice.
    class Queue {
    public:
        void add(const ObjectId& id);
        [[nodiscard]] std::optional<ObjectId> take();

    private:
        std::deque<ObjectId> order_;
        std::set<ObjectId> members_;
    };
    // Owners proved absent, the last few: ReferenceCache.
    class AbsentOwners {
    public:
        void add(const ObjectId& id);
        void erase(const ObjectId& id) { members_.erase(id); }
        [[nodiscard]] bool contains(const ObjectId& id) const { return members_.contains(id); }

    private:
        std::deque<ObjectId> order_;
        std::set<ObjectId> members_;
    };
    struct References {
        bool solid = false;
        bool waiting = false;
        bool unknown = false;
        std::vector<ObjectId> useless;  // dangling or waiting
    };

    [[nodiscard]] Node* find(const ObjectId& id);
    void link(const ObjectId& id, const ObjectId& owner, const std::string& name, bool blocks);
    void unlink(const ObjectId& id, const ObjectId& owner);
    bool relink(const ObjectId& id, Node& node, const std::vector<OwnerReference>& owners);
    void forget(const ObjectId& id);
    void settle(const ObjectId& id, Node& node);

    void attempt_to_delete(const ObjectId& id);
    void attempt_to_orphan(const ObjectId& id);
    void advance_foreground(const ObjectId& id, Node& node);
    void collect(const ObjectId& id, Node& node);
    [[nodiscard]] References classify(const Node& node) const;
    void begin_foreground(const ObjectId& id, Node& node);
    bool break_circle();
    void act(const ObjectId& id, Node& node, GraphAction action);

    std::map<ObjectId, Node> nodes_;
    AbsentOwners absent_;
    Queue to_delete_;
    Queue to_orphan_;
    std::set<ObjectId> foreground_;  // being deleted in the foreground
    std::size_t under_way_ = 0;
    std::deque<GraphAction> ready_;
};

}  // namespace evictd::policy
