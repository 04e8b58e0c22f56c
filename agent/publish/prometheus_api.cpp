// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "publish/prometheus_api.hpp"

#include <chrono>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

namespace evictd::publish {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

MetricFamily api_family(std::string name, std::string help, MetricType type) {
    return {.name = std::move(name), .help = std::move(help), .type = type, .metric = {}};
}

void count(MetricFamily& family, std::vector<ClientMetric::Label> labels, std::uint64_t value) {
    ClientMetric metric;
    metric.label = std::move(labels);
    metric.counter.value = static_cast<double>(value);
    family.metric.push_back(std::move(metric));
}

double in_seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

// The code of a request without an answer is client-go's word for it (rest_client_requests_total).
MetricFamily requests(const ApiFigures& figures) {
    auto all = api_family("evictd_api_requests_total", "Requests to the API server, by method and the answer's code",
                          MetricType::Counter);
    for (const auto& row : figures.requests) {
        count(all, {{"method", row.method}, {"code", row.code == 0 ? "<error>" : std::to_string(row.code)}}, row.count);
    }
    return all;
}

MetricFamily durations(const ApiFigures& figures) {
    auto family = api_family("evictd_api_request_duration_seconds",
                             "From a request to the end of its answer; without watches", MetricType::Histogram);
    ClientMetric metric;
    std::uint64_t so_far = 0;
    for (std::size_t i = 0; i < figures.durations.size(); i++) {
        so_far += figures.durations.at(i);
        const bool is_last = i == ApiFigures::bounds.size();
        metric.histogram.bucket.push_back(
            {.cumulative_count = so_far,
             .upper_bound = is_last ? std::numeric_limits<double>::infinity() : ApiFigures::bounds.at(i)});
    }
    metric.histogram.sample_count = so_far;
    metric.histogram.sample_sum = in_seconds(figures.time_spent);
    family.metric.push_back(std::move(metric));
    return family;
}

void add_pod_statuses(const PodStatusFigures& figures, std::vector<MetricFamily>& all) {
    auto results = api_family("evictd_pod_status_requests_total", "Requests that end pods, by what came of them",
                              MetricType::Counter);
    for (std::size_t i = 0; i < figures.results.size(); i++) {
        count(results, {{"result", std::string(name(static_cast<PodStatusResult>(i)))}}, figures.results.at(i));
    }
    auto retries = api_family("evictd_pod_status_retries_total",
                              "Requests that end pods and were sent again for want of an answer", MetricType::Counter);
    count(retries, {}, figures.retries);
    auto waiting = api_family("evictd_pod_status_waiting", "Pods whose end the API server has not confirmed yet",
                              MetricType::Gauge);
    ClientMetric metric;
    metric.gauge.value = static_cast<double>(figures.waiting);
    waiting.metric.push_back(std::move(metric));
    all.insert(all.end(), {std::move(results), std::move(retries), std::move(waiting)});
}

// One that has not answered yet is as old as anything.
MetricFamily ages(const std::vector<PodSourceState>& sources, MonotonicTime now) {
    auto family = api_family("evictd_pod_source_age_seconds",
                             "Since a server that pods come from was last heard; +Inf: never", MetricType::Gauge);
    for (const auto& source : sources) {
        ClientMetric metric;
        metric.label = {{"source", source.name}};
        metric.gauge.value =
            source.heard_at ? in_seconds(now - *source.heard_at) : std::numeric_limits<double>::infinity();
        family.metric.push_back(std::move(metric));
    }
    return family;
}

}  // namespace

std::vector<MetricFamily> api_families(const ApiUse& use, const std::vector<PodSourceState>& sources,
                                       MonotonicTime now) {
    std::vector<MetricFamily> all;
    if (sources.empty()) return all;
    auto dropped = api_family("evictd_api_requests_dropped_total",
                              "Requests that were not sent, because too many waited", MetricType::Counter);
    count(dropped, {}, use.requests.dropped);
    all.insert(all.end(), {requests(use.requests), durations(use.requests), std::move(dropped), ages(sources, now)});
    add_pod_statuses(use.pods, all);
    return all;
}

}  // namespace evictd::publish
