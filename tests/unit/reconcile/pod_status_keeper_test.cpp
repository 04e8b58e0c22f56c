// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Each attempt is answered once, whatever the API server does; what is noted is delivered by the next agent.
#include "reconcile/pod_status_keeper.hpp"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fakes/fake_api_server.hpp"
#include "fakes/fake_clock.hpp"
#include "fakes/temp_dir.hpp"
#include "reconcile/control_loop.hpp"
#include "reconcile/ledger_file.hpp"

namespace evictd::reconcile {
namespace {

using namespace std::chrono_literals;

DesiredPodStatus to_end(const std::string& uid = "uid-1", std::int32_t attempt = 1) {
    return {.pod = {uid},
            .name_space = "default",
            .name = "web",
            .reason = "Evicted",
            .message = "low on memory",
            .disruption_target = true,
            .attempt = attempt,
            .decided_at = MonotonicTime(1h)};
}

std::string status(const std::string& reason, const std::string& details, const std::string& message = "no") {
    return R"({"kind":"Status","reason":")" + reason + R"(","message":")" + message + R"(","details":)" + details + "}";
}
const std::string not_found = status("NotFound", R"({"name":"web","kind":"pods"})");
const std::string another_uid = status("Invalid", R"({"causes":[{"field":"metadata.uid"}]})");

std::string pod_json(const std::string& phase, const std::string& reason = "", const std::string& node = "n1",
                     const std::string& uid = "uid-1") {
    return R"({"kind":"Pod","metadata":{"uid":")" + uid + R"("},"spec":{"nodeName":")" + node +
           R"("},"status":{"phase":")" + phase + R"(","reason":")" + reason + R"("}})";
}

class PodStatusKeeperTest : public ::testing::Test {
protected:
    PodStatusKeeperTest() {
        auto opened = IntentFile::open(temp / "run/intents", IntentFile::Needs::nothing);
        file = opened ? std::move(*opened) : nullptr;
        start();
    }
    // Another agent, as after a SIGKILL: what is in memory is gone.
    void start(bool dry_run = false) {
        store.emplace(file.get(), temp / "state/intents");
        const auto noted = store->recover();
        keeper.emplace(
            api, clock, [this](const IntentChange& change) { store->apply(change); },
            PodStatusOptions{.node = "n1", .dry_run = dry_run},
            [this](PodStatusOutcome outcome) {
                if (takes) told.push_back(std::move(outcome));
                return takes;
            });
        keeper->recover(noted);
        keeper->connect([this] { woken++; });
    }
    void note_and_want(const DesiredPodStatus& wanted) {
        ASSERT_TRUE(file->note(wanted, clock.wall()));
        keeper->reconcile({wanted});
    }
    // What is noted, on disk and in memory.
    std::vector<Intent> noted() {
        auto all = intents_from(read_ledger(temp / "state/intents")->value_or("evictd intents 2\n"), boot_id()).intents;
        for (auto& intent : file->read()) all.push_back(std::move(intent));
        return newest_of_each(std::move(all));
    }
    // The policy desires nothing of the pod any more.
    bool is_cleared_when_over() {
        keeper->reconcile({});
        return noted().empty();
    }
    void pass(Duration time) {
        clock.advance(time);
        if (const auto due = keeper->due(); due && *due <= clock.monotonic()) keeper->act_on_time();
    }
    [[nodiscard]] std::string sent(std::size_t index) const {
        const auto& request = api.sent.at(index).request;
        return request.method + " " + request.path;
    }

    fakes::TempDir temp;
    fakes::FakeApiServer api;
    fakes::FakeClock clock;
    std::unique_ptr<IntentFile> file;
    std::vector<PodStatusOutcome> told;
    int woken = 0;
    bool takes = true;  // the agent's queue has room
    std::optional<IntentStore> store;
    std::optional<PodStatusKeeper> keeper;
};

static_assert(Reconciler<PodStatusKeeper>);

