// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the keeper asks of the API server, answer by answer: changes only, never another's taint or condition, and
// nothing is left for ever.
#include "reconcile/node_status_keeper.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/fake_clock.hpp"
#include "fakes/scripted_api_server.hpp"

namespace evictd::reconcile {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* foreign = R"({"key":"theirs","effect":"NoExecute","timeAdded":"2026-01-01T00:00:00Z"})";
constexpr const char* ours = R"({"key":"evictd.io/memory-pressure","effect":"NoSchedule"})";

std::string condition(const std::string& status, const std::string& reason, const std::string& message) {
    return R"({"type":"evictd.io/MemoryPressure","status":")" + status + R"(","reason":")" + reason +
           R"(","message":")" + message + R"(","lastTransitionTime":"2025-12-31T00:00:00Z"})";
}
std::string node(const std::string& taints, const std::string& conditions, const std::string& version = "7") {
    return R"({"metadata":{"name":"n1","uid":"u1","resourceVersion":")" + version + R"("},"spec":{"taints":[)" +
           taints + R"(]},"status":{"conditions":[{"type":"Ready","status":"True"})" + (conditions.empty() ? "" : ",") +
           conditions + "]}}";
}
const std::string is_true = condition("True", "Low", "low");
const std::string is_false = condition("False", "Fine", "fine");

DesiredNodeStatus pressure() {
    return {{{"evictd.io/MemoryPressure", true, "Low", "low"}}, {{"evictd.io/memory-pressure", "", "NoSchedule"}}};
}
DesiredNodeStatus calm() { return {{{"evictd.io/MemoryPressure", false, "Fine", "fine"}}, {}}; }

struct NodeStatusKeeperTest : ::testing::Test {
    NodeStatusKeeperTest() { restart(); }
    void restart() {
        keeper.emplace(api, clock,
                       NodeStatusOptions{.node = "n1",
                                         .dry_run = dry_run,
                                         .once = once,
                                         .transition_period = once ? 0min : 5min,
                                         .time_to_release = time_to_release,
                                         .note = [this](const std::string& text) { notes.push_back(text); }},
                       std::make_shared<ApiAnswers>());
    }
    void want(const DesiredNodeStatus& desired) {
        keeper->reconcile(desired);
        run();
    }
    // What the control loop does: acts when it is due.
    void run() {
        while (keeper->due() && *keeper->due() <= clock.monotonic()) keeper->act_on_time();
        keeper->take_answers();
    }
    void after(Duration time) {
        clock.advance(time);
        run();
    }
    void answer(long status, const std::string& body = {}) {
        api.answer(status, body);
        keeper->take_answers();
        run();
    }
    // "GET /api/v1/nodes/n1", in order, since the last call.
    std::vector<std::string> asked() {
        std::vector<std::string> all;
        for (; seen < api.requests.size(); ++seen)
            all.push_back(api.requests[seen].method + " " + api.requests[seen].path);
        return all;
    }
    [[nodiscard]] const std::string& body() const { return api.requests.back().body; }
    void settle(const std::string& shown) {  // what is desired is there already
        answer(200, shown);
        (void)asked();
    }

    fakes::ScriptedApiServer api;
    fakes::FakeClock clock;
    bool dry_run = false;
    bool once = false;
    Duration time_to_release = 10ms;
    std::vector<std::string> notes;
    std::size_t seen = 0;
    std::optional<NodeStatusKeeper> keeper;
};

constexpr const char* get_node = "GET /api/v1/nodes/n1";
constexpr const char* patch_node = "PATCH /api/v1/nodes/n1";
constexpr const char* patch_status = "PATCH /api/v1/nodes/n1/status";

