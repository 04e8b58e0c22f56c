// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "publish/prometheus_gauges.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <set>
#include <string>
#include <utility>

namespace evictd::publish {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;

MetricFamily family(std::string name, std::string help) {
    return {.name = std::move(name), .help = std::move(help), .type = prometheus::MetricType::Gauge, .metric = {}};
}

void add(MetricFamily& family, std::vector<ClientMetric::Label> labels, double value) {
    ClientMetric metric;
    metric.label = std::move(labels);
    metric.gauge.value = value;
    family.metric.push_back(std::move(metric));
}

double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }
double number(std::int64_t value) { return static_cast<double>(value); }

void add_signals(const Tick& tick, std::vector<MetricFamily>& all) {
    auto available =
        family("evictd_signal_available", "What is available, in the signal's unit: bytes, inodes or pids");
    auto capacity = family("evictd_signal_capacity", "Of how much, in the signal's unit");
    auto reclaimable =
        family("evictd_signal_reclaimable_bytes", "What the kernel could really give, beside the kubelet's formula");
    for (const auto& row : signal_table) {
        const auto& reading = tick.observation.readings.at(static_cast<std::size_t>(row.signal));
        if (!reading) {
            continue;
        }
        const ClientMetric::Label label{"signal", std::string(row.name)};
        add(available, {label}, number(reading->available.value));
        add(capacity, {label}, number(reading->capacity.value));
        if (reading->memory) {
            add(reclaimable, {label}, number(reading->memory->reclaimable.value));
        }
    }
    all.insert(all.end(), {std::move(available), std::move(capacity), std::move(reclaimable)});
}

void add_thresholds(const Tick& tick, const std::vector<Threshold>& thresholds, std::vector<MetricFamily>& all) {
    auto lines = family("evictd_threshold", "Below this a pod is evicted, in the signal's unit");
    for (const auto& threshold : thresholds) {
        const auto& reading = tick.observation.readings.at(static_cast<std::size_t>(threshold.signal));
        if (reading && threshold.time_left == Duration::zero()) {
            add(lines, {{"signal", std::string(name(threshold.signal))}, {"kind", threshold.hard() ? "hard" : "soft"}},
                number(quantity_of(threshold.value, reading->capacity).value));
        }
    }
    all.push_back(std::move(lines));
}

void add_conditions(const Tick& tick, const std::vector<Threshold>& thresholds, std::vector<MetricFamily>& all) {
    const auto& now = tick.decision.conditions;
    std::set<Condition> possible(now.begin(), now.end());
    for (const auto& threshold : thresholds) {
        possible.insert(traits(threshold.signal).condition);
    }
    auto conditions = family("evictd_node_condition", "1 while the node has it, as the kubelet would report it");
    for (const auto condition : possible) {
        add(conditions, {{"condition", std::string(name(condition))}},
            std::find(now.begin(), now.end(), condition) != now.end() ? 1 : 0);
    }
    all.push_back(std::move(conditions));
}

void add_stalls(const Tick& tick, std::vector<MetricFamily>& all) {
    auto stalls = family("evictd_stall_ratio", "The part of the window in which the node's tasks stalled");
    const auto add_kind = [&](const NodeStall& stall, StallKind kind, const std::optional<StallTimes>& times) {
        for (std::size_t i = 0; times && i < times->size(); i++) {
            const auto window = static_cast<StallWindow>(i);
            add(stalls,
                {{"resource", std::string(name(stall.resource))},
                 {"kind", std::string(name(kind))},
                 {"window", std::string(name(window))}},
                seconds(times->at(i)) / seconds(length(window)));
        }
    };
    for (const auto& stall : tick.observation.stalls) {
        add_kind(stall, StallKind::some, stall.some);
        add_kind(stall, StallKind::full, stall.full);
    }
    all.push_back(std::move(stalls));
}

void add_exhaustion(const Tick& tick, const std::vector<Threshold>& thresholds, std::vector<MetricFamily>& all) {
    constexpr auto never = std::numeric_limits<double>::infinity();
    const auto& decision = tick.decision;
    auto memory = family("evictd_memory_exhaustion_seconds",
                         "Time until memory is used up at the current rate; +Inf: not within the next hour");
    add(memory, {}, decision.exhaustion ? seconds(decision.exhaustion->left) : never);
    auto disks = family("evictd_disk_exhaustion_seconds",
                        "Time until a signal on disk reaches its next threshold at the current rate; where all are "
                        "crossed, until nothing is left; +Inf: not within the next hour");
    for (const auto& row : signal_table) {
        const auto& reading = tick.observation.readings.at(static_cast<std::size_t>(row.signal));
        const auto names_it = [&](const Threshold& threshold) { return threshold.signal == row.signal; };
        if (row.condition != Condition::disk_pressure || std::none_of(thresholds.begin(), thresholds.end(), names_it) ||
            !reading)
            continue;
        const auto found = std::find_if(decision.disk_exhaustion.begin(), decision.disk_exhaustion.end(),
                                        [&](const DiskExhaustion& one) { return one.signal == row.signal; });
        const double left = found == decision.disk_exhaustion.end() ? never : seconds(found->left);
        add(disks, {{"signal", std::string(row.name)}}, reading->available.value <= 0 ? 0 : left);
    }
    all.insert(all.end(), {std::move(memory), std::move(disks)});
}

}  // namespace

std::vector<MetricFamily> gauges_of(const Tick& tick, const std::vector<Threshold>& thresholds) {
    std::vector<MetricFamily> all;
    add_signals(tick, all);
    add_thresholds(tick, thresholds, all);
    add_conditions(tick, thresholds, all);
    add_stalls(tick, all);
    add_exhaustion(tick, thresholds, all);
    auto pods = family("evictd_pods", "Pods that are known, by whether a process of theirs runs");
    const auto& observed = tick.observation.pods;
    const auto running = std::count_if(observed.begin(), observed.end(), [](const auto& pod) { return pod.populated; });
    add(pods, {{"running", "true"}}, number(running));
    add(pods, {{"running", "false"}}, number(std::ssize(observed) - running));
    auto victims = family("evictd_victims", "Pods that are being evicted now");
    add(victims, {}, number(std::ssize(tick.decision.in_flight)));
    auto owed = family("evictd_memory_not_returned_bytes",
                       "What pods without a process still hold after their eviction, as far as it is known");
    double bytes = 0;
    for (const auto& one : tick.decision.owed) {
        bytes += one.overdue && one.left ? number(one.left->value) : 0;
    }
    add(owed, {}, bytes);
    all.insert(all.end(), {std::move(pods), std::move(victims), std::move(owed)});
    return all;
}

}  // namespace evictd::publish