constexpr auto patch = "PATCH /api/v1/namespaces/default/pods/web/status";
constexpr auto get = "GET /api/v1/namespaces/default/pods/web";

TEST_F(PodStatusKeeperTest, AnAttemptIsSentAtOnceAndOnceThatIsAnswered) {
    note_and_want(to_end());
    ASSERT_EQ(api.sent.size(), 1U);
    EXPECT_EQ(sent(0), patch);
    EXPECT_EQ(api.sent[0].request.priority, port::ApiPriority::eviction);
    EXPECT_EQ(api.sent[0].request.longest_wait, 15s) << "with its timeout, before it is sent again";
    ASSERT_EQ(noted().size(), 1U);
    clock.advance(3ms);
    api.answer(0, 200);
    EXPECT_EQ(woken, 1);
    keeper->take_answers();
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].result, PodStatusResult::accepted);
    EXPECT_EQ(told[0].answered_at - told[0].sent_at, 3ms);
    EXPECT_EQ(noted().size(), 1U) << "an agent that is killed now leaves the rest of its watch to the next one";
    EXPECT_FALSE(keeper->due());
    keeper->reconcile({to_end()});
    pass(1h);
    EXPECT_EQ(api.sent.size(), 1U);
    EXPECT_TRUE(is_cleared_when_over());
}

TEST_F(PodStatusKeeperTest, AHigherAttemptIsANewRequestWithANewAnnotation) {
    note_and_want(to_end());
    clock.advance(2s);
    note_and_want(to_end("uid-1", 2));
    ASSERT_EQ(api.sent.size(), 2U);
    EXPECT_NE(api.sent[0].request.body, api.sent[1].request.body);
    api.answer(0, 200);
    keeper->take_answers();
    EXPECT_TRUE(told.empty()) << "the answer to the older attempt says nothing of the newer";
    api.answer(1, 200);
    keeper->take_answers();
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].attempt, 2);
    EXPECT_TRUE(is_cleared_when_over());
}

// The pod is watched only where the API server has accepted its end.
TEST_F(PodStatusKeeperTest, WhatIsRejectedIsNotedNoMore) {
    note_and_want(to_end());
    api.answer(0, 400, status("BadRequest", "{}"));
    keeper->take_answers();
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].result, PodStatusResult::rejected);
    EXPECT_TRUE(noted().empty());
}

TEST_F(PodStatusKeeperTest, AnOlderAttemptIsNotedNoMoreOnceThereIsANewOne) {
    note_and_want(to_end());
    api.answer(0, 200);
    keeper->take_answers();
    note_and_want(to_end("uid-1", 2));
    const auto left = noted();
    ASSERT_EQ(left.size(), 1U);
    EXPECT_EQ(left[0].status.attempt, 2);
    EXPECT_FALSE(left[0].answered);
    EXPECT_TRUE(file->read().empty()) << "its slot is free";
}

TEST_F(PodStatusKeeperTest, AnAcceptedEvictionIsResumedForAsLongAsItIsWatched) {
    clock.advance(2h);
    auto watched = to_end();
    watched.decided_at = clock.monotonic();
    note_and_want(watched);
    api.answer(0, 200);
    keeper->take_answers();
    const auto left = noted();
    ASSERT_EQ(left.size(), 1U);
    EXPECT_TRUE(left[0].answered);
    EXPECT_TRUE(is_resumable(left[0], clock.monotonic() + 10min));
    EXPECT_FALSE(is_resumable(left[0], clock.monotonic() + 10min + 1s));
    clock.advance(11min);
    api.sent.clear();
    start();
    EXPECT_TRUE(api.sent.empty()) << "what runs now is not ended for it";
    keeper->reconcile({});
    EXPECT_TRUE(noted().empty());
}

