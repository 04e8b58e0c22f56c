// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The events of what pods run into: rungs, sockets, their memory limits, and the kernel's OOM killer.
#include <gmock/gmock.h>

#include "event.hpp"
#include "event_json.hpp"
#include "unit/codec/event_reasons.hpp"
#include "unit/codec/sample_records.hpp"

namespace evictd::codec {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Events, ARungReportsPodAmountAndDuration) {
    auto tick = sample::evicting();
    tick.decision.evict.reset();
    const auto told = [&](RungKind kind, RungStatus status, Bytes got, std::string error = {}) {
        tick.observation.rungs = {{.rung = {kind, PodUid{"uid-hog"}, "default/hog", CgroupId{11}, 64_MiB, {}},
                                   .status = status,
                                   .at = sample::monotonic(sample::look_at + 100us),
                                   .took = 1200us,
                                   .bytes = got,
                                   .error = std::move(error)}};
        return events_of(tick).back();
    };
    EXPECT_EQ(told(RungKind::reclaim, RungStatus::begun, 0_B).reason, Reason::reclaim_started);
    auto event = told(RungKind::reclaim, RungStatus::ended, 70_MiB);
    EXPECT_EQ(event.reason, Reason::reclaim_succeeded);
    EXPECT_EQ(event.severity, Severity::normal);
    EXPECT_EQ(event.reclaimed, 70_MiB);
    EXPECT_EQ(event.duration, 1200us);
    EXPECT_EQ(event.pod->name, "hog");
    EXPECT_EQ(event.message, "Pod default/hog gave back 70Mi of the 64Mi asked for, within 1.2 ms");
    event = told(RungKind::reclaim, RungStatus::ended, 3_MiB);
    EXPECT_EQ(event.reason, Reason::reclaim_insufficient);
    EXPECT_EQ(event.severity, Severity::warning);
    event = told(RungKind::reclaim, RungStatus::failed, 0_B, "it would swap");
    EXPECT_EQ(event.reason, Reason::reclaim_insufficient);
    EXPECT_EQ(event.error, "it would swap");
    event = told(RungKind::squeeze, RungStatus::begun, 0_B);
    EXPECT_EQ(event.reason, Reason::pod_squeezed);
    EXPECT_EQ(event.limit, 64_MiB);
    EXPECT_EQ(told(RungKind::freeze, RungStatus::begun, 0_B).reason, Reason::pod_frozen);
    event = told(RungKind::freeze, RungStatus::ended, 0_B);
    EXPECT_EQ(event.reason, Reason::pod_released);
    EXPECT_EQ(event.message, "Pod default/hog resumed after 1.2 ms");
}

TEST(Events, AReclaimThatWasCutShortBecauseItWasEnoughSucceeded) {
    auto tick = sample::evicting();
    tick.decision = {};
    tick.observation.rungs = {{.rung = {RungKind::reclaim, PodUid{"uid-hog"}, "default/hog", CgroupId{11}, 64_MiB, {}},
                               .status = RungStatus::ended,
                               .bytes = 16_MiB,
                               .cut_short = true,
                               .error = {}}};
    EXPECT_EQ(events_of(tick).back().reason, Reason::reclaim_succeeded);
    tick.observation.rungs[0].cut_short = false;
    EXPECT_EQ(events_of(tick).back().reason, Reason::reclaim_insufficient);
    tick.observation.rungs[0].dry_run = true;
    EXPECT_THAT(events_of(tick), testing::IsEmpty()) << "nothing was done, and its beginning was told";
}