TEST_F(NodeStatusKeeperTest, ReadsThenTaintsThenSetsConditions) {
    want(pressure());
    EXPECT_THAT(asked(), ElementsAre(get_node));
    answer(200, node(foreign, is_false));
    EXPECT_THAT(asked(), ElementsAre(patch_node));
    EXPECT_EQ(body(), R"({"metadata":{"uid":"u1","resourceVersion":"7"},"spec":{"taints":[)" + std::string(foreign) +
                          "," + ours + "]}}");
    answer(200, node(std::string(foreign) + "," + ours, is_false, "8"));
    EXPECT_THAT(asked(), ElementsAre(patch_status));
    EXPECT_THAT(body(), HasSubstr(R"({"metadata":{"uid":"u1","resourceVersion":"8"},"status":)"));
    EXPECT_THAT(body(), HasSubstr(R"("status":"True","lastHeartbeatTime":"2026-01-01T00:00:00Z",)"
                                  R"("lastTransitionTime":"2026-01-01T00:00:00Z","reason":"Low")"));
    EXPECT_THAT(body(), Not(HasSubstr("Ready")));
    answer(200, "{}");
    EXPECT_THAT(asked(), IsEmpty());
    EXPECT_EQ(keeper->figures().shown, "conditions, taints");
    EXPECT_TRUE(keeper->figures().confirmed_at);
}

TEST_F(NodeStatusKeeperTest, WritesNothingWhereNothingDiffersAndLooksAgainAfterTenMinutes) {
    want(calm());
    settle(node(foreign, is_false));
    want(calm());
    after(9min);
    EXPECT_THAT(asked(), IsEmpty());
    after(1min);
    EXPECT_THAT(asked(), ElementsAre(get_node));
    answer(200, node(foreign, ""));
    EXPECT_THAT(asked(), ElementsAre(patch_status)) << "what somebody removed is put back";
}

TEST_F(NodeStatusKeeperTest, RemovesItsTaintAtOnceWhenItIsNotDesiredAnyMore) {
    want(pressure());
    settle(node(ours, is_true));
    want(calm());
    answer(200, node(std::string(foreign) + "," + ours, is_true));
    EXPECT_THAT(body(), HasSubstr(R"("taints":[)" + std::string(foreign) + "]"));
    answer(200, "{}");
    EXPECT_THAT(body(), HasSubstr(R"("status":"False")"));
}

TEST_F(NodeStatusKeeperTest, WhatAKilledAgentLeftStaysForTheTransitionPeriodAndNoLonger) {
    want(calm());
    answer(200, node(ours, is_true));
    EXPECT_THAT(asked(), ElementsAre(get_node)) << "left as it is";
    after(5min - 1s);
    EXPECT_THAT(asked(), IsEmpty());
    after(1s);
    EXPECT_THAT(asked(), ElementsAre(get_node));
    answer(200, node(std::string(ours) + "," + foreign, is_true));
    EXPECT_THAT(body(), HasSubstr(R"("taints":[)" + std::string(foreign) + "]"));
    answer(200, "{}");
    EXPECT_THAT(asked(), ElementsAre(patch_node, patch_status));
    EXPECT_THAT(body(), HasSubstr(R"("status":"False")"));
}

TEST_F(NodeStatusKeeperTest, ASuccessorUnderPressureChangesNothingOfWhatIsThere) {
    want(pressure());
    answer(200, node(ours, is_true));
    EXPECT_THAT(asked(), ElementsAre(get_node));
}

// Killed after the taint, before the condition.
TEST_F(NodeStatusKeeperTest, ASuccessorFinishesWhatWasBegun) {
    want(pressure());
    answer(200, node("", is_false));
    restart();
    (void)asked();
    want(pressure());
    api.answer(200, "{}");  // of the agent that is gone
    answer(200, node(ours, is_false));
    EXPECT_THAT(asked(), ElementsAre(get_node, patch_status));
}

TEST_F(NodeStatusKeeperTest, AForeignChangeMeanwhileIsReadAgain) {
    want(pressure());
    answer(200, node("", is_true));
    answer(409, R"({"message":"the object has been modified"})");
    EXPECT_THAT(asked(), ElementsAre(get_node, patch_node, get_node));
    answer(200, node(foreign, is_true, "8"));
    EXPECT_THAT(body(), HasSubstr(R"("resourceVersion":"8"},"spec":{"taints":[)" + std::string(foreign)));
}

// Another evictd has written conditions between our reading and our patch.
TEST_F(NodeStatusKeeperTest, ConditionsThatChangedMeanwhileAreReadAgain) {
    want(pressure());
    answer(200, node(ours, is_false));
    EXPECT_THAT(body(), HasSubstr(R"("resourceVersion":"7"},"status":)"));
    answer(409, R"({"message":"the object has been modified"})");
    answer(200, node(ours, is_true, "8"));
    EXPECT_THAT(asked(), ElementsAre(get_node, patch_status, get_node)) << "and nothing is left to write";
    EXPECT_TRUE(keeper->figures().confirmed_at);
}