TEST_F(PodStatusKeeperTest, WhatIsRecoveredAndNotAdoptedIsNotedUntilItIsAnswered) {
    ASSERT_TRUE(file->note(to_end(), clock.wall()));
    start();
    api.answer(0, 404, not_found);
    keeper->take_answers();
    EXPECT_TRUE(noted().empty()) << "nothing else has to happen";
}

TEST_F(PodStatusKeeperTest, SeveralPodsAreInParallel) {
    std::vector<DesiredPodStatus> wanted;
    wanted.reserve(20);
    for (int i = 0; i < 20; i++) wanted.push_back(to_end("uid-" + std::to_string(i)));
    keeper->reconcile(wanted);
    EXPECT_EQ(api.sent.size(), 20U);
}

TEST_F(PodStatusKeeperTest, WhatIsNotAnsweredIsSentAgainUntilItIs) {
    note_and_want(to_end());
    api.cut(0);
    keeper->take_answers();
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].result, PodStatusResult::unreachable);
    for (const auto& answer : {std::pair(500L, ""), std::pair(503L, ""), std::pair(429L, "Too many requests"),
                               std::pair(401L, ""), std::pair(409L, ""), std::pair(404L, "404 page not found")}) {
        pass(50s);
        api.answer(api.sent.size() - 1, 200, pod_json("Running"));
        keeper->take_answers();
        api.answer(api.sent.size() - 1, answer.first, answer.second);
        keeper->take_answers();
    }
    EXPECT_EQ(api.sent.size(), 13U) << "it is looked at again before each";
    EXPECT_EQ(told.size(), 1U) << "it is reported once";
    EXPECT_EQ(noted().size(), 1U);
    for (const auto& one : api.sent) {
        if (one.request.method != "PATCH") continue;
        EXPECT_EQ(one.request.body, api.sent[0].request.body) << "the same attempt";
    }
    pass(50s);
    api.answer(13, 200, pod_json("Running"));
    keeper->take_answers();
    api.answer(14, 200);
    keeper->take_answers();
    ASSERT_EQ(told.size(), 2U);
    EXPECT_EQ(told[1].result, PodStatusResult::accepted);
    EXPECT_TRUE(is_cleared_when_over());
}

TEST_F(PodStatusKeeperTest, ThePausesDoubleUpToHalfAMinuteAndFollowTheServer) {
    note_and_want(to_end());
    api.cut(0);
    keeper->take_answers();
    pass(999ms);
    EXPECT_EQ(api.sent.size(), 1U);
    pass(501ms);
    ASSERT_EQ(api.sent.size(), 2U);
    api.answer(1, 429, "", 20s);
    keeper->take_answers();
    pass(19s);
    EXPECT_EQ(api.sent.size(), 2U);
    pass(1s);
    ASSERT_EQ(api.sent.size(), 3U);
    for (int i = 0; i < 20; i++) {
        api.cut(api.sent.size() - 1);
        keeper->take_answers();
        pass(45s);
    }
    EXPECT_EQ(api.sent.size(), 23U);
}

// It refuses while its rights are not loaded, or a proxy in front of it answers.
TEST_F(PodStatusKeeperTest, AServerThatIsBackIsAskedSoon) {
    note_and_want(to_end());
    for (const auto& [status, body] : {std::pair(403L, ""), std::pair(200L, "no JSON")}) {
        for (int i = 0; i < 8; i++) {
            api.cut(api.sent.size() - 1);
            keeper->take_answers();
            pass(45s);
        }
        api.answer(api.sent.size() - 1, status, body);
        keeper->take_answers();
        const auto sent_before = api.sent.size();
        pass(1500ms);
        EXPECT_EQ(api.sent.size(), sent_before + 1) << status;
    }
}

TEST_F(PodStatusKeeperTest, AnAnswerThatNeverComesIsNotWaitedForForEver) {
    note_and_want(to_end());
    pass(21s);
    pass(2s);
    ASSERT_EQ(api.sent.size(), 2U);
    api.answer(0, 200);
    keeper->take_answers();
    EXPECT_EQ(told.size(), 1U) << "the late answer is of a request that was given up";
    api.answer(1, 200, pod_json("Running"));
    keeper->take_answers();
    api.answer(2, 200);
    keeper->take_answers();
    EXPECT_EQ(told.back().result, PodStatusResult::accepted);
}

