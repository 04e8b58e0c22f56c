// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What is asked of the API server to clean nodes, answer by answer: only evictd's own goes, and a lost answer, a
// conflict or a missing right is never taken for a clean node.
#include "reconcile/node_cleanup.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/scripted_api_server.hpp"

namespace evictd::reconcile {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* their_taint = R"({"key":"theirs","effect":"NoExecute","timeAdded":"2026-01-01T00:00:00Z"})";
constexpr const char* our_taint = R"({"key":"evictd.io/memory-pressure","effect":"NoSchedule"})";
constexpr const char* our_condition = R"({"type":"evictd.io/MemoryPressure","status":"True"})";
constexpr const char* taint_name = "taint evictd.io/memory-pressure:NoSchedule";
constexpr const char* condition_name = "condition evictd.io/MemoryPressure";

std::string node_text(const std::string& name, const std::string& taints, const std::string& conditions,
                      const std::string& version = "7") {
    return R"({"metadata":{"name":")" + name + R"(","uid":"u1","resourceVersion":")" + version +
           R"("},"spec":{"taints":[)" + taints + R"(]},"status":{"conditions":[{"type":"Ready","status":"True"})" +
           (conditions.empty() ? "" : ",") + conditions + "]}}";
}
std::string node_list(const std::string& nodes, const std::string& token = {}) {
    return R"({"metadata":{"continue":")" + token + R"("},"items":[)" + nodes + "]}";
}
const std::string left_node = node_text("n1", std::string(their_taint) + "," + our_taint, our_condition);
const std::string untainted = node_text("n1", their_taint, our_condition, "8");
const std::string clean_node = node_text("n1", their_taint, "", "9");

struct NodeCleanupTest : ::testing::Test {
    void answers(long status, const std::string& body = {}, std::optional<std::chrono::seconds> retry_after = {}) {
        api.ready.push_back(port::ApiReply{.status = status, .body = body, .retry_after = retry_after});
    }
    void hangs_up() { api.ready.push_back(fail(ErrorKind::unreachable, "API server", "connection refused")); }
    Status run(bool dry_run = false) {
        NodeCleanup cleanup(api, {.node = name, .dry_run = dry_run, .patience = 1ms, .pause = [this](Duration time) {
                                      pauses.push_back(time);
                                  }});
        return cleanup.run([this](const CleanedNode& one) {
            cleaned.push_back(one);
            return cleaned.size() < stop_after;
        });
    }
    [[nodiscard]] std::vector<std::string> asked() const {
        std::vector<std::string> all;
        for (const auto& request : api.requests) all.push_back(request.method + " " + request.path);
        return all;
    }

    fakes::ScriptedApiServer api;
    std::string name = "n1";
    std::size_t stop_after = 1000;
    std::vector<Duration> pauses;
    std::vector<CleanedNode> cleaned;
};

constexpr const char* get_n1 = "GET /api/v1/nodes/n1";
constexpr const char* patch_n1 = "PATCH /api/v1/nodes/n1";
constexpr const char* patch_n1_status = "PATCH /api/v1/nodes/n1/status";

TEST_F(NodeCleanupTest, RemovesItsOwnTaintsAndConditionsAndNoOther) {
    answers(200, left_node);
    answers(200, untainted);
    answers(200, clean_node);
    ASSERT_TRUE(run());
    EXPECT_THAT(asked(), ElementsAre(get_n1, patch_n1, patch_n1_status));
    EXPECT_EQ(api.requests[1].body, R"({"metadata":{"uid":"u1","resourceVersion":"7"},"spec":{"taints":[)" +
                                        std::string(their_taint) + "]}}");
    EXPECT_EQ(api.requests[2].body, R"({"metadata":{"uid":"u1","resourceVersion":"8"},"status":{"conditions":[)"
                                    R"({"$patch":"delete","type":"evictd.io/MemoryPressure"}]}})");
    ASSERT_THAT(cleaned, SizeIs(1));
    EXPECT_THAT(cleaned[0].removed, ElementsAre(taint_name, condition_name));
    EXPECT_THAT(cleaned[0].failed, IsEmpty());
}

