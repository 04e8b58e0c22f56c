// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which pods are rejected as they arrive, what they are told, and that no other pod pays for it.
#include "arrivals.hpp"

#include <gmock/gmock.h>

#include "unit/policy/ended.hpp"

namespace evictd::policy {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// "steady" was there before. Memory is short since 0 s, under a soft threshold whose grace period does not end.
struct Door : Ended {
    Door() : Ended({soft(100_MiB, 10h)}) {
        config.node_status = NodeStatusUse::taints;
        pods = {pod({.name = "steady", .request = 1_MiB, .cgroup = 1})};
        node_view.emplace().current = true;
        show_taint();
        look(0s);
    }
    void show_taint() { node_view->taints = {{"evictd.io/memory-pressure", "", "NoSchedule"}}; }
    ObservedPod& arrive(PodWords words, std::optional<Duration> since) {
        if (words.phase == PodPhase::running) words.phase = PodPhase::pending;  // the words' default
        pods.push_back(pod(words));
        if (since) pods.back().arrived_at = at(*since);
        return pods.back();
    }
    void change_new(const std::function<void(Pod&)>& how) { change("new", how); }
};

std::vector<std::string> rejected(const Decision& decision) {
    std::vector<std::string> made;
    for (const auto& rejection : decision.rejections) made.push_back(rejection.pod.value);
    return made;
}

TEST(Arrivals, ABestEffortPodIsRejectedUnderMemoryPressure) {
    Door node;
    node.arrive({.name = "new", .cgroup = 2}, 1s);
    const auto decision = node.act(1s);
    EXPECT_THAT(rejected(decision), ElementsAre("uid-new"));
    EXPECT_THAT(kills(decision), ElementsAre("uid-new"));
    EXPECT_FALSE(decision.evict);
    ASSERT_EQ(decision.pod_statuses.size(), 1U);
    const auto& desired = decision.pod_statuses[0];
    EXPECT_EQ(desired.end, PodEnd::failed);
    EXPECT_EQ(desired.reason, "Evicted");
    EXPECT_EQ(desired.message, "Pod was rejected: The node had condition: [MemoryPressure]. ");
    EXPECT_FALSE(desired.disruption_target);
    EXPECT_EQ(decision.rejections[0].message, "The node had condition: [MemoryPressure]. ") << "the event's";
    EXPECT_THAT(decision.why, HasSubstr("; default/new arrived under MemoryPressure and is rejected"));
    EXPECT_THAT(rejected(node.look(2s)), IsEmpty()) << "once";
}

TEST(Arrivals, APodThatComesBackIsKilledAgain) {
    Door node;
    node.arrive({.name = "new", .cgroup = 2}, 1s);
    node.act(1s);
    node.find("new").populated = false;
    node.find("new").emptied_at = at(1010ms);
    EXPECT_THAT(kills(node.act(1010ms)), IsEmpty());
    node.find("new").populated = true;
    const auto decision = node.act(1700ms);
    EXPECT_THAT(kills(decision), ElementsAre("uid-new"));
    EXPECT_EQ(decision.pod_statuses.at(0).attempt, 2);
}

struct AdmittedRow {
    const char* rule;
    PodWords words;
    std::optional<Duration> arrived;
    std::function<void(Pod&)> how;
};

TEST(Arrivals, OthersAreNotRejected) {
    const auto nothing = [](Pod&) {};
    const std::vector<AdmittedRow> rows{
        {"it was there before the agent looked", {}, std::nullopt, nothing},
        {"it came before the condition", {}, -1ms, nothing},
        {"it has requests", {.request = 1_MiB}, 1s, nothing},
        {"it is critical", {.priority = 2'000'000'000}, 1s, nothing},
        {"it is static", {.origin = PodOrigin::static_file}, 1s, nothing},
        {"it is a mirror pod", {.origin = PodOrigin::mirror}, 1s, nothing},
        {"it is being deleted", {.deleted = true}, 1s, nothing},
        {"it has ended", {.phase = PodPhase::succeeded}, 1s, nothing},
        {"it has no process", {.populated = false}, 1s, nothing},
        {"it tolerates the taint", {}, 1s, [](Pod& pod) {
             pod.tolerations = {{"node.kubernetes.io/memory-pressure", "Exists", "", "NoSchedule", {}}};
         }}};
    for (auto row : rows) {
        Door node;
        row.words.name = "new";
        row.words.cgroup = 2;
        node.arrive(row.words, row.arrived);
        node.change_new(row.how);
        const auto decision = node.act(2s);
        EXPECT_THAT(rejected(decision), IsEmpty()) << row.rule;
        EXPECT_THAT(decision.actions, IsEmpty()) << row.rule;
    }
}

TEST(Arrivals, ThePodThatEvictdRunsInIsNotRejected) {
    Door node;
    node.arrive({.name = "new", .cgroup = 2}, 1s).holds_us = true;
    EXPECT_THAT(node.act(1s).actions, IsEmpty());
}

TEST(Arrivals, ItIsASettingAndNeedsAnApiServer) {
    for (bool EvictionConfig::*flag : {&EvictionConfig::admission, &EvictionConfig::pod_statuses}) {
        Door node;
        node.config.*flag = false;
        node.arrive({.name = "new", .cgroup = 2}, 1s);
        EXPECT_THAT(node.act(1s).actions, IsEmpty());
    }
}

// Only the conditions that held as it arrived: a disk that fills later rejects no Burstable pod.
TEST(Arrivals, ALaterConditionIsNoReason) {
    Door node;
    node.config.thresholds.push_back(soft(1_GiB, 10h, Signal::nodefs_available));
    node.arrive({.name = "new", .request = 1_MiB, .cgroup = 2}, 1s);
    node.look(1s);
    node.set(500_MiB, Signal::nodefs_available);
    EXPECT_THAT(node.look(2s).conditions, ElementsAre(Condition::memory_pressure, Condition::disk_pressure));
    EXPECT_THAT(rejected(node.look(3s)), IsEmpty());
    node.arrive({.name = "later", .request = 1_MiB, .cgroup = 3}, 4s);
    EXPECT_THAT(rejected(node.look(4s)), ElementsAre("uid-later"));
}

// As after a reboot: evictd knows its cgroup and the condition only since now.
TEST(Arrivals, APodThatTheKubeletStartedBeforeTheConditionIsNotRejected) {
    const WallTime condition = WallTime(std::chrono::hours(1000));  // since 0 s of the looks
    Door old;
    old.arrive({.name = "new", .cgroup = 2}, 1s);
    old.change_new([&](Pod& pod) { pod.start_time = condition - 1s; });
    EXPECT_THAT(rejected(old.act(1s)), IsEmpty());
    Door running;
    running.arrive({.name = "new", .cgroup = 2}, 1s);
    running.change_new([](Pod& pod) { pod.phase = PodPhase::running; });
    EXPECT_THAT(rejected(running.act(1s)), IsEmpty()) << "the kubelet has admitted it, it is not known when";
    Door young;
    young.arrive({.name = "new", .cgroup = 2}, 1s);
    young.change_new([&](Pod& pod) { pod.start_time = condition; });
    EXPECT_THAT(rejected(young.act(1s)), ElementsAre("uid-new")) << "in the second in which the condition began";
}

TEST(Arrivals, WithoutATaintOnTheNodeNoPodIsRejected) {
    Door node;
    node.config.node_status = NodeStatusUse::conditions;
    node.arrive({.name = "new", .cgroup = 2}, 1s);
    EXPECT_THAT(rejected(node.act(1s)), IsEmpty()) << "the scheduler would send the next one at once";
}

TEST(Arrivals, NoPodIsRejectedBeforeTheApiServerShowsTheTaint) {
    Door node;
    node.node_view->taints = {{"evictd.io/memory-pressure", "", "PreferNoSchedule"},
                              {"evictd.io/disk-pressure", "", "NoSchedule"}};
    node.arrive({.name = "new", .cgroup = 2}, 1s);
    const auto decision = node.act(1s);
    EXPECT_THAT(rejected(decision), IsEmpty());
    EXPECT_EQ(decision.look_again_at, at(1100ms)) << "it may come";
    node.show_taint();
    node.node_view->current = false;
    EXPECT_THAT(rejected(node.act(1100ms)), IsEmpty()) << "whether it is still there is not known";
    node.node_view->current = true;
    EXPECT_THAT(rejected(node.act(1200ms)), ElementsAre("uid-new"));
}

// Within the second that it has: every 100 ms, until its sandbox has a process.
TEST(Arrivals, ItsFirstProcessIsLookedFor) {
    Door node;
    node.arrive({.name = "new", .populated = false, .cgroup = 2}, 1s);
    const auto decision = node.look(1s);
    EXPECT_EQ(decision.look_again_at, at(1100ms));
    node.find("new").populated = true;
    EXPECT_THAT(rejected(node.look(1100ms)), ElementsAre("uid-new"));
}

TEST(Arrivals, ARejectionHoldsUpNoEviction) {
    Door node;
    node.arrive({.name = "new", .cgroup = 2}, 1s);
    node.act(1s);
    node.config.thresholds = {hard(100_MiB)};
    node.find("steady").usage->working_set = 50_MiB;
    EXPECT_EQ(evicted(node.look(1001ms)), "uid-steady") << "although the rejected pod still dies";
}

TEST(Arrivals, ARejectedPodThatComesBackHoldsUpNoEviction) {
    Door node;
    node.arrive({.name = "new", .cgroup = 2}, 1s);
    node.act(1s);
    node.find("new").populated = false;
    node.find("new").emptied_at = at(1100ms);
    node.look(1100ms);
    node.find("new").populated = true;
    EXPECT_THAT(kills(node.act(1200ms)), ElementsAre("uid-new")) << "again";
    node.config.thresholds = {hard(100_MiB)};
    node.find("steady").usage->working_set = 50_MiB;
    EXPECT_EQ(evicted(node.look(1201ms)), "uid-steady");
}

TEST(Arrivals, NoPodIsRejectedTwiceInADryRun) {
    Door node;
    node.arrive({.name = "new", .cgroup = 2}, 1s);
    node.carry_out(node.look(1s), OutcomeStatus::dry_run, 1s);
    node.answer(PodStatusResult::pretended, 1, 1s);
    node.answers.back().pod = {"uid-new"};
    int rejections = 0;
    for (int second = 2; second < 100; second++) {
        const auto decision = node.look(std::chrono::seconds(second));
        rejections += static_cast<int>(decision.rejections.size());
        EXPECT_THAT(decision.actions, IsEmpty());
    }
    EXPECT_EQ(rejections, 0);
}

}  // namespace
}  // namespace evictd::policy