TEST_F(PodStatusKeeperTest, AnOutcomeThatCannotBeTakenIsToldAgain) {
    note_and_want(to_end());
    takes = false;
    api.answer(0, 200);
    keeper->take_answers();
    keeper->act_on_time();
    EXPECT_TRUE(told.empty());
    pass(100ms);
    pass(100ms);
    takes = true;
    pass(100ms);
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].result, PodStatusResult::accepted);
    EXPECT_FALSE(keeper->due());
}

// After a reboot the kubelet has started it anew, with the same UID.
TEST_F(PodStatusKeeperTest, AnIntentOfAnotherBootEndsNoPodThatRuns) {
    for (const auto& [body, is_patched] :
         {std::pair(pod_json("Running"), false), std::pair(pod_json("Pending"), false),
          std::pair(pod_json("Failed"), true), std::pair(pod_json("Failed", "Evicted"), false)}) {
        ASSERT_TRUE(write_ledger(temp / "state/intents", intents_text({{to_end(), clock.wall()}}, "another-boot")));
        api.sent.clear();
        start();
        ASSERT_EQ(api.sent.size(), 1U);
        EXPECT_EQ(sent(0), get);
        api.answer(0, 200, body);
        keeper->take_answers();
        EXPECT_EQ(api.sent.size(), is_patched ? 2U : 1U) << body;
        if (is_patched) {
            api.answer(1, 200);
            keeper->take_answers();
        }
        EXPECT_TRUE(is_cleared_when_over()) << body;
    }
}

TEST_F(PodStatusKeeperTest, APodThatEndedByItselfMeanwhileKeepsItsEnd) {
    note_and_want(to_end());
    api.cut(0);
    keeper->take_answers();
    pass(50s);
    api.answer(1, 200, pod_json("Succeeded"));
    keeper->take_answers();
    pass(50s);
    EXPECT_EQ(api.sent.size(), 2U);
    EXPECT_TRUE(is_cleared_when_over());
}

TEST_F(PodStatusKeeperTest, WhatIsDesiredNoMoreIsWithdrawn) {
    note_and_want(to_end());
    api.cut(0);
    keeper->take_answers();
    keeper->reconcile({});
    pass(50s);
    EXPECT_EQ(api.sent.size(), 1U);
    EXPECT_TRUE(noted().empty());
}

TEST_F(PodStatusKeeperTest, AFullQueueIsAServerThatCannotBeReached) {
    api.is_full = true;
    note_and_want(to_end());
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].result, PodStatusResult::unreachable);
    api.is_full = false;
    pass(2s);
    EXPECT_EQ(api.sent.size(), 1U);
}

TEST_F(PodStatusKeeperTest, AnotherPodOfTheSameNameIsNeverPatched) {
    for (const auto& [code, body] :
         {std::pair(404L, not_found), std::pair(422L, another_uid),
          std::pair(409L, status("Conflict", "{}", "UID in precondition: a, UID in object meta: b"))}) {
        told.clear();
        api.sent.clear();
        start();
        note_and_want(to_end());
        api.answer(0, code, body);
        keeper->take_answers();
        ASSERT_EQ(told.size(), 1U) << code;
        EXPECT_EQ(told[0].result, PodStatusResult::gone) << code;
        pass(1h);
        EXPECT_EQ(api.sent.size(), 1U) << code;
        EXPECT_TRUE(is_cleared_when_over());
    }
}