TEST_F(NodeStatusKeeperTest, ConflictsWithoutEndAreSlowedDown) {
    want(pressure());
    for (int i = 0; i < 6; ++i) {
        answer(200, node("", is_true));
        answer(409);
    }
    EXPECT_THAT(asked(), SizeIs(12));
    after(1s);
    EXPECT_THAT(asked(), ElementsAre(get_node));
}

TEST_F(NodeStatusKeeperTest, WithoutTheRightToTaintItSetsConditionsAndSaysSoOnce) {
    want(pressure());
    answer(200, node("", is_false));
    answer(403, R"({"message":"nodes \"n1\" is forbidden"})");
    EXPECT_THAT(asked(), ElementsAre(get_node, patch_node, patch_status));
    answer(200, "{}");
    EXPECT_EQ(keeper->figures().shown, "conditions");
    EXPECT_THAT(notes, ElementsAre(HasSubstr("is forbidden")));
    want(calm());
    answer(200, node("", is_true));
    answer(200, "{}");
    want(pressure());
    answer(200, node("", is_false));
    answer(200, "{}");
    EXPECT_THAT(asked(), ElementsAre(get_node, patch_status, get_node, patch_status)) << "not tried each time";
    after(10min);
    answer(200, node("", is_true));
    EXPECT_THAT(asked(), ElementsAre(get_node, patch_node)) << "tried again after 10 minutes";
    answer(200, "{}");
    EXPECT_THAT(notes, SizeIs(1));
    EXPECT_EQ(keeper->figures().problem, "");
}

TEST_F(NodeStatusKeeperTest, WithoutTheRightToSetConditionsItTaints) {
    want(pressure());
    answer(200, node("", is_false));
    answer(200, "{}");
    answer(403);
    EXPECT_EQ(keeper->figures().shown, "taints");
    EXPECT_THAT(notes, ElementsAre(HasSubstr("conditions are not shown")));
}

TEST_F(NodeStatusKeeperTest, WithoutTheRightToReadItTriesSoonAndAtLastEveryTenMinutes) {
    want(pressure());
    answer(403);
    want(calm());
    after(2s - 1ms);
    EXPECT_THAT(asked(), ElementsAre(get_node));
    after(1ms);
    EXPECT_THAT(asked(), ElementsAre(get_node));
    for (int i = 0; i < 8; ++i) answer(403), after(10min);
    (void)asked();
    answer(403);
    after(10min - 1s);
    EXPECT_THAT(asked(), IsEmpty());
    after(1s);
    EXPECT_THAT(asked(), ElementsAre(get_node));
    EXPECT_THAT(notes, SizeIs(1));
}

// It has not read yet who may do what: kube-apiserver does so for a second or two.
TEST_F(NodeStatusKeeperTest, AServerThatHasJustStartedAndRefusesIsAskedAgainSoon) {
    want(pressure());
    answer(200, node("", is_false));
    answer(403, R"({"message":"forbidden"})");
    answer(403, R"({"message":"forbidden"})");
    (void)asked();
    after(4s);
    answer(200, node("", is_false));
    answer(200, node(ours, is_false, "8"));
    answer(200, node(ours, is_true, "9"));
    EXPECT_THAT(asked(), ElementsAre(get_node, patch_node, patch_status));
    EXPECT_EQ(keeper->figures().problem, "");
}

TEST_F(NodeStatusKeeperTest, AServerThatIsBackIsAskedSoon) {
    want(pressure());
    for (int i = 0; i < 8; ++i) {
        api.hang_up();
        keeper->take_answers();
        after(60s);
    }
    (void)asked();
    answer(500);
    after(2s);
    EXPECT_THAT(asked(), ElementsAre(get_node));
}

