// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The agent's one function over fakes: what it does when a threshold is met, and what it says.
#include "app/agent.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "policy/decide.hpp"
#include "unit/app/agent_fixture.hpp"

namespace evictd::app {
namespace {

TEST_F(Agents, WatchesTheValueAndTheValuePlusMinimumReclaim) {
    declare(100_MiB);
    make();
    ASSERT_EQ(events.watermarks.size(), 4U);
    EXPECT_EQ(events.watermarks[0].threshold, 200_MiB);
    EXPECT_EQ(events.watermarks[1].threshold, 250_MiB);
    EXPECT_EQ(events.watermarks[2].threshold, 264_MiB) << "where it gets ready";
    EXPECT_EQ(events.watermarks[3].threshold, 314_MiB);
    EXPECT_EQ(events.watches, 1) << "the same lines are not set again with every look";
}

TEST_F(Agents, ACrossingKillsTheOneRankedPodAtOnce) {
    declare(100_MiB);
    make();
    declare(800_MiB);
    cross(124_MiB);
    EXPECT_EQ(tree.handle(hog_id)->kills, 1);
    EXPECT_EQ(tree.handle(quiet_id)->kills, 0);
    ASSERT_TRUE(last().decision.evict);
    EXPECT_EQ(last().outcomes.at(0).method, "cgroup.kill");
    EXPECT_TRUE(std::holds_alternative<WatermarkCrossed>(last().observation.cause.event->kind));
    EXPECT_EQ(reaper.followed, 1);
}

TEST_F(Agents, ActivePageCacheEvictsNoPodWhereMemoryIsCountedAsReclaimableAndTheKernelCountsLikewise) {
    eviction.memory_available = MemoryAvailable::reclaimable;
    make();
    tree.declare({{.id = root_id, .level = 1, .usage = 900_MiB, .limit = 1_GiB, .active_file = 800_MiB},
                  {.id = hog_id, .level = 2, .usage = 900_MiB, .processes = 1, .pod = "hog"}});
    EXPECT_EQ(events.counted, MemoryAvailable::reclaimable);
    cross(124_MiB);
    EXPECT_EQ(tree.handle(hog_id)->kills, 0);
    EXPECT_FALSE(last().decision.evict);
    eviction.memory_available = MemoryAvailable::kubelet;
    clock.advance(std::chrono::milliseconds(1));
    agent->set_config(eviction);
    EXPECT_EQ(events.counted, MemoryAvailable::kubelet);
    EXPECT_EQ(tree.handle(hog_id)->kills, 1);
}

TEST_F(Agents, WithATapeEveryLookRecordsItsInputs) {
    declare(100_MiB);
    make(false, true);
    declare(800_MiB);
    cross(124_MiB);
    cross(124_MiB);
    const auto tick = [&](std::size_t from_end) { return std::get<Tick>(*records.at(records.size() - from_end)); };
    EXPECT_EQ(tick(1).number, tick(2).number + 1);
    EXPECT_TRUE(tick(2).before->in_flight.empty());
    EXPECT_EQ(tick(1).before->in_flight.size(), 1U);
    EXPECT_EQ(tick(1).config, tick(2).config);
    const auto state = policy::decide(*tick(2).config, tick(2).observation, *tick(2).before).state;
    EXPECT_EQ(state.first_observed.at(0).at, tick(1).before->first_observed.at(0).at);
    agent->set_config(eviction);
    EXPECT_NE(last().config, tick(2).config);
}

TEST_F(Agents, WithoutATapeNothingIsKeptForOne) {
    declare(100_MiB);
    make();
    EXPECT_EQ(last().number, 0U);
    EXPECT_FALSE(last().config || last().before);
}

TEST_F(Agents, OneVictimAtATimeUntilItsLastProcessIsGone) {
    declare(100_MiB);
    make();
    declare(800_MiB);
    cross(124_MiB);
    cross(120_MiB);
    EXPECT_EQ(tree.handle(hog_id)->kills, 1);
    EXPECT_EQ(tree.handle(quiet_id)->kills, 0);
}

TEST_F(Agents, TheVictimsLastProcessIsNoticedByItsEvent) {
    declare(100_MiB);
    make();
    declare(800_MiB);
    cross(124_MiB);
    declare(0_MiB);
    tree.line(hog_id).processes = 0;
    clock.advance(std::chrono::milliseconds(3));
    const auto gone_at = clock.monotonic();
    events.tell(CgroupLife{CgroupChange::emptied, {hog_id}, "/kubepods/podhog"}, gone_at);
    turn();
    ASSERT_EQ(last().decision.finished.size(), 1U);
    EXPECT_EQ(last().decision.finished[0].emptied_at, gone_at);
    EXPECT_EQ(tree.handle(hog_id)->cache_drops, 1) << "what it read is given back with what it held";
    EXPECT_EQ(tree.handle(quiet_id)->cache_drops, 0);
}

TEST_F(Agents, DryRunTouchesNothing) {
    declare(100_MiB);
    make(true);
    declare(800_MiB);
    cross(124_MiB);
    EXPECT_EQ(tree.handle(hog_id)->kills, 0);
    EXPECT_EQ(last().outcomes.at(0).status, OutcomeStatus::dry_run);
}

TEST_F(Agents, APodRemadeUnderItsNameIsNotTouched) {
    declare(100_MiB);
    make();
    declare(800_MiB);
    tree.handle(hog_id)->removed = true;
    cross(124_MiB);
    EXPECT_EQ(last().outcomes.at(0).status, OutcomeStatus::vanished);
    EXPECT_EQ(tree.handle(hog_id)->kills, 0);
}

TEST_F(Agents, ARequestGetsALookAtOnceAndTheNextOneSoon) {
    declare(100_MiB);
    make();
    const auto looks = records.size();
    agent->request_look();
    EXPECT_EQ(records.size(), looks + 1) << "the looks of a start hold no reader up";
    agent->request_look();
    EXPECT_EQ(records.size(), looks + 1) << "a reader in a loop must not keep the agent looking";
    EXPECT_EQ(agent->next_look() - clock.monotonic(), std::chrono::milliseconds(20));
}

TEST_F(Agents, ARequestThatAnotherLookServedCountsToo) {
    declare(100_MiB);
    make();
    agent->request_look();
    clock.advance(std::chrono::milliseconds(15));
    agent->request_look();
    agent->set_config(eviction);
    const auto looks = records.size();
    clock.advance(std::chrono::milliseconds(10));
    agent->request_look();
    EXPECT_EQ(records.size(), looks);
    EXPECT_EQ(agent->next_look() - clock.monotonic(), std::chrono::milliseconds(10));
}

TEST_F(Agents, ALookThatIsPutOffKeepsItsCause) {
    declare(100_MiB);
    make();
    clock.set(MonotonicTime{std::chrono::seconds(1)});  // timers fire at once
    agent->set_config(eviction);
    agent->request_look();
    agent->request_look();
    const auto asked = clock.monotonic();
    clock.advance(std::chrono::milliseconds(20));
    turn();
    EXPECT_EQ(last().observation.cause.kind, CauseKind::requested);
    EXPECT_EQ(last().observation.cause.detected_at, asked);
    clock.advance(std::chrono::seconds(10));
    turn();
    EXPECT_EQ(last().observation.cause.kind, CauseKind::timer) << "that one was not asked for";
}

TEST_F(Agents, AnotherAgentsPodsAreNotTouched) {
    declare(100_MiB);
    claim = fail(ErrorKind::failed, "/kubepods", "another evictd works on these pods: process 7");
    executor.emplace(clock, reaper, false);
    shed.emplace(clock, nullptr, false);
    agent.emplace(AgentParts{loop, clock, events, tree, observer, *executor, *shed, [](RecordPtr) {},
                             [this](const port::PodsRoot&) { return claim; }},
                  AgentOptions{.eviction = eviction});
    const auto started = agent->start();
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().why, "another evictd works on these pods: process 7");
}

// The pods' root is removed and made again, and another agent was faster.
TEST_F(Agents, ARunningAgentThatCannotHaveThePodsReportsItOnceAndTriesAgain) {
    declare(100_MiB);
    make();
    claim = fail(ErrorKind::unreachable, "/kubepods", "another evictd works on these pods: process 7");
    records.clear();
    const auto something_happens = [&] {
        events.tell(CgroupLife{.change = CgroupChange::removed, .cgroup = {root_id}, .path = {}}, clock.monotonic());
        turn();
    };
    for (int second = 0; second < 3; second++) {
        something_happens();
        EXPECT_FALSE(events.followed && second > 0);
        EXPECT_LE(agent->next_look(), clock.monotonic() + std::chrono::seconds(1)) << "it looks again soon";
        clock.advance(std::chrono::seconds(1));
    }
    const auto is_notice = [](const RecordPtr& record) {
        const auto* notice = std::get_if<AgentNotice>(record.get());
        return notice != nullptr && notice->error.find("another evictd") != std::string::npos;
    };
    EXPECT_EQ(std::count_if(records.begin(), records.end(), is_notice), 1);
    claim = {};
    something_happens();
    EXPECT_TRUE(events.followed) << "it has them again";
}

TEST_F(Agents, BrokenManifestsBecomeNotices) {
    declare(100_MiB);
    make();
    records.clear();
    set_pods({.pods = {}, .rejected = {Error{ErrorKind::invalid, "a.yaml:3", "no uid", "add metadata.uid"}}});
    ASSERT_EQ(records.size(), 2U);
    EXPECT_EQ(std::get<AgentNotice>(*records[0]).notice, Notice::pod_rejected);
    EXPECT_EQ(std::get<AgentNotice>(*records[0]).message, "a.yaml:3: no uid (add metadata.uid)");
}

TEST_F(Agents, ThePodsAreCompleteOnceEachSourceHasSaidAllOfThem) {
    declare(100_MiB);
    pod_sources = 2;
    make();
    const auto deliver = [&](std::size_t source, port::PodSet set) {
        agent->set_pods(source, std::move(set));
        turn();
        turn();
        return last().observation.pods_complete;
    };
    const port::PodSet of_server{.pods = {pod("hog")}, .rejected = {}, .unread = {}, .current = true};
    EXPECT_FALSE(last().observation.pods_complete) << "the other was not heard yet, and is the API server's";
    EXPECT_TRUE(deliver(1, of_server));
    auto late = of_server;
    late.current = false;
    EXPECT_FALSE(deliver(1, late));
    EXPECT_TRUE(deliver(1, of_server));
    const Error unread{ErrorKind::exhausted, "a.yaml", "Too many open files", ""};
    EXPECT_FALSE(deliver(0, {.pods = {pod("quiet")}, .rejected = {}, .unread = {unread}}));
    const Error refused{ErrorKind::invalid, "a.yaml:3", "no uid", ""};
    EXPECT_FALSE(deliver(0, {.pods = {pod("quiet")}, .rejected = {refused}}));
    const Error away{ErrorKind::vanished, "/manifests", "is not there", ""};
    EXPECT_FALSE(deliver(0, {.pods = {}, .rejected = {away}})) << "it had pods";
    EXPECT_TRUE(deliver(0, {.pods = {pod("quiet")}, .rejected = {}}));
}

TEST_F(Agents, ADirectoryOfManifestsThatWasNeverThereHasNoPods) {
    declare(100_MiB);
    pod_sources = 3;
    make();
    agent->set_pods(1, {.pods = {pod("hog")}, .rejected = {}, .unread = {}, .current = true});
    set_pods({.pods = {pod("quiet")}, .rejected = {}});
    EXPECT_FALSE(last().observation.pods_complete);
    agent->set_pods(2, {.pods = {}, .rejected = {Error{ErrorKind::vanished, "/manifests", "is not there", ""}}});
    turn();
    turn();
    EXPECT_TRUE(last().observation.pods_complete);
}

TEST_F(Agents, ADryRunReportsOrphansOnce) {
    eviction.garbage.orphans = Orphans::remove;
    declare(100_MiB);
    make(true, true);
    EXPECT_EQ(last().config->garbage.orphans, Orphans::report);
    agent->set_config(eviction);
    EXPECT_EQ(last().config->garbage.orphans, Orphans::report);
}

// The source delivers a set each second while something cannot be read, or whenever another pod changes.
TEST_F(Agents, WhatCannotBeReadOfTheManifestsIsReportedOnceWhileItLasts) {
    declare(100_MiB);
    make();
    const auto deliver = [&](std::vector<Error> unread) {
        records.clear();
        set_pods({.pods = {pod("quiet"), pod("hog")},
                  .rejected = {Error{ErrorKind::invalid, "b.yaml:3", "no uid", ""}},
                  .unread = std::move(unread)});
        return records.size() - 1;  // without the look
    };
    const Error full{ErrorKind::exhausted, "a.yaml", "Too many open files; its pods are kept as they were", ""};
    ASSERT_EQ(deliver({full}), 2U);
    const auto& notice = std::get<AgentNotice>(*records[1]);
    EXPECT_EQ(notice.notice, Notice::look_incomplete);
    EXPECT_EQ(notice.message, "a.yaml: Too many open files; its pods are kept as they were");
    EXPECT_FALSE(notice.error.empty());
    EXPECT_EQ(deliver({full}), 0U) << "the rejected one neither";
    std::vector<Error> many(6, full);
    for (std::size_t i = 0; i < many.size(); i++) many[i].what = std::to_string(i) + ".yaml";
    ASSERT_EQ(deliver(many), 1U);
    EXPECT_TRUE(std::get<AgentNotice>(*records[0]).message.ends_with("; and 3 more manifests cannot be read"));
    EXPECT_EQ(deliver({full}), 0U) << "it has lasted since the first report";
    EXPECT_EQ(deliver({}), 0U);
    EXPECT_EQ(deliver({full}), 1U) << "another time";
}

TEST_F(Agents, AnIncompleteLookIsReportedOnce) {
    declare(100_MiB);
    make();
    records.clear();
    tree.trouble_text = "2 of the pods' cgroups cannot be opened";
    for (int look = 0; look < 2; look++) {
        clock.advance(std::chrono::seconds(1));
        agent->request_look();
    }
    ASSERT_EQ(records.size(), 3U) << "two looks, one notice";
    const auto& notice = std::get<AgentNotice>(*records[1]);
    EXPECT_EQ(notice.notice, Notice::look_incomplete);
    EXPECT_NE(notice.message.find("2 of the pods' cgroups cannot be opened"), std::string::npos);
}

// A watch delivers its pods again whenever it was heard, some every 10 s.
TEST_F(Agents, PodsThatAreToldOfAgainAreNoLookUnlessSomethingElseIsSaid) {
    declare(100_MiB);
    pod_sources = 2;  // of which the other was not heard: the pods are not complete, whatever this one says
    make();
    const std::vector<PodPtr> pods{pod("quiet"), pod("hog")};
    NodeView node;
    node.current = true;
    bool is_current = true;
    const auto looks_after = [&](const std::vector<PodPtr>& told) {
        const auto before = records.size();
        node.heard_at = clock.monotonic();
        set_pods({.pods = told, .rejected = {}, .unread = {}, .current = is_current, .node = node});
        return records.size() - before;
    };
    EXPECT_EQ(looks_after(pods), 1U);
    clock.advance(std::chrono::seconds(1));
    EXPECT_EQ(looks_after(pods), 0U);
    agent->request_look();
    EXPECT_EQ(last().observation.node->heard_at, node.heard_at) << "though it is known when the server was heard";
    node.shutting_down = true;
    EXPECT_EQ(looks_after(pods), 1U);
    node.taints = {Taint{}};
    EXPECT_EQ(looks_after(pods), 1U);
    node.current = false;
    EXPECT_EQ(looks_after(pods), 1U);
    is_current = false;
    EXPECT_EQ(looks_after(pods), 1U);
    EXPECT_EQ(looks_after({pods[0]}), 1U);
    EXPECT_EQ(looks_after({pod("quiet")}), 1U) << "another object, which may say something else";
}

TEST_F(Agents, SetsOfPodsThatWaitTogetherAreTakenWithOneLook) {
    declare(100_MiB);
    make();
    const auto before = records.size();
    ASSERT_TRUE(loop.post([&] { agent->set_pods(0, {.pods = {pod("quiet")}, .rejected = {}}); }));
    ASSERT_TRUE(loop.post([&] { agent->set_pods(1, {.pods = {pod("hog")}, .rejected = {}}); }));
    ASSERT_TRUE(loop.post([&] { agent->set_pods(0, {.pods = {pod("quiet"), pod("third")}, .rejected = {}}); }));
    for (int i = 0; i < 5; i++) turn();
    ASSERT_EQ(records.size(), before + 1);
    EXPECT_EQ(last().observation.cause.kind, CauseKind::pods_changed);
    EXPECT_EQ(last().observation.pods.size(), 3U);
    set_pods({.pods = {pod("quiet")}, .rejected = {}});
    EXPECT_EQ(records.size(), before + 2) << "the next one has a look of its own";
}

// Also where the look after the timer throws, there is a next one.
TEST_F(Agents, IsNotDeafAfterATickThatFailed) {
    declare(100_MiB);
    make();
    clock.set(sys::SystemClock().monotonic() - std::chrono::hours(1));  // timers fire at once
    eviction.look_period = std::chrono::seconds(1);
    agent->set_config(eviction);
    const auto looks = records.size();
    node.throws = true;
    EXPECT_FALSE(loop.run_once(std::chrono::seconds(1)));
    node.throws = false;
    EXPECT_EQ(records.size(), looks);
    for (int i = 0; i < 3; i++) (void)loop.run_once(std::chrono::milliseconds(10));
    EXPECT_GT(records.size(), looks);
}

// Else it would look without a pause, with real-time priority.
TEST_F(Agents, AfterALookThatTookLongerThanThePeriodThereIsAPause) {
    declare(100_MiB);
    make();
    events.on_watch = [this] { clock.advance(std::chrono::milliseconds(150)); };
    eviction.look_period = std::chrono::milliseconds(100);
    eviction.thresholds[0].value = {Quantity::of((100_MiB).value)};
    agent->set_config(eviction);
    EXPECT_EQ(agent->next_look() - clock.monotonic(), std::chrono::milliseconds(100));
}

TEST_F(Agents, NewThresholdsHoldFromTheNextLook) {
    declare(100_MiB);
    make();
    eviction.thresholds[0].value = {Quantity::of((900_MiB).value)};
    clock.advance(std::chrono::seconds(1));
    agent->set_config(eviction);
    EXPECT_EQ(events.watermarks[0].threshold, 900_MiB);
    EXPECT_TRUE(last().decision.evict) << "824Mi are available, under the new threshold";
}

}  // namespace
}  // namespace evictd::app
