// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Pods that go for a taint: asked for once, from what is up to date, and never by a signal of evictd's.
#include "removals.hpp"

#include <utility>

#include <gmock/gmock.h>

#include "unit/policy/leaving.hpp"

namespace evictd::policy {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using Result = PodStatusResult;

TEST(Removals, ATaintThatIsNotToleratedDeletesThePod) {
    Leaving node;
    node.tolerate("middle", std::nullopt);
    const auto decision = node.look(0s);
    ASSERT_THAT(asked(decision), ElementsAre("big deleted"));
    const auto& desired = decision.pod_statuses[0];
    EXPECT_EQ(desired.pod, PodUid{"uid-big"});
    EXPECT_EQ(desired.grace_period, std::nullopt) << "the pod's own";
    EXPECT_TRUE(desired.can_wait);
    EXPECT_THAT(decision.actions, IsEmpty()) << "the kubelet ends it";
    EXPECT_THAT(decision.why, HasSubstr("; deleting default/big: it does not tolerate a NoExecute taint"));
}

TEST(Removals, ATolerationOfSecondsIsWaitedFor) {
    Leaving node;
    node.tolerate("big", 20);
    node.tolerate("middle", std::nullopt);
    auto decision = node.look(0s);
    EXPECT_THAT(asked(decision), IsEmpty());
    EXPECT_EQ(decision.look_again_at, at(20s));
    EXPECT_THAT(asked(node.look(19s)), IsEmpty());
    EXPECT_THAT(asked(node.look(20s)), ElementsAre("big deleted"));
}

TEST(Removals, ATaintThatGoesCancelsWhatWasScheduled) {
    Leaving node;
    node.tolerate("big", 20);
    node.tolerate("middle", std::nullopt);
    node.look(0s);
    node.view.taints.clear();
    node.look(10s);
    EXPECT_THAT(asked(node.look(30s)), IsEmpty());
    EXPECT_THAT(node.state.taint_evictions, IsEmpty());
}

TEST(Removals, ATaintThatIsGoneWhenAPodFallsDueDeletesNoPod) {
    Leaving node;
    node.tolerate("big", 20);
    node.tolerate("middle", std::nullopt);
    node.look(0s);
    node.view.taints.clear();
    EXPECT_THAT(asked(node.look(30s)), IsEmpty());
    EXPECT_THAT(node.state.removals, IsEmpty());
}

TEST(Removals, WhatWaitsForTheApiServerIsWithdrawnWithItsReason) {
    using How = std::function<void(Leaving&)>;
    const std::vector<std::pair<const char*, How>> rows{
        {"the taint is gone", [](Leaving& node) { node.view.taints.clear(); }},
        {"the pod tolerates it by now", [](Leaving& node) { node.tolerate("big", std::nullopt); }},
        {"the node was not heard for 91 s", [](Leaving& node) { node.heard = 1s; }},
        {"the pods may be out of date", [](Leaving& node) { node.pods_current = false; }},
        {"the node shuts down", [](Leaving& node) { node.logind = true; }}};
    for (const auto& [rule, how] : rows) {
        Leaving node;
        node.tolerate("middle", std::nullopt);
        ASSERT_THAT(asked(node.look(0s)), ElementsAre("big deleted"));
        how(node);
        EXPECT_THAT(asked(node.look(100s)), IsEmpty()) << rule;
    }
    Leaving node;
    node.tolerate("middle", std::nullopt);
    node.look(0s);
    EXPECT_THAT(asked(node.look(100s)), ElementsAre("big deleted")) << "it waits";
}

TEST(Removals, WhatWaitsForTheApiServerIsWithdrawnWhenThePodEnds) {
    Leaving node;
    node.tolerate("middle", std::nullopt);
    ASSERT_THAT(asked(node.look(0s)), ElementsAre("big deleted"));
    node.show(PodPhase::succeeded);
    EXPECT_THAT(asked(node.look(1s)), IsEmpty());
}

// The taint may have gone and come back, unseen.
TEST(Removals, TolerationsAreCountedAnewAfterAnInterruption) {
    Leaving node;
    node.tolerate("big", 300);
    node.tolerate("middle", std::nullopt);
    node.look(0s);
    node.view.current = false;
    node.heard = 10s;
    node.look(60s);
    node.view.current = true;
    node.heard.reset();
    EXPECT_THAT(asked(node.look(301s)), IsEmpty());
    EXPECT_THAT(asked(node.look(600s)), IsEmpty());
    EXPECT_THAT(asked(node.look(601s)), ElementsAre("big deleted"));
}

// API servers up to 1.20 send no bookmarks to it.
TEST(Removals, TolerationsAreCountedThroughASilenceOfTheServer) {
    Leaving node;
    node.tolerate("big", 300);
    node.tolerate("middle", std::nullopt);
    node.look(0s);
    node.heard = 0s;
    node.look(200s);
    EXPECT_THAT(asked(node.look(300s)), IsEmpty()) << "it was not heard for 90 s";
    node.heard.reset();
    EXPECT_THAT(asked(node.look(301s)), ElementsAre("big deleted"));
}

TEST(Removals, ATaintThatIsSeenGoneCancelsEvenWhileThePodsAreOld) {
    Leaving node;
    node.tolerate("big", 300);
    node.tolerate("middle", std::nullopt);
    node.look(0s);
    node.pods_current = false;
    const auto taints = std::exchange(node.view.taints, {});
    node.look(60s);
    node.view.taints = taints;
    node.look(295s);
    node.pods_current = true;
    EXPECT_THAT(asked(node.look(301s)), IsEmpty());
}

TEST(Removals, AnOperatorOfANewerServerTolerates) {
    Leaving node;
    node.tolerate("middle", std::nullopt);
    node.change("big", [](Pod& pod) { pod.tolerations = {{"gone", "Gt", "5", "NoExecute", 1}}; });
    EXPECT_THAT(asked(node.look(0s)), IsEmpty());
    EXPECT_THAT(asked(node.look(10s)), IsEmpty());
    node.change("big", [](Pod& pod) { pod.tolerations = {{"other", "Gt", "5", "NoExecute", 1}}; });
    EXPECT_THAT(asked(node.look(11s)), ElementsAre("big deleted"));
}

TEST(Removals, AreAskedForOnceAndThenFollowed) {
    Leaving node;
    node.tolerate("middle", std::nullopt);
    node.look(0s);
    EXPECT_EQ(node.look(1s).pod_statuses.at(0).attempt, 1);
    node.answer(Result::accepted, 1, 2s, PodEnd::deleted);
    EXPECT_THAT(asked(node.look(2s)), IsEmpty());
    EXPECT_THAT(asked(node.look(16s)), IsEmpty());
    const auto again = node.look(17s);
    ASSERT_THAT(asked(again), ElementsAre("big deleted")) << "it shows no deletion";
    EXPECT_EQ(again.pod_statuses[0].attempt, 2);
    node.answer(Result::accepted, 2, 18s, PodEnd::deleted);
    node.change("big", [](Pod& pod) { pod.deletion_time = WallTime(1s); });
    node.look(18s);
    EXPECT_THAT(asked(node.look(100s)), IsEmpty()) << "it is on its way";
    node.remove("big");
    node.look(101s);
    EXPECT_THAT(node.state.removals, IsEmpty());
}

TEST(Removals, WhatIsRejectedRestsForTenMinutes) {
    Leaving node;
    node.tolerate("middle", std::nullopt);
    node.look(0s);
    node.answer(Result::rejected, 1, 1s, PodEnd::deleted);
    node.answers.back().error = "403";
    const auto decision = node.look(1s);
    ASSERT_EQ(decision.removals.size(), 1U);
    EXPECT_EQ(decision.removals[0].error, "403");
    EXPECT_THAT(asked(node.look(9min)), IsEmpty());
    EXPECT_THAT(asked(node.look(11min)), ElementsAre("big deleted"));
}

TEST(Removals, NothingIsBegunFromWhatIsOld) {
    using How = std::function<void(Leaving&)>;
    const std::vector<std::pair<const char*, How>> rows{
        {"the pods may be out of date", [](Leaving& node) { node.pods_current = false; }},
        {"the node's watch is interrupted", [](Leaving& node) { node.view.current = false; }},
        {"the node was not heard for 91 s", [](Leaving& node) { node.heard = -91s; }},
        {"the node shuts down", [](Leaving& node) { node.logind = true; }},
        {"it is off", [](Leaving& node) { node.config.taint_eviction = false; }},
        {"there is no API server", [](Leaving& node) { node.config.pod_statuses = false; }},
        {"the pod is static",
         [](Leaving& node) { node.change("big", [](Pod& pod) { pod.origin = PodOrigin::static_file; }); }},
        {"the pod is being deleted",
         [](Leaving& node) { node.change("big", [](Pod& pod) { pod.deletion_time = WallTime(1s); }); }}};
    for (const auto& [rule, how] : rows) {
        Leaving node;
        node.tolerate("middle", std::nullopt);
        how(node);
        EXPECT_THAT(asked(node.look(0s)), IsEmpty()) << rule;
    }
}

TEST(Removals, AnEvictionTakesOverWithANewAttempt) {
    Leaving node;
    node.tolerate("middle", std::nullopt);
    node.look(0s);
    node.set(90_MiB);
    const auto decision = node.look(1s);
    EXPECT_EQ(evicted(decision), "uid-big");
    ASSERT_THAT(asked(decision), ElementsAre("big failed"));
    EXPECT_EQ(decision.pod_statuses[0].attempt, 2);
    EXPECT_THAT(node.state.removals, IsEmpty());
}

TEST(Removals, TenAtATime) {
    Leaving node;
    node.pods.clear();
    for (int i = 0; i < 25; i++) node.pods.push_back(pod({.name = "p" + std::to_string(i)}));
    EXPECT_EQ(node.look(0s).pod_statuses.size(), 10U);
    for (const auto& removal : node.state.removals) {
        node.answers.push_back({removal.desired.pod, 1, PodEnd::deleted, Result::gone, at(1s), at(1s), {}, ""});
    }
    EXPECT_EQ(node.look(1s).pod_statuses.size(), 10U) << "the next ones";
}

// A server, or a webhook of some namespace, that is away: 15 s, doubling to 10 minutes.
TEST(Removals, WhatFailsLeavesItsPlaceAndIsAskedForAgainLater) {
    Leaving node;
    node.pods.clear();
    for (int i = 0; i < 10; i++) node.pods.push_back(pod({.name = "p" + std::to_string(i)}));
    ASSERT_EQ(node.look(0s).pod_statuses.size(), 10U);
    node.pods.push_back(pod({.name = "other"}));
    EXPECT_EQ(node.look(1s).pod_statuses.size(), 10U) << "no place";
    for (const auto& removal : node.state.removals) {
        node.answers.push_back({removal.desired.pod, 1, PodEnd::deleted, Result::unreachable, at(2s), at(2s), {}, ""});
    }
    const auto decision = node.look(2s);
    EXPECT_THAT(asked(decision), ElementsAre("other deleted"));
    EXPECT_EQ(decision.look_again_at, at(17s));
    EXPECT_EQ(node.look(16s).pod_statuses.size(), 1U);
    EXPECT_EQ(node.look(17s).pod_statuses.size(), 5U) << "others have their turn";
}

TEST(Removals, BackOffDoublesToTenMinutes) {
    Leaving node;
    node.tolerate("middle", std::nullopt);
    Duration now = 0s;
    std::int32_t attempt = 1;
    node.look(now);
    for (const Duration pause : {15s, 30s, 60s, 120s, 240s, 480s, 600s, 600s}) {
        node.answer(Result::unreachable, attempt++, now, PodEnd::deleted);
        EXPECT_THAT(asked(node.look(now)), IsEmpty());
        EXPECT_THAT(asked(node.look(now + pause - 1s)), IsEmpty());
        now += pause;
        const auto decision = node.look(now);
        ASSERT_THAT(asked(decision), ElementsAre("big deleted"));
        EXPECT_EQ(decision.pod_statuses[0].attempt, attempt);
    }
}

TEST(Removals, AfterFiveAttemptsItIsAskedForOnceAnHour) {
    for (const auto& [result, pause] : {std::pair{Result::rejected, Duration(10min)}, {Result::accepted, 15s}}) {
        Leaving node;
        node.tolerate("middle", std::nullopt);
        Duration now = 0s;
        for (std::int32_t attempt = 1; attempt <= 8; attempt++) {
            ASSERT_THAT(asked(node.look(now)), ElementsAre("big deleted")) << attempt;
            node.answer(result, attempt, now, PodEnd::deleted);
            node.look(now);
            now += attempt < 5 ? pause : 1h;
            EXPECT_THAT(asked(node.look(now - 1s)), IsEmpty()) << attempt;
        }
    }
}

TEST(Removals, ARejectionHoldsOthersOfItsNamespaceForTenMinutes) {
    Leaving node;
    node.pods = {pod({.name = "p"})};
    node.look(0s);
    node.answers.push_back({{"uid-p"}, 1, PodEnd::deleted, Result::rejected, at(1s), at(1s), {}, "403"});
    node.look(1s);
    node.pods.push_back(pod({.name = "same"}));
    node.pods.push_back(pod({.name = "elsewhere"}));
    node.change("elsewhere", [](Pod& pod) { pod.name_space = "other"; });
    EXPECT_THAT(asked(node.look(2s)), ElementsAre("elsewhere deleted"));
    EXPECT_THAT(asked(node.look(600s)), ElementsAre("elsewhere deleted"));
    EXPECT_THAT(asked(node.look(601s)), UnorderedElementsAre("elsewhere deleted", "p deleted", "same deleted"));
}

TEST(Removals, ADryRunPretendsOnce) {
    Leaving node;
    node.tolerate("middle", std::nullopt);
    node.look(0s);
    node.answer(Result::pretended, 1, 1s, PodEnd::deleted);
    node.look(1s);
    EXPECT_THAT(asked(node.look(30min)), IsEmpty());
}

}  // namespace
}  // namespace evictd::policy