TEST_F(NodeCleanupTest, ACleanNodeIsOnlyRead) {
    answers(200, clean_node);
    ASSERT_TRUE(run());
    EXPECT_THAT(asked(), ElementsAre(get_n1));
    ASSERT_THAT(cleaned, SizeIs(1));
    EXPECT_THAT(cleaned[0].removed, IsEmpty());
}

TEST_F(NodeCleanupTest, ADryRunSaysWhatItWouldRemove) {
    answers(200, left_node);
    ASSERT_TRUE(run(true));
    EXPECT_THAT(asked(), ElementsAre(get_n1));
    EXPECT_THAT(cleaned.at(0).removed, ElementsAre(taint_name, condition_name));
}

TEST_F(NodeCleanupTest, AForeignChangeMeanwhileIsReadAgain) {
    answers(200, left_node);
    answers(409);
    answers(200, node_text("n1", our_taint, our_condition, "8"));
    answers(200, node_text("n1", "", our_condition, "9"));
    answers(200, clean_node);
    ASSERT_TRUE(run());
    EXPECT_THAT(asked(), ElementsAre(get_n1, patch_n1, get_n1, patch_n1, patch_n1_status));
    EXPECT_THAT(api.requests[3].body, HasSubstr(R"("resourceVersion":"8"},"spec":{"taints":[]})"));
    EXPECT_THAT(cleaned.at(0).removed, ElementsAre(taint_name, condition_name));
}

TEST_F(NodeCleanupTest, ANodeThatIsChangedAllTheTimeIsNotReportedAsClean) {
    for (int i = 0; i < 6; ++i) {
        answers(200, left_node);
        answers(409);
    }
    ASSERT_TRUE(run());
    EXPECT_THAT(asked(), SizeIs(12));
    EXPECT_THAT(cleaned.at(0).removed, IsEmpty());
    EXPECT_THAT(cleaned.at(0).failed, SizeIs(1));
}

// The server did what was asked, and its answer was lost: the next try is a conflict.
TEST_F(NodeCleanupTest, ALostAnswerIsFoundOut) {
    answers(200, left_node);
    hangs_up();
    answers(409);
    answers(200, untainted);
    answers(200, clean_node);
    ASSERT_TRUE(run());
    EXPECT_THAT(asked(), ElementsAre(get_n1, patch_n1, patch_n1, get_n1, patch_n1_status));
    EXPECT_THAT(pauses, ElementsAre(1s));
    EXPECT_THAT(cleaned.at(0).removed, ElementsAre(taint_name, condition_name));
}

TEST_F(NodeCleanupTest, WithoutTheRightToTaintConditionsAreRemovedAndTheTaintIsNamed) {
    answers(200, left_node);
    answers(403, R"({"message":"nodes \"n1\" is forbidden"})");
    answers(200, node_text("n1", our_taint, "", "8"));
    ASSERT_TRUE(run());
    EXPECT_THAT(asked(), ElementsAre(get_n1, patch_n1, patch_n1_status));
    EXPECT_THAT(cleaned.at(0).removed, ElementsAre(condition_name));
    ASSERT_THAT(cleaned.at(0).failed, SizeIs(1));
    EXPECT_EQ(cleaned[0].failed[0].kind, ErrorKind::not_permitted);
    EXPECT_EQ(cleaned[0].failed[0].text(),
              R"(node n1: its taints are left: 403: nodes "n1" is forbidden (grant patch of nodes))");
}

TEST_F(NodeCleanupTest, ANodeThatIsDeletedMeanwhileIsClean) {
    answers(200, left_node);
    answers(409);
    answers(404);
    ASSERT_TRUE(run());
    EXPECT_THAT(cleaned.at(0).failed, IsEmpty());
}