TEST_F(PodStatusKeeperTest, WhatTheServerRejectsIsNotTriedAgain) {
    for (const long code : {400L, 405L, 422L}) {
        told.clear();
        api.sent.clear();
        start();
        note_and_want(to_end());
        api.answer(0, code, status("Forbidden", "{}", "no rights"));
        keeper->take_answers();
        ASSERT_EQ(told.size(), 1U);
        EXPECT_EQ(told[0].result, PodStatusResult::rejected);
        EXPECT_NE(told[0].error.find("no rights"), std::string::npos);
        pass(1h);
        EXPECT_EQ(api.sent.size(), 1U) << code;
    }
}

// As an API server that has not read the roles yet: seen for a second after it starts.
TEST_F(PodStatusKeeperTest, MissingRightsMayPassWithinAMinute) {
    note_and_want(to_end());
    for (std::size_t i = 0; i < 3; i++) {
        api.answer(api.sent.size() - 1, 403, status("Forbidden", "{}", "no rights"));
        keeper->take_answers();
        EXPECT_EQ(noted().size(), 1U);
        pass(10s);
    }
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].result, PodStatusResult::unreachable);
    api.answer(api.sent.size() - 1, 200, pod_json("Running"));
    keeper->take_answers();
    api.answer(api.sent.size() - 1, 200);
    keeper->take_answers();
    ASSERT_EQ(told.size(), 2U);
    EXPECT_EQ(told[1].result, PodStatusResult::accepted);
}

TEST_F(PodStatusKeeperTest, MissingRightsForAMinuteAreARejection) {
    note_and_want(to_end());
    const auto begin = clock.monotonic();
    while (keeper->due() && api.sent.size() < 20) {
        api.answer(api.sent.size() - 1, 403, status("Forbidden", "{}", "no rights"));
        keeper->take_answers();
        if (const auto due = keeper->due()) pass(*due - clock.monotonic());
    }
    ASSERT_EQ(told.size(), 2U);
    EXPECT_EQ(told[1].result, PodStatusResult::rejected);
    EXPECT_GE(clock.monotonic() - begin, 1min);
    EXPECT_LT(clock.monotonic() - begin, 2min);
    EXPECT_TRUE(is_cleared_when_over());
}

// It asks for a PodDisruptionBudget, and the policy waits for it for seconds only.
TEST_F(PodStatusKeeperTest, AnEvictionThatAServerForbidsWhichHasJustStartedIsAskedForAgain) {
    auto soft = to_end();
    soft.end = PodEnd::evicted;
    keeper->reconcile({soft});
    api.answer(0, 403, status("Forbidden", "{}", "no rights"));
    keeper->take_answers();
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].result, PodStatusResult::unreachable);
    pass(1500ms);
    ASSERT_EQ(api.sent.size(), 2U);
    api.answer(1, 200, pod_json("Running"));
    keeper->take_answers();
    ASSERT_EQ(api.sent.size(), 3U);
    api.answer(2, 201);
    keeper->take_answers();
    EXPECT_EQ(told.back().result, PodStatusResult::accepted);
}

TEST_F(PodStatusKeeperTest, ANameThatIsNoneIsNotSent) {
    auto evil = to_end();
    evil.name = "../../nodes/n1";
    keeper->reconcile({evil});
    EXPECT_TRUE(api.sent.empty());
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].result, PodStatusResult::rejected);
}

