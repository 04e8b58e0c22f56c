// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What holds for the owner graph whatever the objects: seeds make random ones, with circles, absent owners, objects
// observed in any order, failures, and deletions asked for in between.
#include <random>

#include <gtest/gtest.h>

#include "owners_world.hpp"

namespace evictd::policy {
namespace {

using namespace testing;

class Trial {
public:
    explicit Trial(unsigned seed) : random_(seed) {
        const unsigned count = 2 + pick(9);
        for (unsigned i = 0; i < count; ++i) {
            std::vector<std::string> owners;
            for (unsigned n = pick(4); n > 0; --n) {
                // Two uids more than there are objects: those are absent.
                owners.push_back(std::to_string(pick(count + 2)) + (pick(2) == 0 ? "!" : ""));
            }
            world_.objects[thing(std::to_string(i))] = object(std::to_string(i), owners);
        }
        world_.before_action = [this](const GraphAction& action) { judge(action); };
    }

    void run() {
        std::vector<OwnedObject> unseen;
        for (const auto& [id, made] : world_.objects) unseen.push_back(made);
        std::shuffle(unseen.begin(), unseen.end(), random_);
        for (const OwnedObject& made : unseen) {
            if (world_.has(made.id.uid)) world_.graph.observe(world_.objects.at(made.id));
            if (pick(2) == 0) step();
            if (pick(4) == 0) ask(made.id);
        }
        for (int i = 0; i < 5; ++i) step();
        EXPECT_TRUE(world_.run(5000)) << "no rest";
        check_rest();
    }

private:
    unsigned pick(unsigned below) { return static_cast<unsigned>(random_() % below); }

    void ask(const ObjectId& id) {
        const auto policy = static_cast<DeletePolicy>(pick(3));
        if (!world_.graph.request_delete(id, policy)) return;
        // What a foreground deletion began stays begun when another policy is asked for later.
        if (policy == DeletePolicy::foreground || is_waiting(id, {})) foreground_.insert(id);
        asked_.insert(id);
        if (policy == DeletePolicy::orphan) asked_orphan_.insert(id);
    }

    void step() {
        const auto action = world_.graph.step();
        if (!action) return;
        if (pick(5) == 0) {
            world_.graph.failed(action->object);
            return;
        }
        judge(*action);
        world_.carry_out(*action);
    }

    // Whoever is removed was asked for, or has no owner that stays. Whoever loses references keeps one, unless it is
    // orphaned.
    void judge(const GraphAction& action) {
        if (action.verb == GraphVerb::drop_references) {
            OwnedObject after = world_.objects.at(action.object);
            carry_out(action, after);
            const bool orphaned = action.references.size() == 1 && asked_orphan_.contains(action.references.front());
            EXPECT_TRUE(orphaned || !after.owners.empty()) << action.object.uid << " is nobody's any more";
        }
        if (action.verb != GraphVerb::remove) return;
        ASSERT_TRUE(world_.objects.contains(action.object)) << "removed twice";
        if (asked_.contains(action.object)) return;
        for (const OwnerReference& reference : world_.objects.at(action.object).owners) {
            const ObjectId above{reference.kind, reference.uid};
            if (above == action.object) continue;
            const bool exists = world_.objects.contains(above);
            EXPECT_TRUE(!exists || is_waiting(above, {})) << action.object.uid << " has a solid owner " << above.uid;
        }
    }

    // Being deleted in the foreground: asked for, or because of an owner that is.
    bool is_waiting(const ObjectId& id, std::set<ObjectId> seen) const {
        const auto found = world_.objects.find(id);
        if (found == world_.objects.end()) return true;
        if (foreground_.contains(id)) return true;
        if (asked_.contains(id)) return false;
        if (!seen.insert(id).second) return true;
        for (const OwnerReference& reference : found->second.owners) {
            if (!is_waiting({reference.kind, reference.uid}, seen)) return false;
        }
        return !found->second.owners.empty();
    }

    void check_rest() const {
        for (const ObjectId& id : asked_) EXPECT_FALSE(world_.objects.contains(id)) << id.uid << " was asked for";
        for (const auto& [id, made] : world_.objects) {
            for (const OwnerReference& reference : made.owners) {
                EXPECT_TRUE(world_.objects.contains({reference.kind, reference.uid}))
                    << id.uid << " outlived its owner " << reference.uid;
            }
        }
    }

    std::mt19937 random_;
    World world_;
    std::set<ObjectId> asked_;
    std::set<ObjectId> foreground_;
    std::set<ObjectId> asked_orphan_;
};

TEST(OwnersProperty, ItRestsWithTheRightObjectsLeft) {
    for (unsigned seed = 0; seed < 4000; ++seed) {
        SCOPED_TRACE(seed);
        Trial(seed).run();
        if (HasFailure()) return;
    }
}

TEST(OwnersProperty, TheSameCallsGiveTheSameActions) {
    std::vector<std::string> first;
    for (int round = 0; round < 2; ++round) {
        World world;
        for (int i = 0; i < 50; ++i) world.add(object(std::to_string(i), {std::to_string(i / 3) + "!"}));
        world.graph.request_delete(thing("0"), DeletePolicy::foreground);
        EXPECT_TRUE(world.run());
        if (round == 0) first = world.done;
        EXPECT_EQ(world.done, first);
    }
    EXPECT_EQ(first.size(), 50U);
}

// A wide family costs one action a member, and finding each must not cost a look at all others.
TEST(OwnersProperty, AFamilyOfThousandsIsDoneInThousandsOfSteps) {
    for (const DeletePolicy policy : {DeletePolicy::background, DeletePolicy::foreground, DeletePolicy::orphan}) {
        World world;
        world.add(object("top"));
        for (int i = 0; i < 5000; ++i) world.add(object(std::to_string(i), {"top!"}));
        world.graph.request_delete(thing("top"), policy);
        EXPECT_TRUE(world.run(6000));
        EXPECT_EQ(world.done.size(), 5001U);
    }
}

}  // namespace
}  // namespace evictd::policy
