// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "publish/prometheus.hpp"

#include <array>
#include <chrono>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "codec/event.hpp"
#include "publish/prometheus_gauges.hpp"

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

// The last look, made into gauges when somebody asks.
class LastLook {
public:
    explicit LastLook(std::function<std::vector<Threshold>()> thresholds) : thresholds_(std::move(thresholds)) {}

    void set(RecordPtr tick) {
        const std::scoped_lock lock(mutex_);
        tick_ = std::move(tick);
    }
    [[nodiscard]] bool is_set() const {
        const std::scoped_lock lock(mutex_);
        return tick_ != nullptr;
    }
    [[nodiscard]] std::vector<prometheus::MetricFamily> collect() const {
        RecordPtr tick;
        {
            const std::scoped_lock lock(mutex_);
            tick = tick_;
        }
        return tick ? gauges_of(std::get<Tick>(*tick), thresholds_()) : std::vector<prometheus::MetricFamily>{};
    }

private:
    std::function<std::vector<Threshold>()> thresholds_;
    mutable std::mutex mutex_;
    RecordPtr tick_;  // under mutex_
};

// What adds up over the agent's life. The library's metrics are safe from any thread.
class Totals {
public:
    // What is not there yet is zero, so that increase() sees the first of each.
    Totals(prometheus::Registry& registry, const std::string& version, const LossCounters& losses)
        : looks_(counter(registry, "evictd_looks_total", "Looks at the node").Add({})),
          evictions_(counter(registry, "evictd_evictions_total", "Pods evicted, by the signal they were evicted for")),
          failures_(counter(registry, "evictd_eviction_failures_total", "Evictions that failed, by signal")),
          oom_kills_(counter(registry, "evictd_oom_kills_total", "Kills by the kernel's OOM killer, by whose limit")),
          limit_hits_(counter(registry, "evictd_memory_limit_hits_total",
                              "Times that pods and containers hit their memory limits")
                          .Add({})),
          lost_(counter(registry, "evictd_lost_total", "Events, records and lines that were lost, by cause")),
          durations_(prometheus::BuildHistogram()
                         .Name("evictd_eviction_duration_seconds")
                         .Help("Kernel's event to agent (detect), decision (decide), signal delivered (act), last "
                               "process gone (empty)")
                         .Register(registry)) {
        prometheus::BuildGauge()
            .Name("evictd_build_info")
            .Help("The version that runs")
            .Register(registry)
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
        for (const char* cause : loss::all) {
            (void)lost_.Add({{"cause", std::string("kernel events: ") + cause}});
        }
        if (losses) {
            for (const auto& [cause, count] : losses()) {
                (void)lost_.Add({{"cause", cause}});
            }
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
            } else if (const auto* lost = std::get_if<EventsLost>(&kernel.kind)) {
                lost_.Add({{"cause", "kernel events: " + lost->cause}}).Increment(static_cast<double>(lost->count));
            }
        }
        for (const auto& victim : tick.decision.finished) {
            if (!tick.dry_run) {
                add(victim);
            }
        }
    }
    // As their owners count them, since the start.
    void set_lost(const std::map<std::string, std::uint64_t>& lost) {
        for (const auto& [cause, count] : lost) {
            auto& known = known_losses_[cause];
            lost_.Add({{"cause", cause}}).Increment(static_cast<double>(count - std::exchange(known, count)));
        }
    }

private:
    static prometheus::Family<prometheus::Counter>& counter(prometheus::Registry& registry, const char* name,
                                                            const char* help) {
        return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
    }
    prometheus::Histogram& duration(const char* phase) { return durations_.Add({{"phase", phase}}, buckets); }

    static std::string signal_of(const Eviction& eviction) {
        if (eviction.stall) {
            return stall_label(eviction.stall->threshold.resource);
        }
        return eviction.broken_limit ? limit_label : std::string(name(eviction.threshold.threshold.signal));
    }
    void add(const Victim& victim) {
        const bool failed = victim.failed || !victim.error.empty();
        (failed ? failures_ : evictions_).Add({{"signal", signal_of(victim.eviction)}}).Increment();
        const auto latency = codec::latency_of(victim);
        const std::array<std::pair<const char*, std::optional<Duration>>, 4> phases{
            {{"detect", latency.detect}, {"decide", latency.decide}, {"act", latency.act}, {"empty", latency.empty}}};
        for (const auto& [phase, time] : phases) {
            if (time) {
                duration(phase).Observe(std::chrono::duration<double>(*time).count());
            }
        }
    }

    prometheus::Counter& looks_;
    prometheus::Family<prometheus::Counter>& evictions_;
    prometheus::Family<prometheus::Counter>& failures_;
    prometheus::Family<prometheus::Counter>& oom_kills_;
    prometheus::Counter& limit_hits_;
    prometheus::Family<prometheus::Counter>& lost_;
    prometheus::Family<prometheus::Histogram>& durations_;
    std::map<std::string, std::uint64_t> known_losses_;
};

}  // namespace

struct Prometheus::Metrics {
    explicit Metrics(const PrometheusOptions& options)
        : last(options.thresholds), totals(registry, options.version, options.losses) {}

    prometheus::Registry registry;
    LastLook last;
    Totals totals;
};

Prometheus::Prometheus(PrometheusOptions options)
    : metrics_(std::make_unique<Metrics>(options)), losses_(std::move(options.losses)) {}
Prometheus::~Prometheus() = default;

void Prometheus::publish(const RecordPtr& record) {
    if (const auto* tick = std::get_if<Tick>(record.get())) {
        metrics_->totals.add(*tick);
        metrics_->last.set(record);
        if (losses_) {
            metrics_->totals.set_lost(losses_());
        }
    }
}

std::string Prometheus::text() const {
    auto families = metrics_->registry.Collect();
    auto gauges = metrics_->last.collect();
    families.insert(families.end(), std::make_move_iterator(gauges.begin()), std::make_move_iterator(gauges.end()));
    return prometheus::TextSerializer().Serialize(families);
}

bool Prometheus::has_looked() const { return metrics_->last.is_set(); }

}  // namespace evictd::publish
