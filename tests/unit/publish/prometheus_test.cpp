// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a scrape of /metrics finds.
#include "publish/prometheus.hpp"

#include <gmock/gmock.h>

#include "publish/snapshot.hpp"
#include "sys/clock.hpp"
#include "unit/codec/sample_records.hpp"
#include "unit/publish/publish_fixture.hpp"

namespace evictd::publish {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

Threshold threshold_of(Signal signal) {
    auto threshold = sample::threshold(1_GiB);
    threshold.signal = signal;
    return threshold;
}

struct Scraped : testing::Test {
    std::map<std::string, std::uint64_t> lost;
    StatusBoard board{
        {.status = {},
         .eviction = {.thresholds = {sample::threshold(100_MiB), sample::threshold(1_GiB, 30s),
                                     threshold_of(Signal::nodefs_available), threshold_of(Signal::nodefs_inodes_free),
                                     threshold_of(Signal::imagefs_available),
                                     threshold_of(Signal::allocatable_nodefs_available)}}}};
    Snapshot snapshot{board, [this] { return lost; }};
    Prometheus metrics{"1.2.3", board};

    void publish(const Tick& tick) {
        const auto record = shared(tick);
        snapshot.publish(record);
        metrics.publish(record);
    }
    [[nodiscard]] std::string scrape() const { return metrics.text(); }
};

TEST_F(Scraped, BeforeTheFirstLookThereIsTheVersion) {
    const auto text = scrape();
    EXPECT_THAT(text, HasSubstr("evictd_build_info{version=\"1.2.3\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("evictd_looks_total 0\n"));
    EXPECT_THAT(text, Not(HasSubstr("evictd_signal_available")));
    EXPECT_FALSE(board.document()->tick());
}

// Without a server there is none of it.
TEST_F(Scraped, RequestsToTheApiServerAndTheAgeOfSources) {
    EXPECT_THAT(scrape(), Not(HasSubstr("evictd_api_")));
    ApiUse use;
    use.requests.requests = {{.method = "PATCH", .code = 200, .count = 3}, {.method = "GET", .code = 0, .count = 1}};
    use.requests.durations = {2, 1};
    use.requests.durations.back() = 1;
    use.requests.time_spent = 1500ms;
    use.pods.results[0] = 5;
    use.pods.retries = 4;
    const auto heard = sys::SystemClock().monotonic() - 1h;
    board.set_agent({.status = {},
                     .eviction = {},
                     .pod_source_states =
                         [heard] {
                             return std::vector<PodSourceState>{{.name = "API server", .heard_at = heard, .fault = {}},
                                                                {.name = "kubelet", .heard_at = {}, .fault = {}}};
                         },
                     .api = [use] { return use; }});
    const auto text = scrape();
    EXPECT_THAT(text, HasSubstr("evictd_api_requests_total{method=\"PATCH\",code=\"200\"} 3\n"));
    EXPECT_THAT(text, HasSubstr("evictd_api_requests_total{method=\"GET\",code=\"<error>\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("evictd_api_request_duration_seconds_bucket{le=\"0.005\"} 2\n"));
    EXPECT_THAT(text, HasSubstr("evictd_api_request_duration_seconds_bucket{le=\"60\"} 3\n"));
    EXPECT_THAT(text, HasSubstr("evictd_api_request_duration_seconds_bucket{le=\"+Inf\"} 4\n"));
    EXPECT_THAT(text, HasSubstr("evictd_api_request_duration_seconds_sum 1.5\n"));
    EXPECT_THAT(text, HasSubstr("evictd_pod_status_requests_total{result=\"accepted\"} 5\n"));
    EXPECT_THAT(text, HasSubstr("evictd_pod_status_retries_total 4\n"));
    EXPECT_THAT(text, HasSubstr("evictd_pod_source_age_seconds{source=\"API server\"} 36"));
    EXPECT_THAT(text, HasSubstr("evictd_pod_source_age_seconds{source=\"kubelet\"} +Inf\n"));
}

TEST_F(Scraped, TheLastLookIsGauges) {
    auto tick = sample::evicting();
    tick.observation.readings[0]->memory = AvailableMemory{.kubelet = 95_MiB, .reclaimable = 200_MiB};
    tick.observation.stalls = {{StallResource::memory, StallTimes{50ms, 250ms, 1s}, std::nullopt}};
    tick.observation.pods[2].populated = false;
    tick.decision.in_flight = {sample::victim()};
    publish(tick);
    const auto text = scrape();
    EXPECT_THAT(text, HasSubstr("# TYPE evictd_signal_available gauge\n"));
    EXPECT_THAT(text, HasSubstr("evictd_signal_available{signal=\"memory.available\"} 99614720\n"));
    EXPECT_THAT(text, HasSubstr("evictd_signal_capacity{signal=\"memory.available\"} 3221225472\n"));
    EXPECT_THAT(text, HasSubstr("evictd_signal_reclaimable_bytes{signal=\"memory.available\"} 209715200\n"));
    EXPECT_THAT(text, HasSubstr("evictd_threshold{signal=\"memory.available\",kind=\"hard\"} 104857600\n"));
    EXPECT_THAT(text, HasSubstr("evictd_threshold{signal=\"memory.available\",kind=\"soft\"} 1073741824\n"));
    EXPECT_THAT(text, HasSubstr("evictd_node_condition{condition=\"MemoryPressure\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("evictd_stall_ratio{resource=\"memory\",kind=\"some\",window=\"1s\"} 0.25\n"));
    EXPECT_THAT(text, HasSubstr("evictd_pods{running=\"true\"} 2\n"));
    EXPECT_THAT(text, HasSubstr("evictd_pods{running=\"false\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("evictd_victims 1\n"));
}

TEST_F(Scraped, TimeToExhaustionIsInfiniteUnlessMemoryRunsOut) {
    publish(sample::calm());
    EXPECT_THAT(scrape(), HasSubstr("evictd_memory_exhaustion_seconds +Inf\n"));
    EXPECT_THAT(scrape(), HasSubstr("evictd_node_condition{condition=\"MemoryPressure\"} 0\n"));
    auto tick = sample::calm();
    tick.decision.exhaustion = Exhaustion{.left = 2300ms};
    publish(tick);
    EXPECT_THAT(scrape(), HasSubstr("evictd_memory_exhaustion_seconds 2.3"));
}

TEST_F(Scraped, DiskExhaustionIsGivenForSignalsWithAReadingAndAThreshold) {
    auto tick = sample::calm();
    const Reading reading{{1 << 30}, {1LL << 40}, tick.observation.at};
    tick.observation.readings[static_cast<std::size_t>(Signal::nodefs_available)] = reading;
    tick.observation.readings[static_cast<std::size_t>(Signal::nodefs_inodes_free)] = reading;
    tick.observation.readings[static_cast<std::size_t>(Signal::containerfs_available)] = reading;
    const Reading used_up{{0}, {1LL << 40}, tick.observation.at};
    tick.observation.readings[static_cast<std::size_t>(Signal::allocatable_nodefs_available)] = used_up;
    tick.decision.disk_exhaustion = {DiskExhaustion{.signal = Signal::nodefs_inodes_free, .left = 40s}};
    publish(tick);
    const auto text = scrape();
    EXPECT_THAT(text, HasSubstr("evictd_disk_exhaustion_seconds{signal=\"nodefs.available\"} +Inf\n"));
    EXPECT_THAT(text, HasSubstr("evictd_disk_exhaustion_seconds{signal=\"nodefs.inodesFree\"} 40\n"));
    EXPECT_THAT(text, HasSubstr("evictd_disk_exhaustion_seconds{signal=\"allocatableNodeFs.available\"} 0\n"));
    EXPECT_THAT(text, Not(HasSubstr("evictd_disk_exhaustion_seconds{signal=\"imagefs.available\"}")));
    EXPECT_THAT(text, Not(HasSubstr("evictd_disk_exhaustion_seconds{signal=\"containerfs.available\"}")));
    EXPECT_THAT(text, Not(HasSubstr("evictd_disk_exhaustion_seconds{signal=\"memory.available\"}")));
}

TEST_F(Scraped, EvictionsAreCountedBySignalWithTheirPhases) {
    publish(sample::evicting());
    publish(sample::evicted());
    auto failed = sample::evicted();
    failed.decision.finished[0].failed = true;
    publish(failed);
    auto rehearsed = sample::evicted();
    rehearsed.dry_run = true;
    publish(rehearsed);
    const auto text = scrape();
    EXPECT_THAT(text, HasSubstr("evictd_looks_total 4\n"));
    EXPECT_THAT(text, HasSubstr("evictd_evictions_total{signal=\"memory.available\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("evictd_eviction_failures_total{signal=\"memory.available\"} 1\n"));
    // 240 us from the decision to the kill; 50 us to the agent.
    EXPECT_THAT(text, HasSubstr("evictd_eviction_duration_seconds_bucket{phase=\"detect\",le=\"0.0001\"} 2\n"));
    EXPECT_THAT(text, HasSubstr("evictd_eviction_duration_seconds_bucket{phase=\"act\",le=\"0.0001\"} 0\n"));
    EXPECT_THAT(text, HasSubstr("evictd_eviction_duration_seconds_bucket{phase=\"act\",le=\"0.00025\"} 2\n"));
    EXPECT_THAT(text, HasSubstr("evictd_eviction_duration_seconds_count{phase=\"empty\"} 2\n"));
}

TEST_F(Scraped, AnEvictionForAStallIsCountedApart) {
    auto tick = sample::evicted();
    tick.decision.finished[0].eviction.stall = MetStall{};
    publish(tick);
    EXPECT_THAT(scrape(), HasSubstr("evictd_evictions_total{signal=\"psi.memory\"} 1\n"));
}

TEST_F(Scraped, KernelKillsAndLossesAddUp) {
    auto tick = sample::calm();
    tick.kernel_events = {{tick.observation.at, OomKill{.memcg = true}},
                          {tick.observation.at, EventsLost{"full", 2}},
                          {tick.observation.at, MemcgBreach{.cgroup = CgroupId{1}}},  // the pods' root's
                          {tick.observation.at, MemcgBreach{.pod_cgroup = CgroupId{12}, .hits = 40}}};
    lost = {{"event log lines", 5}};
    publish(tick);
    lost = {{"event log lines", 7}};
    publish(tick);
    const auto text = scrape();
    EXPECT_THAT(text, HasSubstr("evictd_oom_kills_total{scope=\"cgroup\"} 2\n"));
    EXPECT_THAT(text, HasSubstr("evictd_memory_limit_hits_total 80\n"));
    EXPECT_THAT(text, HasSubstr("evictd_lost_total{cause=\"kernel events: full\"} 4\n"));
    EXPECT_THAT(text, HasSubstr("evictd_lost_total{cause=\"event log lines\"} 7\n"));
}

// increase() sees the first of each only where a zero was scraped before.
TEST(PrometheusCounters, AreZeroFromTheStart) {
    StatusBoard board;
    const Snapshot snapshot(board, [] { return std::map<std::string, std::uint64_t>{{"event log lines", 0}}; });
    const Prometheus metrics("1", board);
    const auto text = metrics.text();
    for (const auto& row : signal_table) {
        const auto label = "{signal=\"" + std::string(row.name) + "\"} 0\n";
        EXPECT_THAT(text, HasSubstr("evictd_evictions_total" + label));
        EXPECT_THAT(text, HasSubstr("evictd_eviction_failures_total" + label));
    }
    for (const char* label : {"psi.memory", "psi.io", "psi.cpu", "limit"})
        EXPECT_THAT(text, HasSubstr("evictd_evictions_total{signal=\"" + std::string(label) + "\"} 0\n"));
    for (const char* scope : {"node", "cgroup"})
        EXPECT_THAT(text, HasSubstr("evictd_oom_kills_total{scope=\"" + std::string(scope) + "\"} 0\n"));
    EXPECT_THAT(text, HasSubstr("evictd_memory_limit_hits_total 0\n"));
    for (const char* cause : {"event log lines", "kernel events: watermark: ring buffer full"})
        EXPECT_THAT(text, HasSubstr("evictd_lost_total{cause=\"" + std::string(cause) + "\"} 0\n"));
}

}  // namespace
}  // namespace evictd::publish