TEST(Events, SheddingReportsThePodAndTheLatencyAndItsEndTheNumberRefused) {
    auto tick = sample::evicting();
    tick.decision.evict.reset();
    const ShedPod hog{PodUid{"uid-hog"}, "default/hog", CgroupId{11}};
    tick.shed = {{.pod = hog, .begun = true, .at = sample::monotonic(sample::look_at + 100us), .error = {}}};
    auto event = events_of(tick).back();
    EXPECT_EQ(event.reason, Reason::sockets_shed);
    EXPECT_EQ(event.severity, Severity::warning);
    EXPECT_EQ(event.pod->name, "hog");
    EXPECT_THAT(event.message, HasSubstr("default/hog gets no new sockets"));
    EXPECT_THAT(event.cause, HasSubstr("fell below 100Mi"));
    EXPECT_EQ(event.latency.total, 400us);
    tick.dry_run = true;
    EXPECT_THAT(events_of(tick).back().message, HasSubstr("Dry run: pod default/hog would get no new sockets"));

    tick.dry_run = false;
    tick.shed[0].begun = false;
    tick.shed[0].refused = 12;
    event = events_of(tick).back();
    EXPECT_EQ(event.reason, Reason::sockets_restored);
    EXPECT_EQ(event.severity, Severity::normal);
    EXPECT_THAT(event.message, HasSubstr("gets new sockets again; 12 were refused"));
}

TEST(Events, FailedSheddingIsReported) {
    auto tick = sample::evicting();
    tick.shed = {{.pod = {PodUid{"uid-hog"}, "default/hog", CgroupId{11}},
                  .at = sample::monotonic(sample::look_at),
                  .error = "sockets: this host cannot refuse sockets"}};
    const auto events = events_of(tick);
    const auto shed =
        std::find_if(events.begin(), events.end(), [](const auto& e) { return e.reason == Reason::sockets_shed; });
    ASSERT_NE(shed, events.end());
    EXPECT_THAT(shed->message, HasSubstr("Could not keep pod default/hog from new sockets"));
    EXPECT_THAT(shed->error, HasSubstr("cannot refuse sockets"));
    EXPECT_FALSE(shed->latency.any());
}

TEST(Events, MemoryRefusedToSocketsIsThePodsAffairOrTheNodes) {
    auto tick = sample::calm();
    SocketMemoryShort memory{CgroupId{12}, "TCP", 40_MiB, 100_MiB, 200_MiB, PodUid{"uid-web"}};
    tick.kernel_events = {{sample::monotonic(sample::look_at), memory}};
    auto event = events_of(tick).back();
    EXPECT_EQ(event.reason, Reason::socket_memory_pressure);
    EXPECT_EQ(event.pod->name, "web");
    EXPECT_THAT(event.message, HasSubstr("The cgroup of pod default/web is short of memory for its sockets"));
    memory.used = 150_MiB;
    memory.pod = {};
    tick.kernel_events = {{sample::monotonic(sample::look_at), memory}};
    event = events_of(tick).back();
    EXPECT_FALSE(event.pod);
    EXPECT_THAT(event.message,
                HasSubstr("The node is short of memory for TCP sockets: they use 150Mi (pressure from 100Mi"));
}

Event of_breach(const MemcgBreach& breach) {
    auto tick = sample::calm();
    tick.kernel_events = {{sample::monotonic(sample::look_at - 1ms), breach}};
    const auto events = events_of(tick);
    return events.size() == 1 ? events[0] : Event{};
}

MemcgBreach at_limit() {
    return {.limit_kind = MemcgLimit::max,
            .cgroup = CgroupId{99},
            .usage = 100_MiB,
            .limit = 100_MiB,
            .pod = PodUid{"uid-web"},
            .pod_cgroup = CgroupId{12},
            .hits = 1,
            .container_cgroup = "cri-containerd-0123.scope",
            .container = "app"};
}

TEST(Events, APodAtItsMemoryLimitIsReportedWithContainerLimitAndCount) {
    auto breach = at_limit();
    auto event = of_breach(breach);
    EXPECT_EQ(event.reason, Reason::pod_at_memory_limit);
    EXPECT_EQ(event.severity, Severity::warning);
    EXPECT_EQ(event.pod->name, "web");
    EXPECT_EQ(event.container, "app");
    EXPECT_EQ(event.limit, 100_MiB);
    EXPECT_EQ(event.count, 1U);
    EXPECT_EQ(event.time, sample::start() - 1ms);
    EXPECT_EQ(event.message, "Container app of pod default/web reached its memory limit of 100Mi");
    breach.hits = 5321;
    event = of_breach(breach);
    EXPECT_EQ(event.count, 5321U);
    EXPECT_EQ(event.message,
              "Container app of pod default/web reached its memory limit of 100Mi; limits of the pod were hit 5321 "
              "times since the last such event");
}

