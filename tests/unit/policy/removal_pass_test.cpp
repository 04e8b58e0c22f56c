// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Pods that go for their deadline or because they have ended, and those that no removal concerns.
#include "removal_pass.hpp"

#include <gmock/gmock.h>

#include "unit/policy/leaving.hpp"

namespace evictd::policy {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Result = PodStatusResult;

TEST(ListedPods, AreFoundInAnyOrderWithoutThoseDeparted) {
    Observation observation;
    observation.pods = {pod({.name = "c"}), pod({.name = "a"}), pod({.name = "d"}), pod({.name = "b"})};
    observation.pods[2].departed = true;
    const ListedPods listed(observation);
    EXPECT_EQ(listed.find({"uid-a"}), &observation.pods[1]);
    EXPECT_EQ(listed.find({"uid-b"}), &observation.pods[3]);
    EXPECT_EQ(listed.find({"uid-c"}), observation.pods.data());
    for (const auto* uid : {"uid-d", "uid-e", ""}) EXPECT_EQ(listed.find({uid}), nullptr) << uid;
}

// Hundreds of rejected requests would take the client's rate limit, and a long pass at each look.
TEST(Removals, EndedPodsThatMayNotBeDeletedAreNotAllAskedFor) {
    Leaving node;
    node.pods.clear();
    for (int i = 0; i < 100; i++) {
        node.pods.push_back(pod({.name = "p" + std::to_string(i), .phase = PodPhase::failed}));
        node.change("p" + std::to_string(i), [](Pod& pod) { pod.source = api_server_source; });
    }
    node.empty_all();
    const auto decision = node.look(0s);
    ASSERT_EQ(decision.pod_statuses.size(), 10U);
    for (const auto& one : decision.pod_statuses) {
        node.answers.push_back({one.pod, 1, PodEnd::deleted, Result::rejected, at(1s), at(1s), {}, "403"});
    }
    EXPECT_THAT(asked(node.look(1s)), IsEmpty());
    EXPECT_THAT(asked(node.look(600s)), IsEmpty());
    EXPECT_EQ(node.look(601s).pod_statuses.size(), 10U);
    EXPECT_EQ(node.state.removals.size(), 15U) << "five are asked for again";
}

// Of its cgroup alone is it known whether evictd runs in a pod.
TEST(Removals, OwnCriticalAndUnseenPodsStay) {
    using How = std::function<void(Leaving&)>;
    const std::vector<std::pair<const char*, How>> rows{
        {"evictd runs in it", [](Leaving& node) { node.find("big").holds_us = true; }},
        {"its cgroup is not known", [](Leaving& node) { node.find("big").cgroup = CgroupId{}; }},
        {"no source has it any more", [](Leaving& node) { node.find("big").departed = true; }},
        {"it is critical", [](Leaving& node) { node.change("big", [](Pod& pod) { pod.priority = 2'000'000'000; }); }},
        {"it is a mirror",
         [](Leaving& node) { node.change("big", [](Pod& pod) { pod.origin = PodOrigin::mirror; }); }}};
    for (const auto& [rule, how] : rows) {
        Leaving by_taint;
        by_taint.tolerate("middle", std::nullopt);
        how(by_taint);
        EXPECT_THAT(asked(by_taint.look(0s)), IsEmpty()) << rule;
        Leaving by_deadline;
        by_deadline.keep_all_by_taint();
        by_deadline.give_deadline("big", 5s);
        how(by_deadline);
        EXPECT_THAT(asked(by_deadline.look(5s)), IsEmpty()) << rule;
    }
}

// The API server forgets an ended pod at once, and a successor of the same name would run beside it.
TEST(Removals, AnEndedPodIsCollectedOnlyWhenItIsKnownToHaveNoProcess) {
    struct Row {
        const char* rule;
        bool is_populated;
        bool is_unlisted;
    };
    for (const auto& [rule, is_populated, is_unlisted] :
         {Row{"it has a process", true, false}, Row{"not all cgroups could be opened", false, true}}) {
        Leaving node;
        node.keep_all_by_taint();
        node.list_in_api_server();
        node.show(PodPhase::succeeded);
        node.change("middle", [](Pod& pod) { pod.phase = PodPhase::failed; });
        for (auto& one : node.pods) one.populated = is_populated;
        node.pods_unlisted = is_unlisted;
        EXPECT_THAT(asked(node.look(0s)), IsEmpty()) << rule;
        node.empty_all();
        node.pods_unlisted = false;
        EXPECT_EQ(asked(node.look(1s)).size(), 1U) << rule;
    }
}

// Kubelets before 1.22 undo a phase that another wrote.
TEST(Removals, AnEndedPodThatRunsAgainIsNotCollected) {
    for (const bool has_process : {true, false}) {
        Leaving node;
        node.keep_all_by_taint();
        node.list_in_api_server();
        node.show(PodPhase::failed);
        node.change("middle", [](Pod& pod) { pod.phase = PodPhase::succeeded; });
        node.empty_all();
        const auto decision = node.look(0s);
        ASSERT_EQ(decision.pod_statuses.size(), 1U);
        const auto name = decision.pod_statuses[0].name;
        if (has_process) {
            node.find(name).populated = true;
        } else {
            node.change(name, [](Pod& pod) { pod.phase = PodPhase::running; });
        }
        EXPECT_THAT(asked(node.look(1s)), IsEmpty());
    }
}

TEST(Removals, ADeadlineThatIsNotOverByThePutBackClockIsWithdrawn) {
    Leaving node;
    node.keep_all_by_taint();
    node.give_deadline("big", 5s);
    ASSERT_THAT(asked(node.look(5s)), ElementsAre("big failed"));
    node.give_deadline("big", 1h);
    EXPECT_THAT(asked(node.look(6s)), IsEmpty());
    EXPECT_THAT(node.state.removals, IsEmpty());
}

TEST(Removals, APodPastItsDeadlineIsShownFailed) {
    Leaving node;
    node.keep_all_by_taint();
    node.give_deadline("big", 5s);
    EXPECT_EQ(node.look(1s).look_again_at, at(5s));
    EXPECT_THAT(asked(node.look(4999ms)), IsEmpty());
    const auto decision = node.look(5s);
    ASSERT_THAT(asked(decision), ElementsAre("big failed"));
    EXPECT_EQ(decision.pod_statuses[0].reason, "DeadlineExceeded");
    EXPECT_EQ(decision.pod_statuses[0].message, "Pod was active on the node longer than the specified deadline");
    EXPECT_FALSE(decision.pod_statuses[0].disruption_target);
    EXPECT_THAT(decision.actions, IsEmpty());
}

// It may have succeeded: what the kubelet shows of it is late.
TEST(Removals, APodWithoutAProcessIsNotFailedForItsDeadline) {
    Leaving node;
    node.keep_all_by_taint();
    node.give_deadline("big", 5s);
    node.stop(4s);
    EXPECT_THAT(asked(node.look(5s)), IsEmpty());
    node.start();
    ASSERT_THAT(asked(node.look(6s)), ElementsAre("big failed"));
    node.stop(7s);
    EXPECT_THAT(asked(node.look(7s)), IsEmpty()) << "not answered yet: it is withdrawn";
    EXPECT_THAT(node.state.removals, IsEmpty());
}

TEST(Removals, APodThatEndsBeforeTheAnswerIsNotFailedForItsDeadline) {
    for (const auto phase : {PodPhase::succeeded, PodPhase::failed}) {
        for (const bool is_answered : {false, true}) {
            Leaving node;
            node.keep_all_by_taint();
            node.give_deadline("big", 5s);
            ASSERT_THAT(asked(node.look(5s)), ElementsAre("big failed"));
            if (is_answered) node.answer(Result::unreachable, 1, 6s);
            node.show(phase);
            EXPECT_THAT(asked(node.look(6s)), IsEmpty());
            EXPECT_THAT(asked(node.look(60s)), IsEmpty());
        }
    }
}

TEST(Removals, APhaseThatGoesBackIsAskedForAgain) {
    Leaving node;
    node.keep_all_by_taint();
    node.give_deadline("big", 5s);
    node.look(5s);
    node.answer(Result::accepted, 1, 6s);
    node.show(PodPhase::failed);
    node.look(6s);
    node.look(22s);
    node.show(PodPhase::running);
    const auto decision = node.look(23s);
    ASSERT_THAT(asked(decision), ElementsAre("big failed"));
    EXPECT_EQ(decision.pod_statuses[0].attempt, 2);
}

TEST(Removals, EndedPodsBeyondTheLimitAreDeletedTheEvictedFirst) {
    Leaving node;
    node.keep_all_by_taint();
    node.show(PodPhase::succeeded);
    node.change("middle", [](Pod& pod) {
        pod.phase = PodPhase::failed;
        pod.status_reason = "Evicted";
    });
    node.empty_all();
    EXPECT_THAT(asked(node.look(0s)), IsEmpty()) << "only the kubelet has them: they are deleted already";
    node.list_in_api_server();
    const auto decision = node.look(0s);
    ASSERT_THAT(asked(decision), ElementsAre("middle deleted"));
    EXPECT_EQ(decision.pod_statuses[0].grace_period, 0s);
}

TEST(Removals, APodThatWasFailedForItsDeadlineIsAnEndedPod) {
    Leaving node;
    node.keep_all_by_taint();
    node.give_deadline("big", 5s);
    node.list_in_api_server();
    node.look(5s);
    node.answer(Result::accepted, 1, 6s);
    node.show(PodPhase::failed);
    node.change("middle", [](Pod& pod) {
        pod.phase = PodPhase::succeeded;
        pod.creation_time = WallTime(1s);
    });
    node.empty_all();
    EXPECT_THAT(asked(node.look(6s)), IsEmpty()) << "the kubelet has 30 s to end it";
    EXPECT_THAT(asked(node.look(49s)), IsEmpty());
    const auto decision = node.look(50s);
    ASSERT_THAT(asked(decision), ElementsAre("big deleted")) << "it has no creation time, so it is the oldest";
    EXPECT_EQ(decision.pod_statuses[0].attempt, 2);
    EXPECT_EQ(node.state.removals.size(), 1U);
}

}  // namespace
}  // namespace evictd::policy
