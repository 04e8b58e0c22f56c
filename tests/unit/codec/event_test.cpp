// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which events a record becomes, with which times, latencies and words.
#include "event.hpp"

#include <gmock/gmock.h>

#include "event_json.hpp"
#include "unit/codec/event_reasons.hpp"
#include "unit/codec/sample_records.hpp"

namespace evictd::codec {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

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

TEST(Events, EvictionsThatWaitForDiskUsageAreReportedOnce) {
    auto tick = sample::calm();
    UnknownDiskUsage unknown{.until = tick.observation.at + 9291558443ns, .fresh = true};
    tick.decision.ranked_by = Signal::nodefs_available;
    tick.decision.disk_unknown = unknown;
    const auto events = events_of(tick);
    ASSERT_THAT(reasons(events), ElementsAre("EvictionDelayed"));
    EXPECT_EQ(events[0].signal, Signal::nodefs_available);
    const std::string name = tick.observation.pods.at(0).pod->full_name();
    EXPECT_EQ(events[0].message,
              "Evictions for disk are delayed for at most 9.3s: the disk usage of pod " + name + " is not known yet");
    unknown.count = 3;
    tick.decision.disk_unknown = unknown;
    EXPECT_THAT(events_of(tick)[0].message,
                HasSubstr("the disk usage of pod " + name + " and 2 others is not known yet"));
    unknown.fresh = false;
    tick.decision.disk_unknown = unknown;
    EXPECT_THAT(events_of(tick), ::testing::IsEmpty());
}

TEST(Events, AnEvictionThatWaitsForAManifestIsReportedOnce) {
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

TEST(Events, AReclaimSaysWhatItRemoves) {
    auto tick = sample::calm();
    tick.decision.announced = {NodeReclaim::containers, NodeReclaim::images};
    tick.decision.garbage.inventory_since = tick.observation.at;
    EXPECT_EQ(events_of(tick).at(0).message, "Removing unused containers and images before any pod is evicted");
    Garbage image, directory;
    image.kind = GarbageKind::image;
    directory.kind = GarbageKind::log_directory;
    tick.decision.garbage.removals = GarbageList({image, directory, directory});
    EXPECT_EQ(events_of(tick).at(0).message,
              "Removing unused containers and images before any pod is evicted: 1 image and 2 log directories");
}

TEST(Events, ADryRunOfAReclaimSaysSo) {
    auto tick = sample::calm();
    tick.dry_run = true;
    tick.decision.announced = {NodeReclaim::images};
    tick.decision.garbage.inventory_since = tick.observation.at;
    EXPECT_EQ(events_of(tick).at(0).message, "Dry run: would remove unused images before any pod is evicted");
}

TEST(Events, AReclaimThatIsOverSaysWhatItRemoved) {
    auto tick = sample::calm();
    ReclaimOutcome outcome{.errors = {}, .pass = 3, .forced = true, .orphans = {}};
    outcome.removals = {{GarbageKind::container, "a", GarbageStatus::removed, {}},
                        {GarbageKind::container, "b", GarbageStatus::in_use, {}},
                        {GarbageKind::image, "c", GarbageStatus::removed, {}},
                        {GarbageKind::image, "d", GarbageStatus::refused, {}}};
    tick.observation.reclaimed = outcome;
    EXPECT_EQ(events_of(tick).at(0).message,
              "What the node could give back was not enough. Removed 1 container and 1 image");
    tick.decision.reclaimed = true;
    tick.decision.why = "it was enough";
    EXPECT_EQ(events_of(tick).at(0).message, "it was enough. Removed 1 container and 1 image");
    tick.decision.reclaimed = false;
    tick.decision.reclaim = tick.decision.announced = {NodeReclaim::images};  // another round
    tick.decision.garbage.inventory_since = tick.observation.at;
    EXPECT_EQ(events_of(tick).at(0).message,
              "Removing unused images before any pod is evicted. Removed 1 container and 1 image");
}

TEST(Events, TheEndOfAReclaimThatWasNotAnnouncedIsToldOnlyIfItRemovedSomething) {
    auto tick = sample::calm();
    ReclaimOutcome outcome{.errors = {"refused"}, .pass = 3, .forced = true, .orphans = {}};
    outcome.removals = {{GarbageKind::image, "d", GarbageStatus::refused, {}}};
    tick.observation.reclaimed = outcome;
    EXPECT_EQ(events_of(tick).size(), 1U);
    tick.decision.outcome_repeated = true;
    EXPECT_TRUE(events_of(tick).empty());
    outcome.removals[0].status = GarbageStatus::removed;
    tick.observation.reclaimed = outcome;
    EXPECT_EQ(events_of(tick).at(0).message, "What the node could give back was not enough. Removed 1 image");
}

TEST(Events, EachOrphanIsNamedAndARoutinePassSaysNothingOfPressure) {
    auto tick = sample::calm();
    Garbage one{GarbageKind::log_directory, "shop_web_u\n1", "shop/web", {"u1"}, {}, "unknown for 10m"};
    one.orphan_of = "shop/web";
    ReclaimOutcome outcome{.errors = {}, .pass = 3, .forced = false, .orphans = {one}};
    outcome.removals = {{GarbageKind::log_directory, one.id, GarbageStatus::removed, {}}};
    tick.observation.reclaimed = outcome;
    ASSERT_EQ(events_of(tick).size(), 1U);
    const auto event = events_of(tick)[0];
    EXPECT_EQ(event.reason, Reason::orphan_removed);
    EXPECT_EQ(
        event.message,
        "Removed log directory shop_web_u\\x0a1 of pod shop/web: unknown for 10m, and the API server says that it is "
        "gone");
    ASSERT_TRUE(event.pod);
    EXPECT_EQ(event.pod->name, "web");
    EXPECT_FALSE(event.dry_run);
    outcome.removals[0].status = GarbageStatus::dry_run;
    tick.observation.reclaimed = outcome;
    EXPECT_THAT(events_of(tick)[0].message, ::testing::StartsWith("Not removed, only reported: log directory"));
    outcome.orphans[0].kind = outcome.removals[0].kind = GarbageKind::cgroup;
    outcome.orphans[0].id = outcome.removals[0].id = "/kubepods/podu1";
    tick.observation.reclaimed = outcome;
    EXPECT_THAT(events_of(tick)[0].message, ::testing::HasSubstr("cgroup /kubepods/podu1 of pod shop/web"));
    tick.decision.reclaim = {NodeReclaim::images};  // pressure begins as the pass ends
    EXPECT_THAT(events_of(tick), ::testing::SizeIs(1)) << "a reclaim that has nothing to remove";
    tick.decision.announced = {NodeReclaim::images};
    ASSERT_EQ(events_of(tick).size(), 2U);
    EXPECT_EQ(events_of(tick)[0].reason, Reason::orphan_removed);
    EXPECT_EQ(events_of(tick)[1].reason, Reason::reclaim_started);
    tick.decision.reclaim.clear();
    tick.decision.announced.clear();
    outcome.orphans.clear();
    tick.observation.reclaimed = outcome;
    EXPECT_TRUE(events_of(tick).empty());
}

TEST(Events, AVictimWhoseProcessesKeptAppearingNamesTheRepeatedSignals) {
    auto tick = sample::evicted();
    tick.killed_in = {{tick.decision.finished.at(0).pod, {.rounds = 1}}};
    EXPECT_THAT(events_of(tick)[0].message, ::testing::EndsWith("after SIGKILL"));
    tick.killed_in[0].rounds = {.rounds = 2, .appeared = true};
    EXPECT_THAT(events_of(tick)[0].message, ::testing::EndsWith("after SIGKILL; SIGKILL was sent again 2 times"));
    tick.killed_in[0].rounds = {.rounds = 5, .frozen = 3, .appeared = true};
    EXPECT_THAT(events_of(tick)[0].message,
                ::testing::EndsWith("after SIGKILL; SIGKILL was sent again 5 times, 3 of them with the pod frozen"));
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

TEST(Events, AStallTriggerHasNoTimeOfTheCrossingSoThereIsNoDetectAndNoTotal) {
    auto tick = sample::evicting();
    tick.observation.cause.event->kind = StallTriggered{"/proc/pressure/memory"};
    const auto event = events_of(tick).back();
    EXPECT_FALSE(event.latency.detect);
    EXPECT_FALSE(event.latency.total);
    EXPECT_TRUE(event.latency.act);
}

TEST(Events, AFailedActionIsReportedAndHasNoActLatency) {
    auto tick = sample::evicting();
    tick.outcomes[0].status = OutcomeStatus::failed;
    tick.outcomes[0].error = "cgroup.kill: Permission denied";
    const auto event = events_of(tick).back();
    EXPECT_EQ(event.error, "cgroup.kill: Permission denied");
    EXPECT_FALSE(event.latency.act);
    EXPECT_FALSE(event.latency.total);
}

TEST(Events, EvictedHasAllLatenciesAndTheBytesFreed) {
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

TEST(Events, DryRunIsMarkedOnEveryEventAndFreesNothing) {
    auto tick = sample::evicted();
    tick.dry_run = true;
    const auto event = events_of(tick).back();
    EXPECT_TRUE(event.dry_run);
    EXPECT_FALSE(event.reclaimed);
    EXPECT_THAT(event.message, HasSubstr("would have been evicted"));
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

TEST(Events, ASoftThresholdReportsItsRunningGracePeriod) {
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

TEST(EventSentence, OfAThresholdInSecondsHasTheTime) {
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
