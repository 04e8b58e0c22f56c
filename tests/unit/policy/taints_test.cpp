// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// NoExecute taints: what a toleration matches, what is scheduled, and what becomes of it at later passes.
#include "taints.hpp"

#include <gmock/gmock.h>

#include "unit/policy/node.hpp"

namespace evictd::policy::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Toleration toleration(std::string key, std::string op = "Exists", std::string value = "",
                      std::string effect = "NoExecute", std::optional<std::int64_t> seconds = std::nullopt) {
    return {std::move(key), std::move(op), std::move(value), std::move(effect), seconds};
}
Toleration timed(std::string key, std::int64_t seconds) {
    return toleration(std::move(key), "Exists", "", "", seconds);
}
Taint taint(std::string key, std::string effect = "NoExecute") { return {std::move(key), "v", std::move(effect)}; }

PodPtr tolerating(const std::string& name, std::vector<Toleration> tolerations) {
    Pod made = *pod({.name = name}).pod;
    made.tolerations = std::move(tolerations);
    return std::make_shared<Pod>(std::move(made));
}

// "default/a@30s": who goes when, in the time since the node's start.
std::vector<std::string> told(const std::vector<TaintEviction>& evictions) {
    std::vector<std::string> made;
    made.reserve(evictions.size());
    for (const auto& one : evictions) made.push_back(one.pod_name + "@" + to_string(Duration(one.due - at(0s))));
    return made;
}

// A node over several passes.
struct Tainted {
    std::vector<Taint> taints{taint("k")};
    std::vector<PodPtr> pods{};
    std::vector<TaintEviction> pending{};

    TaintPass pass(Duration since) {
        TaintPass made = pass_taints(taints, pods, pending, at(since));
        pending = made.pending;
        return made;
    }
};

TEST(Toleration, FollowsToleratesTaint) {
    struct Row {
        const char* rule;
        Toleration toleration;
        bool tolerated;
    };
    const std::vector<Row> rows{
        {"same key and effect, any value", toleration("k"), true},
        {"another key", toleration("other"), false},
        {"every key", toleration(""), true},
        {"another effect", toleration("k", "Exists", "", "NoSchedule"), false},
        {"every effect", toleration("k", "Exists", "", ""), true},
        {"Exists does not look at the value", toleration("k", "Exists", "other"), true},
        {"Equal and the same value", toleration("k", "Equal", "v"), true},
        {"Equal and another value", toleration("k", "Equal", "other"), false},
        {"no operator is Equal", toleration("k", "", "v"), true},
        {"no operator and another value", toleration("k", "", "other"), false},
        {"every key, by value", toleration("", "Equal", "v"), true},
        {"every key, by another value", toleration("", "Equal", ""), false},
        {"an unknown operator", toleration("k", "Gt", "v"), false},
        {"an operator in small letters", toleration("k", "exists", "v"), false},
    };
    for (const auto& row : rows) {
        EXPECT_EQ(tolerates(row.toleration, taint("k")), row.tolerated) << row.rule;
        EXPECT_EQ(pass_taints({taint("k")}, {tolerating("a", {row.toleration})}, {}, at(0s)).due.empty(), row.tolerated)
            << row.rule;
    }
}

