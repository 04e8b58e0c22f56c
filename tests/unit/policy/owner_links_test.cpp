// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The owner graph as it meets the world: what is observed, looked up, failed, or done by somebody else. One rule a
// test.
#include <gtest/gtest.h>

#include "owners_world.hpp"

namespace evictd::policy {
namespace {

using namespace testing;
using Words = std::vector<std::string>;

constexpr auto delete_background = DeletePolicy::background;
constexpr auto delete_foreground = DeletePolicy::foreground;
constexpr auto delete_orphan = DeletePolicy::orphan;

TEST(Owners, AnUnseenOwnerIsLookedUpOnce) {
    World world;
    world.add(object("b", {"a"}));
    world.add(object("c", {"a"}));
    const auto action = world.graph.step();
    ASSERT_TRUE(action);
    EXPECT_EQ(World::words(*action), "look up a");
    EXPECT_EQ(action->name, "name-of-a");
    EXPECT_FALSE(world.graph.step());
}

TEST(Owners, DependentsOfAnOwnerThatIsProvedAbsentGo) {
    World world;
    world.add(object("b", {"a"}));
    world.add(object("c", {"b"}));
    EXPECT_TRUE(world.run());
    EXPECT_EQ(world.done, (Words{"look up a", "remove b", "remove c"}));
}

TEST(Owners, AnOwnerOfTheSameNameWithAnotherUidIsAbsent) {
    World world;
    world.add(object("b", {"old"}));
    const auto action = world.graph.step();
    ASSERT_TRUE(action);
    OwnedObject reborn = object("new");
    reborn.name = action->name;
    world.graph.answer(action->object, reborn);
    EXPECT_TRUE(world.run());
    EXPECT_EQ(world.done, (Words{"remove b"}));
}

TEST(Owners, AnOwnerOfTheSameUidAndAnotherKindIsAnother) {
    World world;
    world.add(object("a"));
    OwnedObject dependent = object("b", {"a"});
    dependent.owners[0].kind = "Other";
    world.add(dependent);
    EXPECT_TRUE(world.run());
    EXPECT_EQ(world.done, (Words{"look up a", "remove b"}));
}

TEST(Owners, AnOwnerThatIsObservedIsNotLookedUp) {
    World world;
    world.add(object("b", {"a"}));
    world.add(object("a"));
    EXPECT_TRUE(world.run());
    EXPECT_EQ(world.done, Words{});
}

TEST(Owners, AnAnswerOlderThanAnObservationProvesNothing) {
    World world;
    world.add(object("b", {"a"}));
    EXPECT_TRUE(world.graph.step());
    world.add(object("a"));
    world.graph.answer(thing("a"), std::nullopt);
    EXPECT_TRUE(world.run());
    EXPECT_TRUE(world.has("b"));
}

TEST(Owners, AnAbsentOwnerIsNotLookedUpAgain) {
    World world;
    world.add(object("o"));
    world.add(object("b", {"a", "o"}));
    EXPECT_TRUE(world.run());
    EXPECT_EQ(world.done, (Words{"look up a", "drop b: a"}));
    world.add(object("c", {"a"}));
    EXPECT_TRUE(world.run());
    EXPECT_EQ(world.done, (Words{"look up a", "drop b: a", "remove c"}));
}

TEST(Owners, WhatDroppedOutOfTheAbsentOwnersIsLookedUpAgain) {
    World world;
    world.add(object("o"));
    for (int i = 0; i <= 500; ++i) world.add(object("d" + std::to_string(i), {"gone" + std::to_string(i)}));
    EXPECT_TRUE(world.run(5000));
    world.done.clear();
    world.add(object("late", {"gone0"}));
    world.add(object("later", {"gone500"}));
    EXPECT_TRUE(world.run());
    EXPECT_EQ(world.done, (Words{"look up gone0", "remove late", "remove later"}));
}

TEST(Owners, NothingIsDecidedWhileAnOwnerIsUnknown) {
    World world;
    world.add(object("a"));
    world.add(object("b", {"a", "unseen"}));
    world.remove("a");
    EXPECT_EQ(World::words(world.graph.step().value()), "look up unseen");
    EXPECT_FALSE(world.graph.step());
    world.add(object("unseen"));
    EXPECT_TRUE(world.run());
    EXPECT_EQ(world.done, (Words{"drop b: a"}));
}

TEST(Owners, AnOwnerThatWentBeforeItsDependentWasSeenIsLookedUp) {
    World world;
    world.add(object("a"));
    world.remove("a");
    world.add(object("b", {"a"}));
    EXPECT_TRUE(world.run());
    EXPECT_EQ(world.done, (Words{"look up a", "remove b"}));
}

TEST(Owners, ADependentThatComesDuringForegroundDeletionGoesToo) {
    World world;
    world.add(object("a"));
    world.add(object("b", {"a!"}));
    world.graph.request_delete(thing("a"), delete_foreground);
    EXPECT_EQ(World::words(world.graph.step().value()), "remove b");
    world.add(object("late", {"a!"}));
    world.remove("b");
    EXPECT_TRUE(world.run());
    EXPECT_EQ(world.done, (Words{"remove late", "remove a"}));
}

TEST(Owners, AReferenceThatStopsBlockingLetsTheOwnerGo) {
    World world;
    world.add(object("a"));
    world.add(object("b", {"a!"}));
    world.graph.request_delete(thing("a"), delete_foreground);
    EXPECT_EQ(World::words(world.graph.step().value()), "remove b");
    EXPECT_FALSE(world.graph.step());
    world.graph.observe(object("b", {"a"}));
    EXPECT_EQ(World::words(world.graph.step().value()), "remove a");
}

TEST(Owners, AFailedActionIsTriedAgain) {
    World world;
    world.add(object("a"));
    world.add(object("b", {"a!"}));
    world.graph.request_delete(thing("a"), delete_orphan);
    EXPECT_EQ(World::words(world.graph.step().value()), "drop b: a");
    EXPECT_FALSE(world.graph.step());
    world.graph.failed(thing("b"));
    EXPECT_TRUE(world.run());
    EXPECT_EQ(world.done, (Words{"drop b: a", "remove a"}));
}

TEST(Owners, AFailedLookUpAndAFailedRemovalAreTriedAgain) {
    World world;
    world.add(object("b", {"a"}));
    EXPECT_TRUE(world.graph.step());
    world.graph.failed(thing("a"));
    EXPECT_EQ(World::words(world.graph.step().value()), "look up a");
    world.graph.answer(thing("a"), std::nullopt);
    EXPECT_EQ(World::words(world.graph.step().value()), "remove b");
    world.graph.failed(thing("b"));
    EXPECT_EQ(World::words(world.graph.step().value()), "remove b");
}

TEST(Owners, WhatAnotherClientDeletesIsLeftAlone) {
    World world;
    OwnedObject leaving = object("b", {"a"});
    leaving.deleting = delete_background;
    world.add(leaving);
    EXPECT_TRUE(world.run());
    EXPECT_EQ(world.done, (Words{"look up a"}));
    world.remove("b");
    EXPECT_TRUE(world.run());
}

TEST(Owners, ACircleWaitsForTheOneThatAnotherClientDeletes) {
    World world;
    world.add(object("a", {"b!"}));
    world.add(object("b", {"a!"}));
    EXPECT_TRUE(world.graph.request_delete(thing("a"), delete_foreground));
    EXPECT_TRUE(world.graph.request_delete(thing("b"), delete_foreground));
    OwnedObject leaving = object("a", {"b!"});
    leaving.deleting = delete_background;
    world.add(leaving);
    EXPECT_TRUE(world.run());
    EXPECT_EQ(world.done, Words{});
    world.remove("a");
    EXPECT_TRUE(world.run());
    EXPECT_EQ(world.done, (Words{"remove b"}));
}

TEST(Owners, AnOwnerThatAppearsAfterAllIsAnObjectAsAnyOther) {
    World world;
    world.add(object("o"));
    world.add(object("b", {"a", "o"}));
    EXPECT_TRUE(world.graph.step());
    world.graph.answer(thing("a"), std::nullopt);
    EXPECT_EQ(World::words(world.graph.step().value()), "drop b: a");
    world.add(object("a"));
    EXPECT_TRUE(world.graph.request_delete(thing("a"), delete_background));
    EXPECT_EQ(World::words(world.graph.step().value()), "remove a");
}

TEST(Owners, AnObservationWithoutTheChangeDoesNotRepeatTheAction) {
    World world;
    world.add(object("a"));
    world.add(object("b", {"a"}));
    EXPECT_TRUE(world.graph.request_delete(thing("a"), delete_orphan));
    EXPECT_EQ(World::words(world.graph.step().value()), "drop b: a");
    world.graph.observe(object("b", {"a"}));
    EXPECT_FALSE(world.graph.step());
    world.graph.observe(object("b"));
    EXPECT_EQ(World::words(world.graph.step().value()), "remove a");
}

TEST(Owners, AForegroundDeletionThatAnotherClientBeganIsCompleted) {
    World world;
    world.add(object("a"));
    world.add(object("b", {"a!"}));
    OwnedObject deleting = object("a");
    deleting.deleting = delete_foreground;
    world.add(deleting);
    EXPECT_TRUE(world.run());
    EXPECT_EQ(world.done, (Words{"remove b", "remove a"}));
}

TEST(Owners, AnActionOnWhatIsGoneMeanwhileIsNotAskedFor) {
    World world;
    world.add(object("a"));
    world.add(object("b", {"a"}));
    world.add(object("c", {"a"}));
    world.graph.request_delete(thing("a"), delete_orphan);
    EXPECT_EQ(World::words(world.graph.step().value()), "drop b: a");
    world.remove("c");
    EXPECT_FALSE(world.graph.step());
}

TEST(Owners, WhatIsNotThereCannotBeDeleted) {
    OwnerGraph graph;
    EXPECT_FALSE(graph.request_delete(thing("a"), delete_background));
    graph.observe(object("b", {"a"}));
    EXPECT_FALSE(graph.request_delete(thing("a"), delete_background));  // only known as an owner
    graph.removed(thing("nobody"));
    graph.failed(thing("nobody"));
    graph.answer(thing("nobody"), std::nullopt);
}

}  // namespace
}  // namespace evictd::policy
