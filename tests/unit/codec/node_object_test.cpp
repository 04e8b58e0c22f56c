// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A node as the server shows it, and the patches: what is others' stays to the letter.
#include "node_object.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube_event.hpp"

namespace evictd::codec {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr const char* node_text = R"({"kind":"Node","metadata":{"name":"n1","uid":"u1","resourceVersion":"7",
  "managedFields":[{"manager":"kubelet"}],"labels":{"a":"b"}},
  "spec":{"podCIDR":"x","taints":[{"key":"other","value":"v","effect":"NoExecute","timeAdded":"2026-01-01T00:00:00Z"},
    {"key":"evictd.io/memory-pressure","effect":"NoSchedule"}]},
  "status":{"images":[{"names":["a"]}],"conditions":[{"type":"Ready","status":"True"},
    {"type":"evictd.io/MemoryPressure","status":"True","reason":"R","message":"M",
     "lastTransitionTime":"2026-01-01T00:00:00Z"}]}})";

WallTime noon() { return WallTime(std::chrono::sys_days(std::chrono::year(2026) / 1 / 2)) + std::chrono::hours(12); }

TEST(NodeObject, ReadsTaintsAndOwnConditions) {
    const auto node = read_node(node_text);
    ASSERT_TRUE(node);
    EXPECT_EQ(node->name + node->uid + node->resource_version, "n1u17");
    ASSERT_THAT(node->taints, SizeIs(2));
    EXPECT_EQ(node->taints[1].taint, (Taint{"evictd.io/memory-pressure", "", "NoSchedule"}));
    ASSERT_THAT(node->conditions, SizeIs(1));
    EXPECT_EQ(node->conditions[0].last_transition_time, "2026-01-01T00:00:00Z");
}

TEST(NodeObject, RefusesWhatIsNoWholeNode) {
    const std::string whole = node_text;
    for (std::size_t length = 0; length < whole.size(); ++length) EXPECT_FALSE(read_node(whole.substr(0, length)));
    EXPECT_FALSE(read_node(R"({"metadata":{"name":"n1"}})"));
    EXPECT_FALSE(read_node("[]"));
    EXPECT_FALSE(read_node(R"({"metadata":{"name":"n1","resourceVersion":"1"},"spec":{"taints":["x"]}})"));
}

TEST(NodeObject, ATaintOfOthersIsKeptWithFieldsThatAreNotKnown) {
    EXPECT_EQ(taints_patch(*read_node(node_text), {{"evictd.io/disk-pressure", "", "NoSchedule"}}),
              R"({"metadata":{"uid":"u1","resourceVersion":"7"},"spec":{"taints":[)"
              R"({"key":"other","value":"v","effect":"NoExecute","timeAdded":"2026-01-01T00:00:00Z"},)"
              R"({"key":"evictd.io/disk-pressure","effect":"NoSchedule"}]}})");
}

TEST(NodeObject, AConditionIsWrittenOnlyWhereItDiffers) {
    const auto node = *read_node(node_text);
    const std::string type = "evictd.io/MemoryPressure";
    EXPECT_FALSE(changed_condition(node, {type, true, "R", "M"}, noon()));
    EXPECT_EQ(changed_condition(node, {type, true, "R2", "M"}, noon())->last_transition_time, "2026-01-01T00:00:00Z");
    EXPECT_EQ(changed_condition(node, {type, false, "R", "M"}, noon())->last_transition_time, "2026-01-02T12:00:00Z");
    EXPECT_EQ(changed_condition(node, {"evictd.io/X", false, "R", "M"}, noon())->last_transition_time,
              "2026-01-02T12:00:00Z");
}

TEST(NodeObject, ConditionsAreMergedByTypeAndRemovedByADirective) {
    const ConditionsChange change{{{"evictd.io/X", "True", "R", "M", "2026-01-01T00:00:00Z"}}, {"evictd.io/Y"}};
    EXPECT_EQ(
        conditions_patch(*read_node(node_text), change, noon()),
        R"({"metadata":{"uid":"u1","resourceVersion":"7"},"status":{"conditions":[{"type":"evictd.io/X","status":"True",)"
        R"("lastHeartbeatTime":"2026-01-02T12:00:00Z","lastTransitionTime":"2026-01-01T00:00:00Z",)"
        R"("reason":"R","message":"M"},{"$patch":"delete","type":"evictd.io/Y"}]}})");
}

TEST(NodeObject, ReadsAPageOfAList) {
    const auto page = read_nodes(std::string(R"({"metadata":{"continue":"c2"},"items":[)") + node_text + "]}");
    ASSERT_TRUE(page);
    EXPECT_EQ(page->next_page, "c2");
    ASSERT_THAT(page->nodes, SizeIs(1));
    EXPECT_THAT(page->nodes[0].taints, SizeIs(2));
    EXPECT_FALSE(read_nodes(R"({"items":[{}]})"));
    EXPECT_FALSE(read_nodes("{}"));
}

TEST(NodeObject, ADeepAnswerIsNone) {
    const auto deep = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
    const auto node = [&](std::size_t depth) {
        return R"({"metadata":{"name":"n1","resourceVersion":"7"},"spec":{"x":)" + deep(depth) + "}}";
    };
    EXPECT_TRUE(read_node(node(32)));
    for (const std::size_t depth : {100U, 300'000U}) {
        EXPECT_FALSE(read_node(node(depth)));
        EXPECT_FALSE(read_nodes(R"({"items":)" + deep(depth) + "}"));
        EXPECT_EQ(refusal_text(deep(depth)).substr(0, 4), "[[[[");
        EXPECT_FALSE(place_of_event(deep(depth)));
    }
}

TEST(NodeObject, ARefusalIsItsMessageInOneLine) {
    EXPECT_EQ(refusal_text(R"({"kind":"Status","message":"nodes is forbidden"})"), "nodes is forbidden");
    EXPECT_EQ(refusal_text("bad\ngateway"), "bad\\x0agateway");
}

}  // namespace
}  // namespace evictd::codec