TEST_F(NodeCleanupTest, AllNodesAreListedByPagesAndOnlyThoseWithSomethingArePatched) {
    name.clear();
    answers(200, node_list(node_text("n0", their_taint, ""), "a/b"));
    answers(200, node_list(left_node + "," + node_text("n2", "", "")));
    answers(200, untainted);
    answers(200, clean_node);
    ASSERT_TRUE(run());
    EXPECT_THAT(asked(), ElementsAre("GET /api/v1/nodes?limit=20", "GET /api/v1/nodes?limit=20&continue=a%2Fb",
                                     patch_n1, patch_n1_status));
    ASSERT_THAT(cleaned, SizeIs(3));
    EXPECT_EQ(cleaned[0].node + cleaned[1].node + cleaned[2].node, "n0n1n2");
    EXPECT_THAT(cleaned[1].removed, SizeIs(2));
}

TEST_F(NodeCleanupTest, APageThatIsTooLargeIsAskedForInSmallerOnes) {
    name.clear();
    api.ready.push_back(fail(ErrorKind::invalid, "API server", "its answer is larger than 1 MiB"));
    answers(200, node_list(clean_node));
    ASSERT_TRUE(run());
    EXPECT_THAT(asked(), ElementsAre("GET /api/v1/nodes?limit=20", "GET /api/v1/nodes?limit=10"));
    EXPECT_THAT(pauses, IsEmpty());
}

TEST_F(NodeCleanupTest, AListThatExpiresIsBegunAnew) {
    name.clear();
    answers(200, node_list(node_text("n0", "", ""), "t"));
    answers(410);
    answers(200, node_list(node_text("n0", "", ""), "t2"));
    answers(200, node_list(clean_node));
    ASSERT_TRUE(run());
    EXPECT_THAT(cleaned, SizeIs(2));
    api.requests.clear();
    for (int i = 0; i < 3; ++i) answers(410);
    EXPECT_FALSE(run());
    EXPECT_THAT(asked(), SizeIs(3));
}

TEST_F(NodeCleanupTest, AServerThatIsAwayIsAskedFiveTimesAndEndsIt) {
    for (int i = 0; i < 5; ++i) hangs_up();
    const auto done = run();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, ErrorKind::unreachable);
    EXPECT_THAT(asked(), SizeIs(5));
    EXPECT_THAT(pauses, ElementsAre(1s, 2s, 4s, 8s));
}

TEST_F(NodeCleanupTest, AServerThatDoesNotAnswerIsNoneAndOneThatIsBusyIsGivenTheTimeItAsksFor) {
    const auto done = run();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, ErrorKind::unreachable);
    fakes::ScriptedApiServer other;
    pauses.clear();
    other.ready.push_back(port::ApiReply{.status = 429, .body = {}, .retry_after = 30s});
    other.ready.push_back(port::ApiReply{.status = 200, .body = clean_node, .retry_after = {}});
    NodeCleanup cleanup(other, {.node = "n1", .pause = [this](Duration time) { pauses.push_back(time); }});
    EXPECT_TRUE(cleanup.run([](const CleanedNode&) { return true; }));
    EXPECT_THAT(pauses, ElementsAre(30s));
}

TEST_F(NodeCleanupTest, WhatIsNoNodeAndWhatMayNotBeReadAreErrors) {
    answers(404);
    EXPECT_EQ(run().error().kind, ErrorKind::vanished);
    answers(403, R"({"message":"no"})");
    EXPECT_EQ(run().error().kind, ErrorKind::not_permitted);
    answers(200, "<html>");
    EXPECT_EQ(run().error().kind, ErrorKind::invalid);
    answers(200, node_text("n2", our_taint, ""));
    EXPECT_EQ(run().error().kind, ErrorKind::invalid);
    name.clear();
    answers(200, R"({"items":[{"metadata":{}}]})");
    EXPECT_EQ(run().error().kind, ErrorKind::invalid);
    EXPECT_THAT(cleaned, IsEmpty());
    EXPECT_THAT(asked(), Not(::testing::Contains(patch_n1)));
}

TEST_F(NodeCleanupTest, StopsWhereTheReaderIsGone) {
    name.clear();
    stop_after = 1;
    answers(200, node_list(node_text("n0", "", "") + "," + left_node));
    ASSERT_TRUE(run());
    EXPECT_THAT(asked(), SizeIs(1));
}

}  // namespace
}  // namespace evictd::reconcile
