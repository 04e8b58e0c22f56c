// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The owner graph: one rule of the garbage collector a row, from a deletion that is asked for to the last consequence.
#include "owners.hpp"

#include <gtest/gtest.h>

#include "owners_world.hpp"

namespace evictd::policy {
namespace {

using namespace testing;
using Words = std::vector<std::string>;

// Objects as "uid: owners", what is asked, and what is done about it.
struct Case {
    std::string rule;
    std::vector<std::pair<std::string, std::vector<std::string>>> objects;
    std::vector<std::pair<std::string, DeletePolicy>> asked;
    Words done;
};

constexpr auto background = DeletePolicy::background;
constexpr auto foreground = DeletePolicy::foreground;
constexpr auto orphan = DeletePolicy::orphan;

TEST(Owners, WhatFollowsFromADeletion) {
    const std::vector<Case> cases{
        {"nothing is asked, nothing is done", {{"a", {}}, {"b", {"a!"}}}, {}, {}},
        {"background: the owner at once, dependents follow",
         {{"a", {}}, {"b", {"a!"}}, {"c", {"b!"}}, {"other", {}}},
         {{"a", background}},
         {"remove a", "remove b", "remove c"}},
        {"foreground: dependents first",
         {{"a", {}}, {"b", {"a!"}}, {"c", {"b!"}}},
         {{"a", foreground}},
         {"remove c", "remove b", "remove a"}},
        {"foreground: what does not block follows all the same",
         {{"a", {}}, {"b", {"a"}}},
         {{"a", foreground}},
         {"remove b", "remove a"}},
        {"foreground: without dependents at once", {{"a", {}}}, {{"a", foreground}}, {"remove a"}},
        {"orphan: dependents lose the reference and stay",
         {{"a", {}}, {"b", {"a!"}}, {"c", {"a"}}, {"d", {"b"}}},
         {{"a", orphan}},
         {"drop b: a", "drop c: a", "remove a"}},
        {"orphan: without dependents at once", {{"a", {}}}, {{"a", orphan}}, {"remove a"}},
        {"a solid owner keeps it, the dangling reference goes",
         {{"a", {}}, {"o", {}}, {"b", {"a!", "o!"}}},
         {{"a", background}},
         {"remove a", "drop b: a"}},
        {"a solid owner keeps it, the waiting reference goes and lets the owner go",
         {{"a", {}}, {"o", {}}, {"b", {"a!", "o!"}}},
         {{"a", foreground}},
         {"drop b: a", "remove a"}},
        {"dangling and waiting references go in one",
         {{"a", {}}, {"b", {}}, {"o", {}}, {"c", {"o", "a!", "b!"}}},
         {{"b", background}, {"a", foreground}},
         {"remove b", "drop c: a b", "remove a"}},
        {"with an owner gone and one waiting it goes",
         {{"a", {}}, {"b", {}}, {"c", {"a!", "b!"}}},
         {{"b", background}, {"a", foreground}},
         {"remove b", "remove c", "remove a"}},
        {"what has a solid owner goes when it is asked for",
         {{"o", {}}, {"a", {"o!"}}},
         {{"a", background}},
         {"remove a"}},
        {"a circle of foreground deletion is unblocked",
         {{"a", {"b!"}}, {"b", {"a!"}}},
         {{"a", foreground}},
         {"unblock b", "remove a", "remove b"}},
        {"a longer circle too",
         {{"a", {"c!"}}, {"b", {"a!"}}, {"c", {"b!"}}},
         {{"a", foreground}},
         {"unblock c", "remove b", "remove a", "remove c"}},
        {"a circle of objects that were each asked to go is unblocked",
         {{"a", {"b!"}}, {"b", {"a!"}}},
         {{"a", foreground}, {"b", foreground}},
         {"unblock a", "remove b", "remove a"}},
        {"a circle goes in the background",
         {{"a", {"b!"}}, {"b", {"a!"}}},
         {{"a", background}},
         {"remove a", "remove b"}},
        {"an object that owns itself does not wait for itself", {{"a", {"a!"}}}, {{"a", foreground}}, {"remove a"}},
        {"the last policy counts",
         {{"a", {}}, {"b", {"a!"}}},
         {{"a", foreground}, {"a", orphan}},
         {"drop b: a", "remove a"}},
    };
    for (const Case& c : cases) {
        World world;
        for (const auto& [uid, owners] : c.objects) world.add(object(uid, owners), false);
        for (const auto& [id, made] : world.objects) world.graph.observe(made);
        EXPECT_TRUE(world.run());
        world.done.clear();  // looked up owners that had not been observed yet
        for (const auto& [uid, policy] : c.asked) EXPECT_TRUE(world.graph.request_delete(thing(uid), policy)) << c.rule;
        EXPECT_TRUE(world.run()) << c.rule;
        EXPECT_EQ(world.done, c.done) << c.rule;
    }
}

}  // namespace
}  // namespace evictd::policy
