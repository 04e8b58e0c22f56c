// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the agent hands on of pods that are ended in the API, in which order, and what makes it look at them.
#include "unit/app/agent_fixture.hpp"

namespace evictd::app {
namespace {

struct PodStatuses : Agents {
    void start() {
        eviction.pod_statuses = true;
        declare(100_MiB);
        make();
    }
    void evict_hog() {
        declare(800_MiB);
        cross(124_MiB);
    }
    void empty_hog() {
        declare(10_MiB);
        tree.line(hog_id).processes = 0;
        tell_of_hog(CgroupChange::emptied);
    }
    void tell_of_hog(CgroupChange change) {
        clock.advance(std::chrono::milliseconds(2));
        events.tell(CgroupLife{change, {hog_id}, "/kubepods/podhog"}, clock.monotonic());
        turn();
    }
};

TEST_F(PodStatuses, TheIntentIsNotedBeforeTheKillAndDesiredAfterIt) {
    start();
    evict_hog();
    ASSERT_EQ(intents.size(), 1U);
    EXPECT_EQ(intents[0].first.pod.value, "hog");
    EXPECT_EQ(intents[0].second, 0) << "kills before it";
    EXPECT_EQ(tree.handle(hog_id)->kills, 1);
    ASSERT_EQ(statuses.size(), 1U);
    EXPECT_EQ(statuses[0], std::vector{intents[0].first});
    empty_hog();
    EXPECT_EQ(statuses.size(), 1U) << "told once";
    EXPECT_EQ(intents.size(), 1U);
}

TEST_F(PodStatuses, AnAnswerIsPartOfTheNextLookWhichComesAtOnce) {
    start();
    evict_hog();
    empty_hog();
    agent->note_pod_status({.pod = {"hog"}, .answered_at = clock.monotonic(), .error = {}});
    ASSERT_EQ(last().observation.pod_statuses.size(), 1U);
    EXPECT_EQ(last().decision.end_steps.at(0).kind, EndStepKind::accepted);
    clock.advance(std::chrono::seconds(1));
    agent->request_look();
    EXPECT_TRUE(last().observation.pod_statuses.empty());
}

TEST_F(PodStatuses, APodThatFillsAgainIsKilledAtOnce) {
    start();
    evict_hog();
    empty_hog();
    tree.line(hog_id).processes = 1;
    tell_of_hog(CgroupChange::populated);
    EXPECT_EQ(tree.handle(hog_id)->kills, 2);
    ASSERT_EQ(intents.size(), 2U);
    EXPECT_EQ(intents[1].first.attempt, 2);
    EXPECT_EQ(intents[1].second, 1) << "kills before it";
    EXPECT_EQ(statuses.back().at(0).attempt, 2);
}

TEST_F(PodStatuses, ADryRunNotesNothing) {
    eviction.pod_statuses = true;
    declare(100_MiB);
    make(/*dry_run=*/true);
    evict_hog();
    EXPECT_TRUE(intents.empty());
    EXPECT_EQ(statuses.size(), 1U) << "the reconciler pretends";
}

TEST_F(PodStatuses, ThePodThatEvictdRunsInIsNoCandidate) {
    eviction.pod_statuses = true;
    declare(100_MiB);
    tree.handle(hog_id)->ours = true;
    make();
    evict_hog();
    EXPECT_FALSE(last().decision.evict && last().decision.evict->pod.value == "hog");
    for (const auto& ranked : last().decision.ranking) {
        const bool is_hog = last().observation.pods[ranked.pod].pod->uid.value == "hog";
        EXPECT_EQ(ranked.exemption == Exemption::own_pod, is_hog);
    }
    EXPECT_EQ(tree.handle(hog_id)->kills, 0);
    EXPECT_TRUE(intents.empty() || intents[0].first.pod.value != "hog");
}

// It was moved there after its cgroup was first seen.
TEST_F(PodStatuses, TheApiServerIsNeverAskedToEvictThePodThatEvictdRunsIn) {
    eviction.soft_eviction_api = true;
    eviction.thresholds.at(0).grace_period = std::chrono::milliseconds(1);
    start();
    tree.handle(hog_id)->ours = true;
    evict_hog();
    clock.advance(std::chrono::seconds(1));
    agent->request_look();
    ASSERT_TRUE(last().decision.evict);
    EXPECT_EQ(last().decision.pod_statuses.at(0).end, PodEnd::evicted);
    EXPECT_TRUE(statuses.empty() || statuses.back().empty());
    clock.advance(std::chrono::seconds(1));
    agent->request_look();
    EXPECT_EQ(last().decision.end_steps.at(0).kind, EndStepKind::rejected);
    ASSERT_EQ(last().outcomes.size(), 1U);
    EXPECT_EQ(last().outcomes[0].status, OutcomeStatus::refused) << "nor does a signal reach it";
}

// Without a signal, too: its active deadline is over.
TEST_F(PodStatuses, TheApiServerIsNeverAskedToFailThePodThatEvictdRunsIn) {
    eviction.active_deadlines = true;
    start();
    Pod overdue = *pod("hog");
    overdue.active_deadline = std::chrono::seconds(1);
    overdue.start_time = clock.wall() - std::chrono::seconds(2);
    const port::PodSet set{
        .pods = {pod("quiet"), std::make_shared<const Pod>(overdue)}, .rejected = {}, .current = true};
    tree.handle(hog_id)->ours = true;
    set_pods(set);
    ASSERT_EQ(last().decision.pod_statuses.size(), 1U) << "the policy has not seen it";
    EXPECT_TRUE(statuses.empty() || statuses.back().empty());
    clock.advance(std::chrono::seconds(1));
    agent->request_look();
    ASSERT_EQ(last().decision.removals.size(), 1U);
    EXPECT_NE(last().decision.removals[0].error.find("evictd itself runs in this pod"), std::string::npos);
}

TEST_F(PodStatuses, WhileLogindShutsDownNoPodIsKilledAndAtItsNoOneIsAtOnce) {
    start();
    agent->note_logind({.shuts_down = true, .said_at = clock.monotonic(), .current = true});
    evict_hog();
    EXPECT_EQ(last().decision.shutdown, ShutdownWord::logind);
    EXPECT_EQ(tree.handle(hog_id)->kills, 0);
    clock.advance(std::chrono::milliseconds(1));
    agent->note_logind({.shuts_down = false, .said_at = clock.monotonic(), .current = true});
    EXPECT_EQ(tree.handle(hog_id)->kills, 1) << last().decision.why;
}

TEST_F(PodStatuses, WhatAnAgentBeforeHadBegunIsPartOfTheFirstLook) {
    eviction.pod_statuses = true;
    recalled = {{.pod = {"hog"},
                 .name_space = "default",
                 .name = "hog",
                 .reason = "Evicted",
                 .message = {},
                 .decided_at = MonotonicTime{std::chrono::hours(1'000'000)}}};
    declare(100_MiB);
    make();
    EXPECT_EQ(tree.handle(hog_id)->kills, 1);
    EXPECT_EQ(statuses.back().at(0).attempt, 2);
}

}  // namespace
}  // namespace evictd::app
