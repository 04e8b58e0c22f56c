// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the agent makes of what the kernel tells it of cgroups, kills, scores and losses.
#include <gtest/gtest.h>

#include "app/agent.hpp"
#include "unit/app/agent_fixture.hpp"

namespace evictd::app {
namespace {

MemcgBreach hit(std::uint64_t cgroup) {
    return {.limit_kind = MemcgLimit::max, .cgroup = {cgroup}, .limit = 1_MiB, .pod_cgroup = {hog_id}, .hits = 9};
}

TEST_F(Agents, AContainerAtItsOwnLimitIsNoReasonToLook) {
    declare(100_MiB);
    make();
    const auto before = records.size();
    events.tell(hit(hog_id), clock.monotonic());
    turn();
    EXPECT_EQ(records.size(), before);
    events.tell(MemcgBreach{.cgroup = {root_id}, .limit = 1_GiB}, clock.monotonic());
    turn();
    EXPECT_EQ(records.size(), before + 1) << "the limit of all pods";
}

TEST_F(Agents, APodAtALimitOfItsOwnIsReportedWithTheNextLookAndCausesNone) {
    declare(100_MiB);
    make();
    const auto before = records.size();
    events.tell(hit(99), clock.monotonic());
    turn();
    EXPECT_EQ(records.size(), before);
    set_pods({.pods = {pod("quiet"), pod("hog")}, .rejected = {}});
    ASSERT_EQ(last().kernel_events.size(), 1U);
    const auto& breach = std::get<MemcgBreach>(last().kernel_events[0].kind);
    EXPECT_EQ(breach.pod.value, "hog");
    EXPECT_EQ(breach.hits, 9U);
}

TEST_F(Agents, APodThatIsGoneAtTheNextLookIsStillNamed) {
    declare(100_MiB);
    make();
    events.tell(hit(hog_id), clock.monotonic());
    events.tell(CgroupLife{CgroupChange::removed, {hog_id}, "/kubepods/podhog"}, clock.monotonic());
    turn();
    set_pods({.pods = {pod("quiet")}, .rejected = {}});
    ASSERT_EQ(last().kernel_events.size(), 1U);
    EXPECT_EQ(std::get<MemcgBreach>(last().kernel_events[0].kind).pod.value, "hog");
}

TEST_F(Agents, LostEventsArePublished) {
    declare(100_MiB);
    make();
    events.tell(EventsLost{"ring buffer full", 3}, clock.monotonic());
    turn();
    ASSERT_EQ(last().kernel_events.size(), 1U);
    EXPECT_EQ(std::get<EventsLost>(last().kernel_events[0].kind).count, 3U);
}

TEST_F(Agents, AnOomKillIsReportedAfterAnyStormOfCgroups) {
    declare(100_MiB);
    make();
    for (int i = 0; i < 1000; ++i) {
        events.tell(CgroupLife{CgroupChange::made, {1000}, "/kubepods/other"}, clock.monotonic());
    }
    events.tell(OomKill{.pid = 7}, clock.monotonic());
    turn();
    ASSERT_EQ(last().kernel_events.size(), 1U);
    EXPECT_EQ(std::get<OomKill>(last().kernel_events[0].kind).pid, 7);
}

TEST_F(Agents, LostEventsMakeItListTheCgroupsAfresh) {
    declare(100_MiB);
    make();
    tree.declare({{.id = root_id, .level = 1, .usage = 100_MiB, .limit = 1_GiB},
                  {.id = 9, .level = 2, .usage = 7_MiB, .processes = 1, .pod = "quiet"}});
    events.tell(EventsLost{"cgroup: ring buffer full", 3}, clock.monotonic());
    turn();
    EXPECT_EQ(last().observation.pods.at(1).cgroup.value, 9U);
}

TEST_F(Agents, APodsCgroupMadeLaterIsFollowed) {
    make();
    EXPECT_FALSE(events.followed);
    declare(100_MiB);
    events.tell(CgroupLife{CgroupChange::made, {root_id}, "/kubepods"}, clock.monotonic());
    turn();
    ASSERT_TRUE(events.followed);
    EXPECT_EQ(events.followed->id.value, root_id);
    clock.advance(std::chrono::seconds(1));
    agent->request_look();
    EXPECT_TRUE(last().observation.pods.at(0).usage);
}

TEST_F(Agents, WithoutPodNotificationsEachTimedLookListsThem) {
    declare(100_MiB);
    events.tells = false;
    make();
    tree.declare({{.id = root_id, .level = 1, .usage = 100_MiB, .limit = 1_GiB},
                  {.id = quiet_id, .level = 2, .usage = 100_MiB, .processes = 1, .pod = "quiet"}});
    clock.set(MonotonicTime{});  // the timer is due at once
    eviction.look_period = Duration::zero();
    agent->set_config(eviction);
    ASSERT_TRUE(loop.run_once(std::chrono::seconds(5)));
    const auto& pods = last().observation.pods;
    EXPECT_EQ(std::count_if(pods.begin(), pods.end(), [](const auto& pod) { return pod.cgroup.value != 0; }), 1);
}

TEST_F(Agents, ARemovedPodsCgroupIsLookedForAgain) {
    declare(100_MiB);
    make();
    tree.declare({});
    events.tell(CgroupLife{CgroupChange::removed, {root_id}, "/kubepods"}, clock.monotonic());
    turn();
    EXPECT_FALSE(events.followed);
    EXPECT_FALSE(last().observation.readings[static_cast<std::size_t>(Signal::allocatable_memory_available)]);
}

const AgentNotice& notice_in(const RecordPtr& record) { return std::get<AgentNotice>(*record); }

TEST_F(Agents, APodsCgroupThatGoesAndComesBackIsReportedOnceEach) {
    declare(100_MiB);
    make();
    EXPECT_EQ(last().pods_root, "/kubepods");
    records.clear();
    tree.declare({});
    events.tell(CgroupLife{CgroupChange::removed, {root_id}, "/kubepods"}, clock.monotonic());
    turn();
    ASSERT_EQ(records.size(), 2U);
    EXPECT_EQ(notice_in(records[0]).notice, Notice::signal_source_changed);
    EXPECT_EQ(notice_in(records[0]).message,
              "The pods' cgroup /kubepods was removed: no pod is protected until there is one");
    EXPECT_FALSE(notice_in(records[0]).error.empty()) << "a warning";
    EXPECT_EQ(last().pods_root, "");
    clock.advance(std::chrono::seconds(1));
    agent->request_look();
    EXPECT_EQ(records.size(), 3U) << "once";
    declare(100_MiB);
    events.tell(CgroupLife{CgroupChange::made, {root_id}, "/kubepods"}, clock.monotonic());
    turn();
    ASSERT_EQ(records.size(), 5U);
    EXPECT_TRUE(last().observation.readings[static_cast<std::size_t>(Signal::allocatable_memory_available)]);
    EXPECT_EQ(notice_in(records[3]).message, "The pods' cgroup /kubepods is watched: its pods are protected");
    EXPECT_EQ(last().pods_root, "/kubepods");
}

TEST_F(Agents, PodsWithoutAManifestAreCountedAndAFewNamed) {
    std::vector<fakes::FakeCgroup> tree_of_six{{.id = root_id, .level = 1, .usage = 100_MiB, .limit = 1_GiB},
                                               {.id = hog_id, .level = 2, .usage = 7_MiB, .pod = "hog"}};
    for (std::uint64_t id = 10; id < 15; id++) {
        tree_of_six.push_back({.id = id, .level = 2, .usage = 1_MiB, .pod = std::to_string(id)});
    }
    tree.declare(tree_of_six);
    make();
    EXPECT_EQ(last().without_manifest.count, 5U);
    EXPECT_EQ(last().without_manifest.some.size(), 3U);
    set_pods({.pods = {pod("hog"), pod("10"), pod("11"), pod("12"), pod("13")}, .rejected = {}});
    EXPECT_EQ(last().without_manifest.count, 1U);
    ASSERT_EQ(last().without_manifest.some.size(), 1U);
    EXPECT_EQ(last().without_manifest.some[0].pod, PodUid{"14"});
    EXPECT_EQ(last().without_manifest.some[0].working_set, 1_MiB);
    tree.broken = "Too many open files";
    clock.advance(std::chrono::seconds(1));
    agent->request_look();
    records.resize(records.size() - 1);  // it says that it could not read
    ASSERT_EQ(last().without_manifest.some.size(), 1U);
    EXPECT_FALSE(last().without_manifest.some[0].working_set);
}

TEST_F(Agents, ANodeWithoutAPodsCgroupIsReportedAtTheStart) {
    make();
    EXPECT_EQ(notice_in(records.at(0)).message, "No pods' cgroup is watched: no pod is protected until there is one");
    EXPECT_EQ(last().pods_root, "");
}

TEST_F(Agents, ARemovalThatNoSourceReportsIsSeenAtATimedLook) {
    declare(100_MiB);
    events.tells = false;
    make();
    tree.declare({});
    clock.set(MonotonicTime{});  // the timer is due at once
    eviction.look_period = Duration::zero();
    agent->set_config(eviction);
    ASSERT_TRUE(loop.run_once(std::chrono::seconds(5)));
    EXPECT_EQ(last().pods_root, "");
    EXPECT_FALSE(events.followed);
}

TEST_F(Agents, APodsCgroupThatCannotBeLookedAtIsNotRemoved) {
    declare(100_MiB);
    events.tells = false;
    make();
    tree.root_unknown = "Input/output error";
    clock.set(MonotonicTime{});  // the timer is due at once
    eviction.look_period = Duration::zero();
    agent->set_config(eviction);
    ASSERT_TRUE(loop.run_once(std::chrono::seconds(5)));
    EXPECT_EQ(last().pods_root, "/kubepods");
    EXPECT_TRUE(events.followed);
    EXPECT_NE(last().observation.pods.at(0).cgroup, CgroupId{});
}

TEST_F(Agents, ScoresAreLookedAtWhenPodsChangeAndAfterALookPeriod) {
    declare(100_MiB);
    make();
    EXPECT_EQ(scores.looks, 2) << "at the start, and when the pods were told";
    EXPECT_EQ(scores.looked_at, 2U);
    EXPECT_EQ(scores.node_memory, 8_GiB);
    clock.advance(std::chrono::seconds(1));
    agent->request_look();
    EXPECT_EQ(scores.looks, 2);
    clock.advance(std::chrono::seconds(10));
    agent->request_look();
    EXPECT_EQ(scores.looks, 3);
}

TEST_F(Agents, ScoresAreLookedAtLessOftenWhereEachWriteIsReported) {
    score_period = std::chrono::minutes(1);
    declare(100_MiB);
    make();
    clock.advance(std::chrono::seconds(59));
    agent->request_look();
    EXPECT_EQ(scores.looks, 2);
    clock.advance(std::chrono::seconds(1));
    agent->request_look();
    EXPECT_EQ(scores.looks, 3);
    const auto same = pod("quiet");
    set_pods({.pods = {same}, .rejected = {}});
    EXPECT_EQ(scores.looks, 4) << "the pods changed";
    set_pods({.pods = {same}, .rejected = {}});
    EXPECT_EQ(scores.looks, 4) << "they are told of again";
}

TEST_F(Agents, ScoresAreLookedAtWithinALookPeriodWhereReportsWereLost) {
    score_period = std::chrono::minutes(5);
    declare(100_MiB);
    make();
    clock.advance(std::chrono::seconds(10));
    agent->request_look();
    EXPECT_EQ(scores.looks, 2);
    events.tell(EventsLost{"ring buffer full", 3}, clock.monotonic());
    turn();
    EXPECT_EQ(scores.looks, 3);
    events.tell(EventsLost{"ring buffer full", 3}, clock.monotonic());
    turn();
    EXPECT_EQ(scores.looks, 3) << "not more often";
    clock.advance(std::chrono::seconds(10));
    agent->request_look();
    EXPECT_EQ(scores.looks, 4);
    clock.advance(std::chrono::seconds(10));
    agent->request_look();
    EXPECT_EQ(scores.looks, 4) << "none is missing any more";
}

TEST_F(Agents, AWrittenScoreIsCheckedWithoutALookAndOnlyInKnownPods) {
    declare(100_MiB);
    make();
    const auto before = records.size();
    events.tell(OomScoreChanged{.pid = 7, .cgroup = {99}, .pod_cgroup = {hog_id}, .oom_score_adj = 0},
                clock.monotonic());
    events.tell(OomScoreChanged{.pid = 8, .cgroup = {99}, .pod_cgroup = {77}, .oom_score_adj = 0}, clock.monotonic());
    turn();
    EXPECT_EQ(scores.checked, (std::vector<std::string>{"hog"}));
    EXPECT_EQ(records.size(), before);
}

TEST_F(Agents, APodsFirstProcessIsExpected) {
    declare(100_MiB);
    make();
    events.tell(CgroupLife{CgroupChange::populated, CgroupId{hog_id}, "/kubepods/podhog"}, clock.monotonic());
    events.tell(CgroupLife{CgroupChange::emptied, CgroupId{quiet_id}, "/kubepods/podquiet"}, clock.monotonic());
    turn();
    EXPECT_EQ(scores.expected, (std::vector<std::string>{"hog"}));
}

TEST_F(Agents, AnOomKillIsOfThePodAndContainerTheKernelProgramFound) {
    declare(100_MiB);
    make();
    auto named = *pod("hog");
    named.containers.push_back(
        {.name = "app", .requests = {}, .limits = {}, .restartable = false, .id = "x://0123456789ab"});
    set_pods({.pods = {std::make_shared<const Pod>(named)}, .rejected = {}});
    OomKill kill{.pid = 7, .comm = "java"};
    kill.pod_cgroup = CgroupId{hog_id};
    kill.container_cgroup = "crio-0123456789ab.scope";
    events.tell(kill, clock.monotonic());
    turn();
    const auto& told = std::get<OomKill>(last().kernel_events.at(0).kind);
    EXPECT_EQ(told.pod.value, "hog");
    EXPECT_EQ(told.container, "app");
}

}  // namespace
}  // namespace evictd::app
