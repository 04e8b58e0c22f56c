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
