// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Pods of several sources joined with cgroups that come and go.
#include "observe/pod_table.hpp"

#include <algorithm>
#include <tuple>

#include <gtest/gtest.h>

#include "fakes/fake_cgroups.hpp"

namespace evictd::observe {
namespace {

PodPtr pod_from(const std::string& uid, const std::string& source = "", PodOrigin origin = PodOrigin::api) {
    Pod made;
    made.uid = {uid};
    made.source = source;
    made.origin = origin;
    return std::make_shared<const Pod>(std::move(made));
}

MonotonicTime at(int milliseconds) { return MonotonicTime{std::chrono::milliseconds(milliseconds)}; }

CgroupLife life(CgroupChange change, std::uint64_t id, const std::string& uid = "") {
    return {change, CgroupId{id}, "/kubepods/pod" + uid};
}

const std::vector<fakes::FakeCgroup> two_pods{
    {.id = 1, .level = 1}, {.id = 2, .level = 2, .pod = "uid-a"}, {.id = 3, .level = 2, .pod = "uid-b"}};

TEST(PodTable, JoinsPodsWithTheirCgroups) {
    fakes::FakeCgroupTree tree(two_pods);
    PodTable table;
    table.set_pods(0, {pod_from("uid-b"), pod_from("uid-c")});
    table.set_cgroups(*tree.list_pods(), at(0));
    ASSERT_EQ(table.rows().size(), 2U);
    EXPECT_EQ(table.rows()[0].cgroup->id().value, 3U);
    EXPECT_EQ(table.rows()[1].cgroup, nullptr);
    ASSERT_EQ(table.unknown().size(), 1U);
    EXPECT_EQ(table.unknown()[0].pod, PodUid{"uid-a"});
    EXPECT_EQ(table.unknown()[0].cgroup, CgroupId{2});
}

TEST(PodTable, AUidOfTwoSourcesIsTheFirstSources) {
    PodTable table;
    table.set_pods(1, {pod_from("uid-a", "second")});
    table.set_pods(0, {pod_from("uid-a", "first")});
    ASSERT_EQ(table.rows().size(), 1U);
    EXPECT_EQ(table.rows()[0].pod->source, "first");
}

TEST(PodTable, ACgroupMadeLaterIsFoundByItsEvent) {
    fakes::FakeCgroupTree tree(two_pods);
    PodTable table;
    table.set_pods(0, {pod_from("uid-a")});
    table.apply(life(CgroupChange::made, 2, "uid-a"), at(1), tree);
    EXPECT_EQ(table.rows()[0].cgroup->id().value, 2U);
    EXPECT_NE(table.cgroup_of({"uid-a"}), nullptr);
}

TEST(PodTable, ARowIsFoundByItsCgroupAfterEachChange) {
    fakes::FakeCgroupTree tree(two_pods);
    PodTable table;
    table.set_pods(0, {pod_from("uid-b")});
    std::size_t near = 0;
    EXPECT_EQ(table.row_of({3}, near), std::nullopt) << "its cgroup is not there yet";
    table.apply(life(CgroupChange::made, 3, "uid-b"), at(1), tree);
    EXPECT_EQ(table.row_of({3}, near), 0U);
    table.set_pods(0, {pod_from("uid-a"), pod_from("uid-b")});
    EXPECT_EQ(table.row_of({3}, near), 1U);
    EXPECT_EQ(table.row_of({2}, near), std::nullopt);
    table.set_pods(0, {});
    EXPECT_EQ(table.row_of({3}, near), 0U) << "departed";
    table.apply(life(CgroupChange::removed, 3), at(2), tree);
    EXPECT_EQ(table.row_of({3}, near), std::nullopt);
    table.set_cgroups(*tree.list_pods(), at(3));
    table.set_pods(0, {pod_from("uid-b", "", PodOrigin::static_file)});
    EXPECT_EQ(table.row_of({3}, near), 0U);
    table.set_pods(0, {});
    EXPECT_EQ(table.row_of({3}, near), std::nullopt) << "a directory's pods do not depart";
}

TEST(PodTable, ARowIsFoundWhereverTheLastOneWas) {
    std::vector<PodPtr> pods;
    std::vector<port::FoundPod> found;
    for (int i = 0; i < 9; i++) {
        const auto uid = "uid-" + std::to_string(i);
        pods.push_back(pod_from(uid));
        // Ids 10, 20, ... 90, and not in the order of the UIDs.
        const CgroupId id{static_cast<std::uint64_t>((i * 4 % 9 + 1) * 10)};
        found.push_back({{uid}, std::make_shared<fakes::FakePodCgroup>(id, "/" + uid)});
    }
    PodTable table;
    table.set_pods(0, pods);
    table.set_cgroups(found, at(1));
    for (std::size_t start = 0; start <= 12; start++) {
        for (std::uint64_t id = 0; id <= 100; id++) {
            auto near = start;
            const auto row = table.row_of({id}, near);
            ASSERT_EQ(row.has_value(), id >= 10 && id < 100 && id % 10 == 0) << id << " from " << start;
            const auto there = row ? table.rows()[*row].cgroup->id().value : id;
            ASSERT_EQ(there, id) << " from " << start;
            ASSERT_EQ(table.row_of({id}, near), row) << "again: " << id;
        }
    }
}

// A pod that may have been there is not said to have arrived: it may be refused for that.
TEST(PodTable, OnlyACgroupThatIsProvedNewIsAnArrival) {
    fakes::FakeCgroupTree tree(two_pods);
    PodTable table;
    table.set_cgroups(*tree.list_pods(), at(10));
    table.set_pods(0, {pod_from("uid-a"), pod_from("uid-b")}, at(20));
    EXPECT_EQ(table.rows()[0].arrived_at, std::nullopt) << "the first listing had it";
    table.apply(life(CgroupChange::made, 2, "uid-a"), at(30), tree);
    EXPECT_EQ(table.rows()[0].arrived_at, std::nullopt) << "its making is reported late";
}

TEST(PodTable, AnArrivalIsTheEarlierOfItsCgroupAndItsListing) {
    fakes::FakeCgroupTree tree(two_pods);
    PodTable table;
    table.set_pods(0, {pod_from("uid-a")}, at(10));
    table.apply(life(CgroupChange::made, 2, "uid-a"), at(20), tree);
    EXPECT_EQ(table.rows()[0].arrived_at, at(10));
    table.apply(life(CgroupChange::made, 3, "uid-b"), at(20), tree);
    table.set_pods(0, {pod_from("uid-a"), pod_from("uid-b")}, at(30));
    EXPECT_EQ(table.rows()[0].arrived_at, at(10)) << "it was listed all the time";
    EXPECT_EQ(table.rows()[1].arrived_at, at(20));
}

TEST(PodTable, ACgroupThatIsMadeAgainIsNoArrival) {
    fakes::FakeCgroupTree tree(two_pods);
    PodTable table;
    table.set_pods(0, {pod_from("uid-a")}, at(10));
    table.apply(life(CgroupChange::made, 2, "uid-a"), at(20), tree);
    table.apply(life(CgroupChange::removed, 2), at(30), tree);
    table.apply(life(CgroupChange::made, 2, "uid-a"), at(40), tree);
    EXPECT_EQ(table.rows()[0].arrived_at, at(10));
}

// Where nothing reports a new cgroup, the listing before is when it was not there yet.
TEST(PodTable, WhatALaterListingFindsArrivedAfterTheOneBefore) {
    fakes::FakeCgroupTree tree(two_pods);
    PodTable table;
    table.set_cgroups({}, at(10));
    table.set_cgroups(*tree.list_pods(), at(20));
    table.set_pods(0, {pod_from("uid-a")}, at(30));
    EXPECT_EQ(table.rows()[0].arrived_at, at(10));
    PodTable partial;
    partial.set_cgroups({}, at(10));
    partial.add_cgroups(*tree.list_pods(), at(20));
    partial.set_pods(0, {pod_from("uid-a")}, at(30));
    EXPECT_EQ(partial.rows()[0].arrived_at, std::nullopt);
}

TEST(PodTable, UnknownPodsAreNamedByAgeAndThenByUid) {
    std::vector<fakes::FakeCgroup> pods{{.id = 1, .level = 1}};
    for (std::uint64_t id = 2; id < 60; id++) pods.push_back({.id = id, .level = 2, .pod = std::to_string(100 - id)});
    fakes::FakeCgroupTree tree(pods);
    const auto is_older = [](const UnknownPod& a, const UnknownPod& b) {
        return std::tie(a.first_seen, a.pod) < std::tie(b.first_seen, b.pod);
    };
    PodTable table;
    for (const std::uint64_t id : {50U, 20U, 30U}) {
        table.apply(life(CgroupChange::made, id, std::to_string(100 - id)), at(id == 20U ? 1 : 2), tree);
        EXPECT_TRUE(std::is_sorted(table.unknown().begin(), table.unknown().end(), is_older));
    }
    table.set_cgroups(*tree.list_pods(), at(5));
    ASSERT_EQ(table.unknown().size(), 58U);
    EXPECT_TRUE(std::is_sorted(table.unknown().begin(), table.unknown().end(), is_older));
    EXPECT_EQ(table.unknown()[0].cgroup, CgroupId{20});
}

TEST(PodTable, TheTimeOfTheLastProcessIsKeptWhenAnotherComes) {
    fakes::FakeCgroupTree tree(two_pods);
    PodTable table;
    table.set_pods(0, {pod_from("uid-a")});
    table.set_cgroups(*tree.list_pods(), at(0));
    table.apply(life(CgroupChange::emptied, 2), at(7), tree);
    EXPECT_EQ(table.rows()[0].emptied_at, at(7));
    table.apply(life(CgroupChange::populated, 2), at(9), tree);
    EXPECT_EQ(table.rows()[0].emptied_at, at(7)) << "what runs now came after it";
}

TEST(PodTable, ARemovedCgroupBelongsToNoPod) {
    fakes::FakeCgroupTree tree(two_pods);
    PodTable table;
    table.set_pods(0, {pod_from("uid-a")});
    table.set_cgroups(*tree.list_pods(), at(0));
    table.apply(life(CgroupChange::removed, 2), at(1), tree);
    EXPECT_EQ(table.rows()[0].cgroup, nullptr);
    EXPECT_EQ(table.cgroup_of({"uid-a"}), nullptr);
}

TEST(PodTable, LateNewsOfTheOldCgroupDoNotTouchTheOneRemadeUnderItsName) {
    fakes::FakeCgroupTree tree(two_pods);
    PodTable table;
    table.set_pods(0, {pod_from("uid-a")});
    table.set_cgroups(*tree.list_pods(), at(0));
    tree.declare({{.id = 1, .level = 1}, {.id = 9, .level = 2, .pod = "uid-a"}});
    table.apply(life(CgroupChange::made, 9, "uid-a"), at(1), tree);
    table.apply(life(CgroupChange::emptied, 2), at(2), tree);
    table.apply(life(CgroupChange::removed, 2), at(3), tree);
    EXPECT_EQ(table.rows()[0].cgroup->id().value, 9U);
    EXPECT_FALSE(table.rows()[0].emptied_at);
}

TEST(PodTable, ListingAgainKeepsWhatIsKnownOfTheSameCgroup) {
    fakes::FakeCgroupTree tree(two_pods);
    PodTable table;
    table.set_pods(0, {pod_from("uid-a")});
    table.set_cgroups(*tree.list_pods(), at(0));
    table.apply(life(CgroupChange::emptied, 2), at(7), tree);
    table.set_cgroups(*tree.list_pods(), at(0));
    EXPECT_EQ(table.rows()[0].emptied_at, at(7));
}

TEST(PodTable, AnUnknownCgroupIsAsOldAsItWasFirstSeen) {
    fakes::FakeCgroupTree tree(two_pods);
    PodTable table;
    table.set_cgroups(*tree.list_pods(), at(5));
    table.apply(life(CgroupChange::made, 2, "uid-a"), at(7), tree);
    table.set_cgroups(*tree.list_pods(), at(9));
    ASSERT_EQ(table.unknown().size(), 2U);
    for (const auto& one : table.unknown()) EXPECT_EQ(one.first_seen, at(5));
    const auto manifest = [](const std::string& uid) { return pod_from(uid, "", PodOrigin::static_file); };
    table.set_pods(0, {manifest("uid-a"), manifest("uid-b")});
    EXPECT_TRUE(table.unknown().empty());
    table.set_pods(0, {manifest("uid-b")});
    ASSERT_EQ(table.unknown().size(), 1U) << "its manifest was removed, and it still runs";
    EXPECT_EQ(table.unknown()[0].first_seen, at(5));
    tree.declare({{.id = 1, .level = 1}, {.id = 9, .level = 2, .pod = "uid-a"}});
    table.apply(life(CgroupChange::made, 9, "uid-a"), at(11), tree);
    ASSERT_EQ(table.unknown().size(), 1U);
    EXPECT_EQ(table.unknown()[0].cgroup, CgroupId{9});
    EXPECT_EQ(table.unknown()[0].first_seen, at(11));
    table.apply(life(CgroupChange::removed, 2), at(12), tree);
    EXPECT_EQ(table.unknown().size(), 1U) << "news of the old one";
    table.apply(life(CgroupChange::removed, 9), at(13), tree);
    EXPECT_TRUE(table.unknown().empty());
}

// Else a pod that is deleted by force would hide for as long as its grace period, which is its own choice.
TEST(PodTable, APodOfTheApiServerIsKeptUntilItsCgroupIsRemoved) {
    fakes::FakeCgroupTree tree(two_pods);
    PodTable table;
    table.set_pods(0, {pod_from("uid-a", "as it was"), pod_from("uid-b"), pod_from("uid-c")});
    table.set_cgroups(*tree.list_pods(), at(0));
    table.set_pods(0, {pod_from("uid-b"), pod_from("uid-d")});
    ASSERT_EQ(table.rows().size(), 3U) << "uid-c has no cgroup";
    EXPECT_EQ(table.rows()[0].pod->source, "as it was");
    EXPECT_TRUE(table.rows()[0].departed);
    EXPECT_EQ(table.rows()[0].cgroup->id(), CgroupId{2});
    EXPECT_FALSE(table.rows()[1].departed);
    EXPECT_TRUE(table.unknown().empty());
    table.apply(life(CgroupChange::emptied, 2), at(1), tree);
    table.set_pods(0, {pod_from("uid-b")});
    ASSERT_EQ(table.rows().size(), 2U) << "other processes may come";
    EXPECT_EQ(table.rows()[0].emptied_at, at(1));
    table.apply(life(CgroupChange::removed, 2), at(2), tree);
    ASSERT_EQ(table.rows().size(), 1U);
    EXPECT_EQ(table.rows()[0].pod->uid, PodUid{"uid-b"});
}

TEST(PodTable, ADepartedPodIsForgottenByAListingWithoutItsCgroup) {
    fakes::FakeCgroupTree tree(two_pods);
    PodTable table;
    table.set_pods(0, {pod_from("uid-a")});
    table.set_cgroups(*tree.list_pods(), at(0));
    table.set_pods(0, {});
    table.set_cgroups(*tree.list_pods(), at(1));
    EXPECT_EQ(table.rows().size(), 1U);
    tree.declare({{.id = 1, .level = 1}});
    table.set_cgroups(*tree.list_pods(), at(2));
    EXPECT_TRUE(table.rows().empty());
}

TEST(PodTable, ADepartedPodThatASourceHasAgainIsThatSources) {
    fakes::FakeCgroupTree tree(two_pods);
    PodTable table;
    table.set_pods(0, {pod_from("uid-a", "before")});
    table.set_cgroups(*tree.list_pods(), at(0));
    table.set_pods(0, {});
    table.set_pods(1, {pod_from("uid-a", "after")});
    ASSERT_EQ(table.rows().size(), 1U);
    EXPECT_EQ(table.rows()[0].pod->source, "after");
    EXPECT_FALSE(table.rows()[0].departed);
}

TEST(PodTable, AListingThatMayLackSomeTakesNoneAway) {
    fakes::FakeCgroupTree tree(two_pods);
    PodTable table;
    table.set_pods(0, {pod_from("uid-a"), pod_from("uid-b")});
    auto found = *tree.list_pods();
    table.set_cgroups({found[0]}, at(5));
    table.apply(life(CgroupChange::emptied, 2), at(7), tree);
    table.add_cgroups({found[1]}, at(8));
    EXPECT_EQ(table.cgroup_of({"uid-a"}), found[0].cgroup);
    EXPECT_EQ(table.cgroup_of({"uid-b"}), found[1].cgroup);
    table.add_cgroups(found, at(9));
    EXPECT_EQ(table.rows()[0].emptied_at, at(7));
    EXPECT_EQ(table.rows()[1].cgroup, found[1].cgroup);
}

TEST(PodTable, EventsOfContainersAndStrangersChangeNothing) {
    fakes::FakeCgroupTree tree(two_pods);
    PodTable table;
    table.set_pods(0, {pod_from("uid-a")});
    table.set_cgroups(*tree.list_pods(), at(0));
    table.apply(life(CgroupChange::removed, 77), at(1), tree);
    EXPECT_NE(table.rows()[0].cgroup, nullptr);
}

}  // namespace
}  // namespace evictd::observe
