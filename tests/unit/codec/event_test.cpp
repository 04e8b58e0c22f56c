// SPDX-License-Identifier: Apache-2.0
// Which events a record becomes, with which times, latencies and words.
#include "event.hpp"

#include <gmock/gmock.h>

#include "unit/codec/sample_records.hpp"

namespace evictd::codec {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> reasons(const std::vector<Event>& events) {
    std::vector<std::string> names;
    for (const auto& event : events) names.push_back(event.reason);
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
    EXPECT_EQ(event.reason, "Evicted");
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
    EXPECT_EQ(event.reason, "EvictionFailed");
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
        return events_of(AgentNotice{notice, sample::start(), "m", ""})[0].reason;
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

}  // namespace
}  // namespace evictd::codec
