// SPDX-License-Identifier: Apache-2.0
#include "publish/prometheus.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <prometheus/counter.h>
#include <prometheus/exposer.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <sys/socket.h>

#include "codec/event.hpp"
#include "publish/prometheus_gauges.hpp"
#include "sys/fd.hpp"

namespace evictd::publish {
namespace {

// One scrape at a time is what Prometheus does; a second thread answers whoever looks by hand.
constexpr std::size_t server_threads = 2;

// From a tenth of what we aim at to the longest grace period people set.
const prometheus::Histogram::BucketBoundaries buckets{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                      0.1,    0.25,    0.5,    1,     2.5,    5,     10,   30};

// The last look, made into gauges when somebody asks.
class LastLook final : public prometheus::Collectable {
public:
    explicit LastLook(std::function<std::vector<Threshold>()> thresholds) : thresholds_(std::move(thresholds)) {}

    void set(RecordPtr tick) {
        const std::scoped_lock lock(mutex_);
        tick_ = std::move(tick);
    }
    [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override {
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
    Totals(prometheus::Registry& registry, const std::string& version)
        : looks_(counter(registry, "evictd_looks_total", "Looks at the node").Add({})),
          evictions_(counter(registry, "evictd_evictions_total", "Pods evicted, by the signal they were evicted for")),
          failures_(counter(registry, "evictd_eviction_failures_total", "Evictions that failed, by signal")),
          oom_kills_(counter(registry, "evictd_oom_kills_total", "Kills by the kernel's OOM killer, by whose limit")),
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
    }

    void add(const Tick& tick) {
        looks_.Increment();
        for (const auto& kernel : tick.kernel_events) {
            if (const auto* kill = std::get_if<OomKill>(&kernel.kind)) {
                oom_kills_.Add({{"scope", kill->memcg ? "cgroup" : "node"}}).Increment();
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
            return "psi." + std::string(name(eviction.stall->threshold.resource));
        }
        return eviction.broken_limit ? "limit" : std::string(name(eviction.threshold.threshold.signal));
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
    prometheus::Family<prometheus::Counter>& lost_;
    prometheus::Family<prometheus::Histogram>& durations_;
    std::map<std::string, std::uint64_t> known_losses_;
};

// Connects, and hangs up.
void knock(const std::string& address, int port) {
    const auto host = address.substr(0, address.rfind(':'));
    const auto number = htons(static_cast<std::uint16_t>(port));
    const bool v6 = host.starts_with('[');
    sockaddr_in6 six{
        .sin6_family = AF_INET6, .sin6_port = number, .sin6_flowinfo = 0, .sin6_addr = {}, .sin6_scope_id = 0};
    sockaddr_in four{.sin_family = AF_INET, .sin_port = number, .sin_addr = {}, .sin_zero = {}};
    const sys::Fd socket(::socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (v6) {
        (void)inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &six.sin6_addr);
        (void)::connect(socket.get(), static_cast<const sockaddr*>(static_cast<const void*>(&six)), sizeof six);
    } else {
        (void)inet_pton(AF_INET, host.c_str(), &four.sin_addr);
        (void)::connect(socket.get(), static_cast<const sockaddr*>(static_cast<const void*>(&four)), sizeof four);
    }
}

}  // namespace

struct Prometheus::Server {
    Server(const PrometheusOptions& options)
        : last(std::make_shared<LastLook>(options.thresholds)),
          totals(*registry, options.version),
          http(options.address, server_threads) {
        http.RegisterCollectable(registry);
        http.RegisterCollectable(last);
    }

    std::shared_ptr<prometheus::Registry> registry = std::make_shared<prometheus::Registry>();
    std::shared_ptr<LastLook> last;
    Totals totals;
    prometheus::Exposer http;  // last: its threads read what is above
};

Result<std::unique_ptr<Prometheus>> Prometheus::make(PrometheusOptions options) {
    try {
        auto server = std::make_unique<Server>(options);
        return std::unique_ptr<Prometheus>(new Prometheus(std::move(server), std::move(options)));
    } catch (const std::exception&) {  // the library's way to say it; it does not say why
        return fail(ErrorKind::failed, "evictd.httpAddress", options.address + " cannot be listened on",
                    "choose an address of this host and a port that is free");
    }
}

Prometheus::Prometheus(std::unique_ptr<Server> server, PrometheusOptions options)
    : server_(std::move(server)), address_(std::move(options.address)), losses_(std::move(options.losses)) {}

// The library looks every two seconds whether it should end, or when somebody connects: a node is not left unwatched
// for that long.
Prometheus::~Prometheus() {
    const int port = this->port();
    std::atomic<bool> ended = false;
    std::thread ending([&] {
        server_.reset();
        ended = true;
    });
    while (!ended) {
        knock(address_, port);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ending.join();
}

void Prometheus::publish(const RecordPtr& record) {
    if (const auto* tick = std::get_if<Tick>(record.get())) {
        server_->totals.add(*tick);
        server_->last->set(record);
        if (losses_) {
            server_->totals.set_lost(losses_());
        }
    }
}

int Prometheus::port() const { return server_->http.GetListeningPorts().front(); }

}  // namespace evictd::publish