TEST(Events, APodAtItsMemoryLimitIsReportedWhateverIsKnownOfItsContainer) {
    auto breach = at_limit();
    breach.container.clear();
    EXPECT_EQ(of_breach(breach).message,
              "Cgroup cri-containerd-0123.scope of pod default/web reached its memory limit of 100Mi");
    EXPECT_EQ(of_breach(breach).container, "");
    breach.container_cgroup.clear();
    EXPECT_EQ(of_breach(breach).message, "Pod default/web reached its memory limit of 100Mi");
    breach.pod = PodUid{"0123-gone"};
    const auto event = of_breach(breach);
    EXPECT_EQ(event.message, "Pod with UID 0123-gone reached its memory limit of 100Mi");
    EXPECT_FALSE(event.pod);
    breach.pod = {};
    EXPECT_THAT(of_breach(breach).message, HasSubstr("An unknown pod reached"));
}

TEST(Events, NeitherThePodsRootNorMemoryHighIsAPodAtItsLimit) {
    auto breach = at_limit();
    breach.limit_kind = MemcgLimit::high;
    EXPECT_EQ(of_breach(breach).reason.text(), "");
    breach.limit_kind = MemcgLimit::max;
    breach.pod_cgroup = {};
    EXPECT_EQ(of_breach(breach).reason.text(), "");
}

// Any byte but '/' and a new line may be in the name of a cgroup.
TEST(Events, TheNameOfACgroupDrivesNoTerminalAndBreaksNoLine) {
    auto breach = at_limit();
    breach.container.clear();
    breach.container_cgroup = "\x1b]0;title\x07\r\xff\"}";
    const auto event = of_breach(breach);
    const auto text = to_text_line(event, {});
    for (const char c : {'\x1b', '\x07', '\r'}) EXPECT_EQ(text.find(c), std::string::npos);
    const auto line = to_json_line(event, "n");
    for (const char c : {'\x1b', '\x07', '\r', '\xff'}) EXPECT_EQ(line.find(c), std::string::npos);
    EXPECT_EQ(event_from_json(line)->reason, Reason::pod_at_memory_limit);
}

TEST(Events, AnOomKillNamesThePodOfTheCgroup) {
    auto tick = sample::calm();
    OomKill kill;
    kill.pid = 42;
    kill.comm = "java";
    kill.memcg = true;
    kill.cgroup = CgroupId{99};  // a container's
    kill.limiting_cgroup = CgroupId{12};
    kill.pod = tick.observation.pods.at(1).pod->uid;
    kill.usage = 512_MiB;
    kill.limit = 512_MiB;
    tick.kernel_events = {{sample::monotonic(sample::look_at - 1ms), kill}};
    const auto events = events_of(tick);
    ASSERT_THAT(reasons(events), ElementsAre("OOMKilling"));
    EXPECT_EQ(events[0].pod->name, "web");
    EXPECT_EQ(events[0].time, sample::start() - 1ms);
    EXPECT_EQ(events[0].message,
              "Memory cgroup out of memory, victim process: java, pid: 42, of pod default/web; its cgroup used 512Mi "
              "of 512Mi");
}

TEST(Events, AnOomKillOfAPodThatOnlyTheRuntimeKnowsNamesItWithoutClassAndPriority) {
    auto tick = sample::calm();
    OomKill kill{.pid = 42, .comm = "java"};
    kill.pod = {"uid-of-none"};
    kill.pod_cgroup = CgroupId{99};
    kill.container = "app";
    tick.kernel_events = {{sample::monotonic(sample::look_at - 1ms), kill}};
    EXPECT_FALSE(events_of(tick).at(0).pod);
    EXPECT_EQ(events_of(tick).at(0).unknown_pod.value, "uid-of-none");
    tick.runtime_names =
        std::make_shared<const RuntimeNames>(RuntimeNames{.pods = {{{"uid-of-none"}, "shop", "cart"}}});
    const auto event = events_of(tick).at(0);
    ASSERT_TRUE(event.pod);
    EXPECT_EQ(event.pod->name_space + "/" + event.pod->name, "shop/cart");
    EXPECT_EQ(event.pod->uid, "uid-of-none");
    EXPECT_FALSE(event.pod->qos || event.pod->priority);
    EXPECT_THAT(event.message, testing::EndsWith("of container app of pod shop/cart"));
}