TEST(Taints, WhatIsScheduledFollowsTheTolerationsUsed) {
    struct Row {
        const char* rule;
        std::vector<Taint> taints;
        std::vector<Toleration> tolerations;
        std::vector<std::string> due;
        std::vector<std::string> pending;
    };
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    const std::vector<Row> rows{
        {"no taint", {}, {}, {}, {}},
        {"a taint that only keeps new pods away", {taint("k", "NoSchedule")}, {}, {}, {}},
        {"one that only would rather", {taint("k", "PreferNoSchedule")}, {}, {}, {}},
        {"a taint that is not tolerated", {taint("k")}, {}, {"default/a@0s"}, {}},
        {"one of two that is not tolerated", {taint("k"), taint("l")}, {timed("k", 30)}, {"default/a@0s"}, {}},
        {"tolerated for a time", {taint("k")}, {timed("k", 30)}, {}, {"default/a@30s"}},
        {"tolerated for ever", {taint("k")}, {toleration("k")}, {}, {}},
        {"for no time", {taint("k")}, {timed("k", 0)}, {"default/a@0s"}, {}},
        {"for less than no time", {taint("k")}, {timed("k", -5)}, {"default/a@0s"}, {}},
        {"the shortest of two", {taint("k"), taint("l")}, {timed("k", 30), timed("l", 20)}, {}, {"default/a@20s"}},
        {"in whatever order", {taint("l"), taint("k")}, {timed("k", 30), timed("l", 20)}, {}, {"default/a@20s"}},
        {"one for ever and one for a time",
         {taint("k"), taint("l")},
         {toleration("k"), timed("l", 20)},
         {},
         {"default/a@20s"}},
        {"none of a time and one of no time",
         {taint("k"), taint("l")},
         {timed("k", 9), timed("l", 0)},
         {"default/a@0s"},
         {}},
        {"the first that matches counts, not the shortest",
         {taint("k")},
         {timed("", 30), timed("k", 10)},
         {},
         {"default/a@30s"}},
        {"the first that matches counts, though it is for ever",
         {taint("k")},
         {toleration(""), timed("k", 10)},
         {},
         {}},
        {"a toleration of another taint does not count",
         {taint("k")},
         {timed("l", 10), timed("k", 30)},
         {},
         {"default/a@30s"}},
        {"nor one of a taint that does not evict",
         {taint("k"), taint("l", "NoSchedule")},
         {timed("k", 30), timed("l", 10)},
         {},
         {"default/a@30s"}},
        {"the longest time there is stands for ever", {taint("k")}, {timed("k", most)}, {}, {}},
        {"as does one that no Duration holds", {taint("k")}, {timed("k", 9'999'999'999)}, {}, {}},
        {"beside which a shorter one still counts",
         {taint("k"), taint("l")},
         {timed("k", most), timed("l", 7)},
         {},
         {"default/a@7s"}},
    };
    for (const auto& row : rows) {
        Tainted node{row.taints, {tolerating("a", row.tolerations)}};
        const TaintPass pass = node.pass(0s);
        EXPECT_EQ(told(pass.due), row.due) << row.rule;
        EXPECT_EQ(told(pass.pending), row.pending) << row.rule;
    }
}

TEST(Taints, ALongTolerationEndsAtTheEndOfTimeAndNotBeforeNow) {
    Tainted node{.pods = {tolerating("a", {timed("k", 9'223'372'036)})}};
    const TaintPass pass = node.pass(0s);
    EXPECT_THAT(pass.due, IsEmpty());
    ASSERT_EQ(pass.pending.size(), 1U);
    EXPECT_EQ(pass.pending[0].due, MonotonicTime::max());
}

TEST(Taints, APodIsNamedAndKnownByItsUid) {
    Tainted node{.pods = {tolerating("a", {timed("k", 30)})}};
    const TaintPass pass = node.pass(5s);
    ASSERT_EQ(pass.pending.size(), 1U);
    EXPECT_EQ(pass.pending[0].pod.value, "uid-a");
    EXPECT_EQ(pass.pending[0].pod_name, "default/a");
    EXPECT_EQ(pass.pending[0].created_at, at(5s));
}

TEST(Taints, ADeadlineStandsWhateverTheNewTolerations) {
    for (const std::int64_t seconds : {1, 10, 90, 0, -1}) {
        Tainted node{.pods = {tolerating("a", {timed("k", 30)})}};
        node.pass(0s);
        node.pods = {tolerating("a", {timed("k", seconds)})};
        const TaintPass pass = node.pass(20s);
        EXPECT_THAT(told(pass.due), IsEmpty()) << seconds;
        EXPECT_THAT(told(pass.pending), ElementsAre("default/a@30s")) << seconds;
        EXPECT_EQ(pass.pending[0].created_at, at(0s)) << seconds;
    }
}

TEST(Taints, AnotherTaintDoesNotMoveTheDeadline) {
    Tainted node{.pods = {tolerating("a", {timed("k", 30), timed("l", 5)})}};
    node.pass(0s);
    node.taints.push_back(taint("l"));
    EXPECT_THAT(told(node.pass(10s).pending), ElementsAre("default/a@30s"));
    node.taints = {taint("l")};
    EXPECT_THAT(told(node.pass(11s).pending), ElementsAre("default/a@30s"));
}

TEST(Taints, ADeadlineMadeAtThisMomentIsMadeAnew) {
    Tainted node{.pods = {tolerating("a", {timed("k", 30)})}};
    node.pass(10s);
    node.pods = {tolerating("a", {timed("k", 5)})};
    EXPECT_THAT(told(node.pass(10s).pending), ElementsAre("default/a@15s"));
}

TEST(Taints, APodThatBecomesIntolerantGoesAtOnce) {
    Tainted node{.pods = {tolerating("a", {timed("k", 30)})}};
    node.pass(0s);
    node.taints.push_back(taint("l"));
    const TaintPass pass = node.pass(10s);
    EXPECT_THAT(told(pass.due), ElementsAre("default/a@10s"));
    EXPECT_THAT(told(pass.pending), IsEmpty());
}

TEST(Taints, ADeadlineIsCancelled) {
    struct Row {
        const char* rule;
        std::vector<Taint> taints;
        std::vector<PodPtr> pods;
    };
    const auto same = tolerating("a", {timed("k", 30)});
    const std::vector<Row> rows{
        {"when the taints go", {}, {same}},
        {"when the last NoExecute taint goes", {taint("k", "NoSchedule")}, {same}},
        {"when the pod tolerates them for ever", {taint("k")}, {tolerating("a", {toleration("k")})}},
        {"when the pod goes", {taint("k")}, {}},
    };
    for (const auto& row : rows) {
        Tainted node{.pods = {same}};
        node.pass(0s);
        node.taints = row.taints;
        node.pods = row.pods;
        const TaintPass pass = node.pass(10s);
        EXPECT_THAT(told(pass.due), IsEmpty()) << row.rule;
        EXPECT_THAT(told(pass.pending), IsEmpty()) << row.rule;
    }
}

TEST(Taints, ACancelledDeadlineStartsAnew) {
    Tainted node{.pods = {tolerating("a", {timed("k", 30)})}};
    node.pass(0s);
    node.taints.clear();
    node.pass(10s);
    node.taints = {taint("k")};
    EXPECT_THAT(told(node.pass(20s).pending), ElementsAre("default/a@50s"));
}

TEST(Taints, APodReplacedUnderItsNameStartsAnew) {
    Tainted node{.pods = {tolerating("a", {timed("k", 30)})}};
    node.pass(0s);
    Pod other = *node.pods[0];
    other.uid = {"uid-of-another"};
    node.pods = {std::make_shared<Pod>(other)};
    EXPECT_THAT(told(node.pass(20s).pending), ElementsAre("default/a@50s"));
}

TEST(Taints, ADeadlineFallsDueAtItsTimeAndNotBefore) {
    Tainted node{.pods = {tolerating("a", {timed("k", 30)})}};
    node.pass(0s);
    EXPECT_THAT(told(node.pass(30s - 1ns).pending), ElementsAre("default/a@30s"));
    const TaintPass pass = node.pass(30s);
    EXPECT_THAT(told(pass.due), ElementsAre("default/a@30s"));
    EXPECT_THAT(told(pass.pending), IsEmpty());
}

TEST(Taints, WhatFellDueByNowIsDueThoughTheTaintIsGone) {
    for (const Duration now : {30s, 40s}) {
        Tainted node{.pods = {tolerating("a", {timed("k", 30)})}};
        node.pass(0s);
        node.taints.clear();
        EXPECT_THAT(told(node.pass(now).due), ElementsAre("default/a@30s"));
    }
}

TEST(Taints, TheOrderIsThatOfTimeAndThenOfThePods) {
    Tainted node{.pods = {tolerating("a", {timed("k", 30)}), tolerating("b", {timed("k", 10)}),
                          tolerating("c", {timed("k", 30)}), tolerating("d", {})}};
    const TaintPass first = node.pass(0s);
    EXPECT_THAT(told(first.due), ElementsAre("default/d@0s"));
    EXPECT_THAT(told(first.pending), ElementsAre("default/b@10s", "default/a@30s", "default/c@30s"));
    node.pods.pop_back();
    node.pods.push_back(tolerating("e", {}));
    EXPECT_THAT(told(node.pass(60s).due),
                ElementsAre("default/b@10s", "default/a@30s", "default/c@30s", "default/e@1m0s"));
}

}  // namespace
}  // namespace evictd::policy::testing