TEST_F(PodStatusKeeperTest, AnEvictionIsRefusedByABudgetOnlyAndFollowsTheServersVersion) {
    auto soft = to_end();
    soft.end = PodEnd::evicted;
    keeper->reconcile({soft});
    EXPECT_NE(api.sent[0].request.body.find(R"("policy/v1")"), std::string::npos);
    api.answer(0, 400, status("BadRequest", "{}", R"(no kind \"Eviction\" is registered for version \"policy/v1\")"));
    keeper->take_answers();
    ASSERT_EQ(api.sent.size(), 2U);
    EXPECT_NE(api.sent[1].request.body.find(R"("policy/v1beta1")"), std::string::npos);
    api.answer(1, 429, status("TooManyRequests", R"({"causes":[{"reason":"DisruptionBudget"}]})"), 10s);
    keeper->take_answers();
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].result, PodStatusResult::refused);
    EXPECT_EQ(told[0].retry_after, 10s);
    pass(1h);
    EXPECT_EQ(api.sent.size(), 2U) << "the policy says whether to ask again";
    EXPECT_TRUE(noted().empty()) << "an eviction has killed nothing";
    soft.attempt = 2;
    keeper->reconcile({soft});
    api.cut(2);
    keeper->take_answers();
    keeper->reconcile({});
    pass(1h);
    EXPECT_EQ(api.sent.size(), 3U) << "not noted and not desired";
    soft.end = PodEnd::deleted;
    soft.attempt = 3;
    keeper->reconcile({soft});
    EXPECT_EQ(sent(3), "DELETE /api/v1/namespaces/default/pods/web");
}

// A deadline is no eviction: its request waits its turn, and no later agent would kill the pod for it.
TEST_F(PodStatusKeeperTest, WhatCanWaitSharesTheRateLimitAndIsNotNoted) {
    auto overdue = to_end();
    overdue.reason = "DeadlineExceeded";
    overdue.can_wait = true;
    keeper->reconcile({overdue});
    ASSERT_EQ(api.sent.size(), 1U);
    EXPECT_EQ(api.sent[0].request.priority, port::ApiPriority::other);
    EXPECT_TRUE(noted().empty());
    keeper->reconcile({to_end("uid-2")});
    ASSERT_EQ(api.sent.size(), 2U);
    EXPECT_EQ(api.sent[1].request.priority, port::ApiPriority::eviction);
    EXPECT_EQ(noted().size(), 1U);
}

TEST_F(PodStatusKeeperTest, ADryRunSendsNothingAndLeavesWhatOthersNoted) {
    note_and_want(to_end());
    api.sent.clear();
    start(/*dry_run=*/true);
    keeper->reconcile({to_end("uid-2")});
    pass(1h);
    EXPECT_TRUE(api.sent.empty());
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].result, PodStatusResult::pretended);
    EXPECT_EQ(noted().size(), 1U);
}

// Killed with SIGKILL: noted and not sent, sent and not answered, answered and not over.
TEST_F(PodStatusKeeperTest, TheNextAgentDeliversWhatIsNoted) {
    ASSERT_TRUE(file->note(to_end(), clock.wall()));
    start();
    ASSERT_EQ(api.sent.size(), 1U);
    EXPECT_EQ(sent(0), get);
    api.answer(0, 200, pod_json("Running"));
    keeper->take_answers();
    ASSERT_EQ(api.sent.size(), 2U);
    EXPECT_EQ(sent(1), patch);
    start();  // killed again, with the PATCH under way
    ASSERT_EQ(api.sent.size(), 3U);
    EXPECT_EQ(sent(2), get);
    api.answer(2, 200, pod_json("Failed", "Evicted"));
    keeper->take_answers();
    EXPECT_EQ(api.sent.size(), 3U) << "the earlier PATCH had arrived";
    EXPECT_TRUE(is_cleared_when_over());
    EXPECT_TRUE(told.empty()) << "the policy did not ask for it";
    start();
    EXPECT_EQ(api.sent.size(), 3U);
}