TEST(Events, WhatASourceSaysOfAPodHolds) {
    auto tick = sample::calm();
    OomKill kill{.pid = 42, .comm = "java"};
    kill.pod = tick.observation.pods.at(1).pod->uid;
    tick.kernel_events = {{sample::monotonic(sample::look_at - 1ms), kill}};
    tick.runtime_names = std::make_shared<const RuntimeNames>(RuntimeNames{.pods = {{kill.pod, "other", "name"}}});
    EXPECT_EQ(events_of(tick).at(0).pod->name, "web");
}

TEST(Events, AnOomKillNamesTheContainerAndWhetherItKeepsRunning) {
    struct Row {
        OomRole role;
        bool group;
        const char* container;
        const char* cgroup;
        const char* rest;
    };
    const std::vector<Row> rows{
        {OomRole::first_process, false, "app", "0123",
         "of container app of pod default/web; it was the container's main process, and the container ends with it"},
        {OomRole::child, false, "", "0123",
         "of cgroup 0123, of pod default/web; it was not the container's main process; the container keeps running"},
        {OomRole::child, true, "app", "0123",
         "of container app of pod default/web; all processes of its cgroup are killed with it (memory.oom.group)"},
        {OomRole::unknown, false, "", "", "of pod default/web"},
    };
    for (const auto& row : rows) {
        auto tick = sample::calm();
        OomKill kill;
        kill.pid = 42;
        kill.comm = "java";
        kill.pod = tick.observation.pods.at(1).pod->uid;
        kill.role = row.role;
        kill.group = row.group;
        kill.container = row.container;
        kill.container_cgroup = row.cgroup;
        tick.kernel_events = {{sample::monotonic(sample::look_at - 1ms), kill}};
        const auto event = events_of(tick).at(0);
        EXPECT_EQ(event.message, std::string("System OOM encountered, victim process: java, pid: 42, ") + row.rest);
        const auto again = event_from_json(to_json_line(event, "n"));
        ASSERT_TRUE(again && again->oom);
        EXPECT_EQ(again->oom->process, "java");
        EXPECT_EQ(again->oom->container, row.container);
        EXPECT_EQ(again->oom->cgroup, row.cgroup);
        EXPECT_EQ(again->oom->group, row.group);
        EXPECT_FALSE(again->oom->memcg);
        EXPECT_FALSE(again->oom->limit);
        EXPECT_EQ(again->oom->role, row.role == OomRole::child     ? "child"
                                    : row.role == OomRole::unknown ? ""
                                                                   : "first_process");
    }
}

TEST(Events, AnOomKillOutsidePodsHasNoContainer) {
    for (const auto role : {OomRole::first_process, OomRole::child}) {
        auto tick = sample::calm();
        OomKill kill;
        kill.pid = 42;
        kill.comm = "sshd";
        kill.role = role;
        tick.kernel_events = {{sample::monotonic(sample::look_at), kill}};
        auto event = events_of(tick).at(0);
        EXPECT_EQ(event.message, "System OOM encountered, victim process: sshd, pid: 42, not in any known pod");
        EXPECT_EQ(event.oom->role, "");
        std::get<OomKill>(tick.kernel_events[0].kind).pod_cgroup = CgroupId{77};
        event = events_of(tick).at(0);
        EXPECT_THAT(event.message, HasSubstr("the container's main process")) << "in a pod, though not a known one";
    }
}

}  // namespace
}  // namespace evictd::codec