TEST_F(NodeStatusKeeperTest, TroubleIsRetriedWithBackOffAndTheNewestStateAlone) {
    want(pressure());
    api.hang_up();
    keeper->take_answers();
    want(calm());
    EXPECT_THAT(asked(), ElementsAre(get_node)) << "a new state is no reason to come sooner";
    after(1s);
    answer(500);
    after(1s);
    EXPECT_THAT(asked(), ElementsAre(get_node));
    after(1s);
    answer(404);
    for (int i = 0; i < 10; ++i) after(60s), answer(503);
    EXPECT_THAT(asked(), SizeIs(11)) << "never less often than once in 60 s";
    after(60s);
    answer(200, node("", ""));
    EXPECT_THAT(body(), HasSubstr(R"("status":"False")"));
    EXPECT_THAT(notes, SizeIs(4)) << "each trouble once";
}

TEST_F(NodeStatusKeeperTest, TheServersRetryAfterIsHeeded) {
    want(pressure());
    api.answer(port::ApiReply{.status = 429, .body = {}, .retry_after = 30s});
    keeper->take_answers();
    after(29s);
    EXPECT_THAT(asked(), ElementsAre(get_node));
    after(1s);
    EXPECT_THAT(asked(), ElementsAre(get_node));
}

TEST_F(NodeStatusKeeperTest, ButForOneMinuteAtMost) {
    want(pressure());
    api.answer(port::ApiReply{.status = 503, .body = {}, .retry_after = std::chrono::seconds::max()});
    keeper->take_answers();
    after(59s);
    EXPECT_THAT(asked(), ElementsAre(get_node));
    after(1s);
    EXPECT_THAT(asked(), ElementsAre(get_node));
}

TEST_F(NodeStatusKeeperTest, AnAnswerThatNeverComesIsGivenUp) {
    want(pressure());
    after(15s);
    after(1s);
    EXPECT_THAT(asked(), ElementsAre(get_node, get_node));
    answer(200, node(ours, is_true));  // the first one's, late
    EXPECT_FALSE(keeper->figures().confirmed_at);
    answer(200, node(ours, is_true));
    EXPECT_TRUE(keeper->figures().confirmed_at);
}

TEST_F(NodeStatusKeeperTest, AFullQueueIsTrouble) {
    api.is_full = true;
    want(pressure());
    api.is_full = false;
    after(1s);
    EXPECT_THAT(asked(), ElementsAre(get_node));
}

TEST_F(NodeStatusKeeperTest, AServerThatAnswersAnythingElseChangesNothing) {
    want(pressure());
    for (const auto* lie : {"", "{}", "[1]", R"({"metadata":{"name":"n2","resourceVersion":"1"}})"}) {
        answer(200, lie);
        after(60s);
    }
    EXPECT_THAT(asked(), ElementsAre(get_node, get_node, get_node, get_node, get_node));
}

TEST_F(NodeStatusKeeperTest, AConditionThatIsUnknownIsRemovedAfterTheTransitionPeriod) {
    want(calm());
    settle(node("", is_false));
    after(1min);
    want({});
    answer(200, node("", is_false));
    after(5min - 1s);
    EXPECT_THAT(asked(), ElementsAre(get_node));
    after(1s);
    answer(200, node("", is_false));
    EXPECT_EQ(body(), R"({"metadata":{"uid":"u1","resourceVersion":"7"},"status":{"conditions":[)"
                      R"({"$patch":"delete","type":"evictd.io/MemoryPressure"}]}})");
}

TEST_F(NodeStatusKeeperTest, ACleanEndRemovesTaintsAndSetsConditionsToFalse) {
    want(pressure());
    settle(node(ours, is_true));
    for (const auto& reply : {node(std::string(foreign) + "," + ours, is_true), std::string("{}"), std::string("{}")}) {
        api.ready.emplace_back(port::ApiReply{.status = 200, .body = reply, .retry_after = {}});
    }
    keeper->release();
    EXPECT_THAT(asked(), ElementsAre(get_node, patch_node, patch_status));
    EXPECT_THAT(api.requests[api.requests.size() - 2].body, HasSubstr(R"("taints":[)" + std::string(foreign) + "]"));
    EXPECT_THAT(body(), HasSubstr(R"("reason":"EvictdStopped")"));
}

