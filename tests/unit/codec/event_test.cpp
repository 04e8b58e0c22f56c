// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which events a record becomes, with which times, latencies and words.
#include "event.hpp"

#include <gmock/gmock.h>

#include "event_json.hpp"
#include "unit/codec/sample_records.hpp"

namespace evictd::codec {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> reasons(const std::vector<Event>& events) {
    std::vector<std::string> names;
    for (const auto& event : events) names.push_back(event.reason.text());
    return names;
}

TEST(Events, ALookWithNothingToSayIsSilent) { EXPECT_TRUE(events_of(sample::calm()).empty()); }

TEST(Events, AnEvictionComesAfterItsThresholdAndCondition) {
    EXPECT_THAT(reasons(events_of(sample::evicting())),
                ElementsAre("EvictionThresholdMet", "NodeHasMemoryPressure", "Evicting"));
}

TEST(Events, EvictingIsMeasuredFromTheKernelToTheKill) {
    const auto event = events_of(sample::evicting()).back();
    EXPECT_EQ(event.latency.detect, 50us);
    EXPECT_EQ(event.latency.decide, 290us);
    EXPECT_EQ(event.latency.act, 200us);
    EXPECT_EQ(event.latency.total, 540us);
    EXPECT_FALSE(event.latency.empty);
    EXPECT_EQ(event.time, sample::start() + 240us);
    EXPECT_THAT(event.message, HasSubstr("Sent SIGKILL to default/hog (3 processes)"));
    EXPECT_THAT(event.cause, HasSubstr("memory.available fell below 100Mi"));
    ASSERT_TRUE(event.pod);
    EXPECT_EQ(event.pod->qos, QosClass::best_effort);
}

TEST(Events, AnEvictionThatWaitsForAManifestIsToldOnce) {
    auto tick = sample::calm();
    AwaitedPods awaited{.largest = {.pod = {"late"}},
                        .together = 80_MiB,
                        .first = tick.observation.pods.at(0).pod->uid,
                        .until = tick.observation.at + 9291558443ns,
                        .fresh = true};
    tick.decision.awaited = awaited;
    const auto events = events_of(tick);
    ASSERT_THAT(reasons(events), ElementsAre("EvictionDelayed"));
    ASSERT_TRUE(events[0].pod);
    EXPECT_EQ(events[0].message,
              "The eviction of pod " + tick.observation.pods[0].pod->full_name() +
                  " is delayed for at most 9.3s: a pod whose manifest is not known yet (UID late) holds 80Mi and may "
                  "rank before it");
    awaited.count = 2;
    tick.decision.awaited = awaited;
    EXPECT_THAT(events_of(tick)[0].message,
                HasSubstr("2 pods whose manifests are not known yet (the largest: UID late) hold 80Mi and may"));
    awaited.fresh = false;
    tick.decision.awaited = awaited;
    EXPECT_TRUE(events_of(tick).empty());
}

TEST(Events, AVictimThatForkedWhileItWasKilledIsSaidToHaveDoneSo) {
    auto tick = sample::evicted();
    tick.killed_in = {{tick.decision.finished.at(0).pod, {.rounds = 1}}};
    EXPECT_THAT(events_of(tick)[0].message, ::testing::EndsWith("after SIGKILL"));
    tick.killed_in[0].rounds = {.rounds = 5, .frozen = 3, .evaded = true};
    EXPECT_THAT(
        events_of(tick)[0].message,
        ::testing::EndsWith("after SIGKILL; it forked or moved its processes meanwhile, and SIGKILL was repeated 5 "
                            "times, 3 of them with the pod frozen"));
}

TEST(Events, ALookThatTheKernelDidNotCauseHasNoDetectAndNoTotal) {
    auto tick = sample::evicting();
    tick.observation.cause.kind = CauseKind::timer;
    tick.observation.cause.event.reset();
    const auto event = events_of(tick).back();
    EXPECT_FALSE(event.latency.detect);
    EXPECT_FALSE(event.latency.total);
    EXPECT_EQ(event.latency.act, 200us);
    EXPECT_TRUE(event.cause.empty());
}

TEST(Events, AStallTriggerTellsNoTimeOfTheCrossingSoThereIsNoDetectAndNoTotal) {
    auto tick = sample::evicting();
    tick.observation.cause.event->kind = StallTriggered{"/proc/pressure/memory"};
    const auto event = events_of(tick).back();
    EXPECT_FALSE(event.latency.detect);
    EXPECT_FALSE(event.latency.total);
    EXPECT_TRUE(event.latency.act);
}

TEST(Events, AnActionThatFailedSaysSoAndHasNoActLatency) {
    auto tick = sample::evicting();
    tick.outcomes[0].status = OutcomeStatus::failed;
    tick.outcomes[0].error = "cgroup.kill: Permission denied";
    const auto event = events_of(tick).back();
    EXPECT_EQ(event.error, "cgroup.kill: Permission denied");
    EXPECT_FALSE(event.latency.act);
    EXPECT_FALSE(event.latency.total);
}

TEST(Events, EvictedCarriesTheWholeWayAndWhatItFreed) {
    const auto events = events_of(sample::evicted());
    ASSERT_THAT(reasons(events), ElementsAre("Evicted"));
    EXPECT_EQ(events[0].latency.total, 540us);
    EXPECT_EQ(events[0].latency.empty, 11760us);
    EXPECT_EQ(events[0].reclaimed, 900_MiB);
    EXPECT_EQ(events[0].time, sample::start() + 12ms);
    EXPECT_THAT(events[0].message, HasSubstr("11.8 ms after SIGKILL"));
}

TEST(Events, AVictimThatObeyedSigtermEndedByItself) {
    auto tick = sample::evicted();
    auto& victim = tick.decision.finished[0];
    victim.eviction.immediate = false;
    victim.killed_at = MonotonicTime{};
    const auto event = events_of(tick).back();
    EXPECT_EQ(event.reason, Reason::evicted);
    EXPECT_THAT(event.message, HasSubstr("ended by itself within its grace period"));
    EXPECT_FALSE(event.latency.any());
}

TEST(Events, AVictimThatIgnoredSigtermWasKilledAndItsPatienceIsNoLatency) {
    auto tick = sample::evicted();
    tick.decision.finished[0].eviction.immediate = false;
    const auto event = events_of(tick).back();
    EXPECT_THAT(event.message, HasSubstr("outlasted its grace period of 1s and was killed"));
    EXPECT_FALSE(event.latency.decide);
    EXPECT_FALSE(event.latency.total);
    EXPECT_EQ(event.latency.act, 200us);
    EXPECT_EQ(event.latency.empty, 11760us);
}

TEST(Events, AFailedVictimIsAnEvictionFailedAndFreedNothing) {
    auto tick = sample::evicted();
    tick.decision.finished[0].failed = true;
    tick.decision.finished[0].error = "processes in state D";
    const auto event = events_of(tick).back();
    EXPECT_EQ(event.reason, Reason::eviction_failed);
    EXPECT_EQ(event.error, "processes in state D");
    EXPECT_FALSE(event.reclaimed);
}

TEST(Events, DryRunIsSaidOnEveryEventAndFreesNothing) {
    auto tick = sample::evicted();
    tick.dry_run = true;
    const auto event = events_of(tick).back();
    EXPECT_TRUE(event.dry_run);
    EXPECT_FALSE(event.reclaimed);
    EXPECT_THAT(event.message, HasSubstr("would have been evicted"));
}

TEST(Events, ARungTellsWhoHowMuchAndHowLong) {
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

TEST(Events, ASheddingTellsWhoAndHowLongTheWayWasAndItsEndHowManyWereRefused) {
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

TEST(Events, ASheddingThatCannotBeDoneSaysSo) {
    auto tick = sample::evicting();
    tick.shed = {{.pod = {PodUid{"uid-hog"}, "default/hog", CgroupId{11}},
                  .at = sample::monotonic(sample::look_at),
                  .error = "sockets: they cannot be refused on this host"}};
    const auto events = events_of(tick);
    const auto shed =
        std::find_if(events.begin(), events.end(), [](const auto& e) { return e.reason == Reason::sockets_shed; });
    ASSERT_NE(shed, events.end());
    EXPECT_THAT(shed->message, HasSubstr("Could not keep pod default/hog from new sockets"));
    EXPECT_THAT(shed->error, HasSubstr("cannot be refused"));
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

TEST(Events, APodAtItsMemoryLimitIsToldWithContainerLimitAndCount) {
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

TEST(Events, APodAtItsMemoryLimitIsToldWhateverIsKnownOfItsContainer) {
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

TEST(Events, AnOomKillSaysInWhichContainerAndWhatBecomesOfIt) {
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

TEST(Events, AnAdjustedScoreNamesThePod) {
    const auto tick = sample::calm();
    const auto& pod = tick.observation.pods.at(1).pod;
    const auto event =
        events_of(AgentNotice{Notice::oom_score_adjusted, sample::start(), "Set it", "refused", pod, true}).at(0);
    EXPECT_EQ(event.reason, Reason::oom_score_adjusted);
    EXPECT_EQ(event.severity, Severity::warning);
    EXPECT_EQ(event.pod->name, "web");
    EXPECT_TRUE(event.dry_run);
}

TEST(Events, LostKernelEventsAreNeverSilent) {
    auto tick = sample::calm();
    tick.kernel_events = {{sample::monotonic(sample::look_at), EventsLost{"ring buffer full", 7}}};
    const auto events = events_of(tick);
    ASSERT_THAT(reasons(events), ElementsAre("KernelEventsLost"));
    EXPECT_EQ(events[0].severity, Severity::warning);
    EXPECT_EQ(events[0].message, "7 kernel events were lost: ring buffer full");
}

TEST(Events, ASoftThresholdSaysThatItsGracePeriodRuns) {
    auto tick = sample::calm();
    tick.decision.threshold_edges = {{true, sample::met(500_MiB, 400_MiB, 90s)}};
    EXPECT_EQ(events_of(tick)[0].message,
              "Attempting to reclaim memory: memory.available is 400Mi of 3Gi, below the soft threshold of 500Mi; its "
              "grace period of 1m30s runs");
}

TEST(Events, EveryNoticeHasItsReasonAndAnErrorMakesItAWarning) {
    const auto reason = [](Notice notice) {
        return events_of(AgentNotice{notice, sample::start(), "m", ""})[0].reason.text();
    };
    EXPECT_EQ(reason(Notice::agent_started), "AgentStarted");
    EXPECT_EQ(reason(Notice::agent_stopped), "AgentStopped");
    EXPECT_EQ(reason(Notice::signal_source_changed), "SignalSourceChanged");
    EXPECT_EQ(reason(Notice::kernel_events_lost), "KernelEventsLost");
    EXPECT_EQ(reason(Notice::config_reloaded), "ConfigReloaded");
    EXPECT_EQ(reason(Notice::config_rejected), "ConfigRejected");
    EXPECT_EQ(reason(Notice::pod_rejected), "PodRejected");
    EXPECT_EQ(reason(Notice::look_incomplete), "LookIncomplete");
    const AgentNotice failed{Notice::signal_source_changed, sample::start(), "m", "no BTF"};
    EXPECT_EQ(events_of(failed)[0].severity, Severity::warning);
}

TEST(EventSentence, OfAThresholdInSecondsTellsTheTime) {
    auto tick = sample::calm();
    auto met = sample::met(2_GiB, 1_GiB, 5s);
    met.threshold.time_left = 30s;
    tick.decision.threshold_edges = {{true, met}, {false, met}};
    const auto events = events_of(tick);
    EXPECT_EQ(events[0].message,
              "Attempting to reclaim memory: memory.available is 1Gi of 3Gi and used up in 15s at this rate, below the "
              "soft threshold of 30s left; its grace period of 5s runs");
    EXPECT_EQ(events[1].message, "memory.available is 1Gi of 3Gi, no longer below the soft threshold of 30s left");
    EXPECT_EQ(events[0].threshold->time_left, 30s);
}

}  // namespace
}  // namespace evictd::codec
