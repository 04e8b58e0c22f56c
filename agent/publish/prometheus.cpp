// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "publish/prometheus.hpp"

#include <array>
#include <chrono>
#include <iterator>
#include <utility>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "codec/event.hpp"
#include "codec/event_latency.hpp"
#include "publish/prometheus_api.hpp"
#include "publish/prometheus_gauges.hpp"
#include "sys/clock.hpp"

namespace evictd::publish {
namespace {

// From a tenth of what we aim at to the longest grace period people set.
const prometheus::Histogram::BucketBoundaries buckets{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                      0.1,    0.25,    0.5,    1,     2.5,    5,     10,   30};

// Whatever a pod can be evicted for, as the label `signal` says it.
std::string stall_label(StallResource resource) { return "psi." + std::string(name(resource)); }
constexpr const char* limit_label = "limit";
std::vector<std::string> known_signals() {
    std::vector<std::string> known{limit_label};
    for (const auto& row : signal_table) {
        known.emplace_back(row.name);
    }
    for (std::size_t i = 0; i < stall_resource_count; i++) {
        known.push_back(stall_label(static_cast<StallResource>(i)));
    }
    return known;
}

// Every known cause is there from the start, for increase().
prometheus::MetricFamily lost_by_cause(const StatusDocument& document) {
    auto lost = *document.lost;
    for (const char* cause : loss::all) {
        (void)lost[std::string("kernel events: ") + cause];
    }
    prometheus::MetricFamily family{.name = "evictd_lost_total",
                                    .help = "Events, records and lines that were lost, by cause",
                                    .type = prometheus::MetricType::Counter,
                                    .metric = {}};
    for (const auto& [cause, count] : lost) {
        prometheus::ClientMetric metric;
        metric.label = {{"cause", cause}};
        metric.counter.value = static_cast<double>(count);
        family.metric.push_back(std::move(metric));
    }
    return family;
}

}  // namespace

// What adds up over the agent's life. The library's metrics are safe from any thread.
struct Prometheus::Totals {
    // What is not there yet is zero, so that increase() sees the first of each.
    explicit Totals(const std::string& version)
        : looks_(counter("evictd_looks_total", "Looks at the node").Add({})),
          evictions_(counter("evictd_evictions_total", "Pods evicted, by the signal they were evicted for")),
          failures_(counter("evictd_eviction_failures_total", "Evictions that failed, by signal")),
          rejections_(
              counter("evictd_pods_rejected_total", "Pods that arrived under a condition, and were not admitted")),
          oom_kills_(counter("evictd_oom_kills_total", "Kills by the kernel's OOM killer, by whose limit")),
          limit_hits_(
              counter("evictd_memory_limit_hits_total", "Times that pods and containers hit their memory limits")
                  .Add({})),
          durations_(prometheus::BuildHistogram()
                         .Name("evictd_eviction_duration_seconds")
                         .Help("Kernel's event to agent (detect), decision (decide), signal delivered (act), last "
                               "process gone (empty)")
                         .Register(registry_)) {
        prometheus::BuildGauge()
            .Name("evictd_build_info")
            .Help("The version that runs")
            .Register(registry_)
            .Add({{"version", version}})
            .Set(1);
        for (const char* phase : {"detect", "decide", "act", "empty"}) {
            (void)duration(phase);
        }
        for (const auto& signal : known_signals()) {
            (void)evictions_.Add({{"signal", signal}});
            (void)failures_.Add({{"signal", signal}});
        }
        for (const char* scope : {"node", "cgroup"}) {
            (void)oom_kills_.Add({{"scope", scope}});
        }
    }

    void add(const Tick& tick) {
        looks_.Increment();
        for (const auto& kernel : tick.kernel_events) {
            if (const auto* kill = std::get_if<OomKill>(&kernel.kind)) {
                oom_kills_.Add({{"scope", kill->memcg ? "cgroup" : "node"}}).Increment();
            } else if (const auto* breach = std::get_if<MemcgBreach>(&kernel.kind);
                       breach != nullptr && breach->pod_cgroup != CgroupId{}) {
                limit_hits_.Increment(static_cast<double>(breach->hits));
            }
        }
        for (const auto& victim : tick.decision.finished) {
            if (!tick.dry_run) {
                add(victim);
            }
        }
    }
    [[nodiscard]] std::vector<prometheus::MetricFamily> collect() const { return registry_.Collect(); }

private:
    prometheus::Family<prometheus::Counter>& counter(const char* name, const char* help) {
        return prometheus::BuildCounter().Name(name).Help(help).Register(registry_);
    }
    prometheus::Histogram& duration(const char* phase) { return durations_.Add({{"phase", phase}}, buckets); }

    static std::string signal_of(const Eviction& eviction) {
        if (eviction.stall) {
            return stall_label(eviction.stall->threshold.resource);
        }
        if (!eviction.rejected_for.empty()) {
            return "admission";
        }
        return eviction.broken_limit ? limit_label : std::string(name(eviction.threshold.threshold.signal));
    }
    void add(const Victim& victim) {
        const bool failed = victim.failed || !victim.error.empty();
        const auto& conditions = victim.eviction.rejected_for;
        if (!failed && !conditions.empty()) {
            rejections_.Add({{"condition", std::string(name(conditions.front()))}}).Increment();
        } else {
            (failed ? failures_ : evictions_).Add({{"signal", signal_of(victim.eviction)}}).Increment();
        }
        const auto latency = codec::latency_of(victim);
        const std::array<std::pair<const char*, std::optional<Duration>>, 4> phases{
            {{"detect", latency.detect}, {"decide", latency.decide}, {"act", latency.act}, {"empty", latency.empty}}};
        for (const auto& [phase, time] : phases) {
            if (time) {
                duration(phase).Observe(std::chrono::duration<double>(*time).count());
            }
        }
    }

    prometheus::Registry registry_;
    prometheus::Counter& looks_;
    prometheus::Family<prometheus::Counter>& evictions_;
    prometheus::Family<prometheus::Counter>& failures_;
    prometheus::Family<prometheus::Counter>& rejections_;
    prometheus::Family<prometheus::Counter>& oom_kills_;
    prometheus::Counter& limit_hits_;
    prometheus::Family<prometheus::Histogram>& durations_;
};

Prometheus::Prometheus(const std::string& version, const StatusBoard& board)
    : totals_(std::make_unique<Totals>(version)), board_(board) {}
Prometheus::~Prometheus() = default;

void Prometheus::publish(const RecordPtr& record) {
    if (const auto* tick = std::get_if<Tick>(record.get())) totals_->add(*tick);
}

std::string Prometheus::text() const {
    const auto document = board_.document();
    auto families = totals_->collect();
    families.push_back(lost_by_cause(*document));
    if (const auto* tick = document->tick()) {
        auto gauges = gauges_of(*tick, document->agent->eviction.thresholds);
        families.insert(families.end(), std::make_move_iterator(gauges.begin()), std::make_move_iterator(gauges.end()));
    }
    const auto& agent = *document->agent;
    if (agent.api) {
        const auto states = agent.pod_source_states ? agent.pod_source_states() : std::vector<PodSourceState>{};
        auto api = api_families(agent.api(), states, sys::SystemClock().monotonic());
        families.insert(families.end(), std::make_move_iterator(api.begin()), std::make_move_iterator(api.end()));
    }
    return prometheus::TextSerializer().Serialize(families);
}

}  // namespace evictd::publish