TEST_F(PodStatusKeeperTest, WhatIsNotedIsPatchedOnlyOnThisNodeWhileItRuns) {
    const std::vector<std::pair<std::string, bool>> cases{
        {pod_json("Running"), true},
        {pod_json("Pending"), true},
        {pod_json("Failed"), true},  // killed, restartPolicy Never: the reason is missing
        {pod_json("Failed", "Evicted"), false},
        {pod_json("Failed", "DeadlineExceeded"), false},
        {pod_json("Succeeded"), false},
        {pod_json("Running", "", "n2"), false},
        {pod_json("Running", "", "n1", "uid-2"), false},
        {R"({"kind":"Pod","metadata":{"uid":"uid-1","deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{"nodeName":"n1"},"status":{"phase":"Running"}})",
         false},
        {R"({"kind":"Pod","metadata":{"uid":"uid-1"},"spec":{"nodeName":"n1"},"status":{"phase":"Failed","conditions":[{"type":"DisruptionTarget","status":"True"}]}})",
         false}};
    for (const auto& [body, is_patched] : cases) {
        api.sent.clear();
        ASSERT_TRUE(file->note(to_end(), clock.wall()));
        start();
        ASSERT_EQ(api.sent.size(), 1U);
        api.answer(0, 200, body);
        keeper->take_answers();
        EXPECT_EQ(api.sent.size(), is_patched ? 2U : 1U) << body;
        if (is_patched) {
            api.answer(1, 200);
            keeper->take_answers();
        }
        EXPECT_TRUE(is_cleared_when_over()) << body;
    }
}

TEST_F(PodStatusKeeperTest, WhatIsNotedIsNotLostToAnAnswerThatProvesNothing) {
    ASSERT_TRUE(file->note(to_end(), clock.wall()));
    start();
    const std::vector<std::pair<long, std::string>> answers{{200, "{}"}, {200, "cut of"}, {404, "404 page not found"},
                                                            {500, ""},   {403, ""},       {401, ""}};
    for (const auto& [code, body] : answers) {
        api.answer(api.sent.size() - 1, code, body);
        keeper->take_answers();
        EXPECT_EQ(noted().size(), 1U) << code << body;
        pass(50s);
    }
    EXPECT_EQ(api.sent.size(), answers.size() + 1);
    api.answer(api.sent.size() - 1, 404, not_found);
    keeper->take_answers();
    EXPECT_TRUE(is_cleared_when_over());
}

// The policy adopts what it is handed at the start, with the same decided_at.
TEST_F(PodStatusKeeperTest, AnAttemptThatIsAdoptedIsSentOnceAndReported) {
    ASSERT_TRUE(file->note(to_end("uid-1", 3), clock.wall()));
    start();
    keeper->reconcile({to_end("uid-1", 3)});
    ASSERT_EQ(api.sent.size(), 1U);
    api.answer(0, 200, pod_json("Failed", "Evicted"));
    keeper->take_answers();
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].attempt, 3);
    EXPECT_EQ(told[0].result, PodStatusResult::accepted);
}

TEST_F(PodStatusKeeperTest, AnAttemptThatIsAdoptedAfterItsAnswerIsReportedAndNotSentAgain) {
    ASSERT_TRUE(file->note(to_end("uid-1", 3), clock.wall()));
    start();
    api.answer(0, 404, not_found);
    keeper->take_answers();
    keeper->reconcile({to_end("uid-1", 3)});
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].result, PodStatusResult::gone);
    EXPECT_EQ(api.sent.size(), 1U);
    auto fresh = to_end();  // decided by this agent
    fresh.decided_at += 5s;
    keeper->reconcile({fresh});
    ASSERT_EQ(api.sent.size(), 2U);
    EXPECT_EQ(sent(1), patch);
}

TEST_F(PodStatusKeeperTest, AfterItsEndAnswersAreDroppedAndWhatTheyAreAboutStaysNoted) {
    note_and_want(to_end());
    keeper->release();
    keeper.reset();
    woken = 0;
    api.answer(0, 200);
    EXPECT_EQ(woken, 0);
    EXPECT_EQ(noted().size(), 1U);
}

TEST_F(PodStatusKeeperTest, AFullDiskLeavesIntentsInMemory) {
    temp.write("state", "a file where the directory should be");
    note_and_want(to_end());
    EXPECT_EQ(file->read().size(), 1U);
    ASSERT_EQ(api.sent.size(), 1U);
    api.answer(0, 200);
    keeper->take_answers();
    keeper->reconcile({});
    EXPECT_TRUE(file->read().empty());
}

}  // namespace
}  // namespace evictd::reconcile
