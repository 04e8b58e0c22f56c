// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Pods that only the container runtime knows, over fakes: they are named, and nothing is done to them.
#include <gmock/gmock.h>

#include "agent_fixture.hpp"
#include "evictd/model/runtime_names.hpp"

namespace evictd::app {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::Field;
using testing::SizeIs;

constexpr std::uint64_t giant_id = 9;
constexpr auto container_id = "0123456789ab";

struct AgentNames : Agents {
    void begin() {
        names = std::make_shared<const RuntimeNames>(
            RuntimeNames{.pods = {named("giant", "big"), named("hog", "of-the-runtime")}});
        disks = {.filesystems = [] { return FilesystemsView{}; },
                 .figures = [] { return observe::DiskFigures{}; },
                 .set_filesystem_pace = [](Duration) { return true; },
                 .set_layers_pace = [](Duration) { return true; },
                 .refresh = [](const auto&) {},
                 .want_garbage = [](const DesiredGarbage&) {},
                 .names = [this] { return names; },
                 .want_names = [this] { wanted++; }};
        declare_giant(10_MiB);
        make();
    }
    static NamedPod named(const std::string& uid, const std::string& name) {
        return {.uid = {uid}, .name_space = "default", .name = name, .containers = {{container_id, "main"}}};
    }
    void declare_giant(Bytes giant) {
        std::vector<fakes::FakeCgroup> lines{
            {.id = root_id, .level = 1, .usage = giant + 150_MiB, .limit = 1_GiB},
            {.id = giant_id, .level = 2, .usage = giant, .processes = 1, .pod = "giant"}};
        if (!is_alone) {
            lines.push_back({.id = quiet_id, .level = 2, .usage = 100_MiB, .processes = 1, .pod = "quiet"});
            lines.push_back({.id = hog_id, .level = 2, .usage = 50_MiB, .processes = 1, .pod = "hog"});
        }
        tree.declare(std::move(lines));
    }
    OomKill told(std::uint64_t cgroup) {
        OomKill kill{.pid = 7, .comm = "java"};
        kill.pod_cgroup = CgroupId{cgroup};
        kill.container_cgroup = std::string("cri-containerd-") + container_id + ".scope";
        events.tell(kill, clock.monotonic());
        turn();
        return std::get<OomKill>(last().kernel_events.at(0).kind);
    }

    RuntimeNamesPtr names;
    bool is_alone = false;  // no other pod is there
    int wanted = 0;
};

TEST_F(AgentNames, APodThatOnlyTheRuntimeKnowsIsNamedAndNotOneOfTheObservation) {
    begin();
    EXPECT_THAT(last().without_manifest.some, ElementsAre(Field(&PodWithoutManifest::pod, PodUid{"giant"})));
    ASSERT_TRUE(last().runtime_names);
    EXPECT_EQ(named_pod(last().runtime_names.get(), {"giant"})->full_name(), "default/big");
    EXPECT_THAT(last().observation.pods, SizeIs(2));
    EXPECT_THAT(last().observation.unknown_pods, SizeIs(1)) << "its manifest is waited for all the same";
}

TEST_F(AgentNames, TheBiggestPodIsNeitherEvictedNorPressedNorScoredWhenOnlyTheRuntimeKnowsIt) {
    begin();
    clock.advance(unknown_pod_period);
    declare_giant(800_MiB);
    cross(74_MiB);
    EXPECT_EQ(tree.handle(giant_id)->kills, 0);
    EXPECT_EQ(tree.handle(quiet_id)->kills, 1) << "the biggest of those that sources know";
    ASSERT_TRUE(last().decision.evict);
    EXPECT_EQ(last().decision.evict->pod.value, "quiet");
    for (const auto& row : last().decision.ranking) {
        EXPECT_NE(last().observation.pods.at(row.pod).pod->uid.value, "giant");
    }
    for (const auto& said : rungs.said) {
        for (const auto& wanted_rung : said) EXPECT_NE(wanted_rung.rung.pod.value, "giant");
    }
    EXPECT_EQ(scores.looked_at, 2U) << "its QoS class is not known";
    for (const auto& steered : scores.steered) EXPECT_NE(steered, "giant");
    for (const auto& desired : statuses) {
        for (const auto& one : desired) EXPECT_NE(one.pod.value, "giant");
    }
}

TEST_F(AgentNames, WithoutAnyOtherPodNobodyIsEvicted) {
    is_alone = true;
    begin();
    set_pods({.pods = {}, .rejected = {}});
    clock.advance(unknown_pod_period);
    declare_giant(800_MiB);
    cross(74_MiB);
    EXPECT_FALSE(last().decision.evict);
    EXPECT_FALSE(last().decision.thresholds_met.empty());
    EXPECT_EQ(tree.handle(giant_id)->kills, 0);
}

TEST_F(AgentNames, AnOomKillNamesTheContainerOfAPodThatOnlyTheRuntimeKnows) {
    begin();
    const auto kill = told(giant_id);
    EXPECT_EQ(kill.pod.value, "giant");
    EXPECT_EQ(kill.container, "main");
    EXPECT_EQ(wanted, 0);
}

TEST_F(AgentNames, TheSourcesPodHoldsAndTheRuntimeAddsTheContainerThatItDoesNotKnow) {
    begin();
    EXPECT_EQ(told(hog_id).container, "main") << "its manifest has no IDs";
    auto known = *pod("hog");
    known.containers.push_back({.name = "app", .requests = {}, .limits = {}, .restartable = false, .id = container_id});
    set_pods({.pods = {std::make_shared<const Pod>(known)}, .rejected = {}});
    EXPECT_EQ(told(hog_id).container, "app");
    EXPECT_EQ(last().observation.pods.at(0).pod->name, "hog");
}

TEST_F(AgentNames, NamesAreAskedForWhenACgroupIsMade) {
    begin();
    EXPECT_EQ(wanted, 0);
    events.tell(CgroupLife{CgroupChange::made, {20}, "/kubepods/pod1/x"}, clock.monotonic());
    events.tell(CgroupLife{CgroupChange::removed, {20}, "/kubepods/pod1/x"}, clock.monotonic());
    turn();
    EXPECT_EQ(wanted, 1);
}

TEST_F(AgentNames, ARuntimeThatHasNotAnsweredNamesNobody) {
    begin();
    names.reset();
    EXPECT_EQ(told(giant_id).container, "");
    EXPECT_FALSE(last().runtime_names);
    EXPECT_THAT(last().without_manifest.some, ElementsAre(Field(&PodWithoutManifest::pod, PodUid{"giant"})));
}

}  // namespace
}  // namespace evictd::app