TEST_F(NodeStatusKeeperTest, ACleanEndRemovesAlsoWhatAnotherLeft) {
    want(calm());
    settle(node(ours, is_false));
    for (const auto& reply : {node(ours, is_false), std::string("{}"), std::string("{}")}) {
        api.ready.emplace_back(port::ApiReply{.status = 200, .body = reply, .retry_after = {}});
    }
    keeper->release();
    EXPECT_THAT(api.requests[api.requests.size() - 2].body, HasSubstr(R"("taints":[])"));
}

TEST_F(NodeStatusKeeperTest, TheEndDoesNotWaitForAServerThatIsAway) {
    want(pressure());
    testing::internal::CaptureStderr();
    keeper->release();
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("kubectl taint node n1 KEY-"));
    EXPECT_THAT(asked(), ElementsAre(get_node));
}

TEST_F(NodeStatusKeeperTest, TheEndMeetsTroubleThatPassesAgain) {
    time_to_release = 1s;
    restart();
    want(pressure());
    settle(node(ours, is_true));
    const auto say = [&](long status, const std::string& body) {
        api.ready.emplace_back(port::ApiReply{.status = status, .body = body, .retry_after = {}});
    };
    say(503, "");
    say(200, node(ours, is_true));
    say(429, "");
    say(200, node(ours, is_true));
    say(200, "{}");
    say(200, "{}");
    testing::internal::CaptureStderr();
    keeper->release();
    EXPECT_THAT(testing::internal::GetCapturedStderr(), Not(HasSubstr("may be left")));
    EXPECT_THAT(asked(), ElementsAre(get_node, get_node, patch_node, get_node, patch_node, patch_status));
}

TEST_F(NodeStatusKeeperTest, TheEndDoesNotComeBackWhereTheServerAsksForMoreTimeThanThereIs) {
    time_to_release = 1s;
    restart();
    want(pressure());
    settle(node(ours, is_true));
    api.ready.emplace_back(port::ApiReply{.status = 503, .body = {}, .retry_after = 2s});
    testing::internal::CaptureStderr();
    keeper->release();
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("kubectl taint node n1 KEY-"));
    EXPECT_THAT(asked(), ElementsAre(get_node));
}

// An agent was killed, and the next one is configured to show nothing.
TEST_F(NodeStatusKeeperTest, OnceRemovesWhatIsThereAndIsQuietFromThenOn) {
    once = true;
    restart();
    want({});
    answer(200, node(std::string(foreign) + "," + ours, is_true));
    EXPECT_THAT(body(), HasSubstr(R"("taints":[)" + std::string(foreign) + "]"));
    answer(200, "{}");
    EXPECT_THAT(body(), HasSubstr(R"({"$patch":"delete","type":"evictd.io/MemoryPressure"})"));
    answer(200, "{}");
    EXPECT_THAT(asked(), ElementsAre(get_node, patch_node, patch_status));
    EXPECT_FALSE(keeper->due());
    keeper->release();
    EXPECT_THAT(asked(), IsEmpty());
}

TEST_F(NodeStatusKeeperTest, OnceIsRetriedAfterTroubleButNotForeverWithoutTheRightToRead) {
    once = true;
    restart();
    want({});
    answer(503);
    after(1s);
    const auto begin = clock.monotonic();
    for (int i = 0; i < 20 && keeper->due(); ++i) {
        answer(403);
        if (const auto due = keeper->due()) after(*due - clock.monotonic());
    }
    EXPECT_THAT(asked(), SizeIs(7)) << "after 2, 4, 8, 16 and 32 s";
    EXPECT_FALSE(keeper->due());
    EXPECT_EQ(clock.monotonic() - begin, 62s) << "a server that starts takes less";
    EXPECT_THAT(notes, SizeIs(1)) << "of the 503";
}

TEST_F(NodeStatusKeeperTest, ADryRunSendsNothingAndLogsEachChange) {
    dry_run = true;
    restart();
    testing::internal::CaptureStderr();
    want(pressure());
    want(pressure());
    after(1h);
    keeper->release();
    EXPECT_THAT(asked(), IsEmpty());
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "evictd: dry run: node n1 would have evictd.io/MemoryPressure=True, taint "
              "evictd.io/memory-pressure:NoSchedule\n");
}

}  // namespace
}  // namespace evictd::reconcile
