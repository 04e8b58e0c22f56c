// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "observe/observed_pods.hpp"

#include <algorithm>

namespace evictd::observe {
namespace {

// Pods. What 8 of them take here is about what memory takes to answer.
constexpr std::size_t prefetch_ahead = 8;

// One row of the pass added to the pod it lies in.
void add(PodUsage& usage, const port::CgroupUsage& row) {
    usage.working_set = usage.working_set - row.inactive_file;
    usage.anon += row.anon;
    usage.file += row.inactive_file + row.active_file;
    usage.processes += row.processes;
}

}  // namespace

port::RootCount counted_cache(const std::vector<port::CgroupUsage>& rows, MonotonicTime at) {
    port::RootCount counted{.inactive_file = {}, .active_file = {}, .at = at};
    for (const auto& row : rows) {
        counted.inactive_file += row.inactive_file;
        counted.active_file += row.active_file;
    }
    return counted;
}

// Reclaimable slab is not counted: only memory.stat has it by cgroup, and reading that makes the kernel flush its
// counters. So this errs on the side of less.
Reading allocatable_reading(const port::CgroupUsage& root, const port::RootCount& cache, Bytes node_total) {
    const Bytes limit = root.limit.value_or(node_total);
    const Bytes working_set = std::max(Bytes{0}, root.usage - cache.inactive_file);
    const Bytes available = std::max(Bytes{0}, limit - working_set);
    const Bytes reclaimable = std::max(Bytes{0}, limit - std::max(Bytes{0}, working_set - cache.active_file));
    // capacity as makeSignalObservations has it: available plus working set
    return {.available = {available.value},
            .capacity = {(available + working_set).value},
            .at = cache.at,
            .memory = AvailableMemory{.kubelet = available, .reclaimable = reclaimable}};
}

std::vector<ObservedPod> observed_pods(const std::vector<port::CgroupUsage>& rows, const PodTable& table) {
    std::vector<ObservedPod> pods;
    pods.reserve(table.rows().size());
    for (std::size_t i = 0; i < table.rows().size(); i++) {
        const auto& row = table.rows()[i];
        // Who holds a pod is counted right before it (std::make_shared).
        if (const auto ahead = i + prefetch_ahead; ahead < table.rows().size()) {
            __builtin_prefetch(reinterpret_cast<const char*>(table.rows()[ahead].pod.get()) - 1, 1);
        }
        pods.push_back(ObservedPod{.pod = row.pod,
                                   .usage = std::nullopt,
                                   .cgroup = row.cgroup_id,
                                   .populated = false,
                                   .emptied_at = row.emptied_at,
                                   .stall = std::nullopt,
                                   .holds_us = row.holds_us,
                                   .arrived_at = row.arrived_at,
                                   .departed = row.departed});
    }
    PodUsage* current = nullptr;
    std::int32_t level = 0;
    std::size_t near = 0;
    for (const auto& row : rows) {
        if (const auto pod = table.row_of(row.id, near)) {
            current = &pods[*pod].usage.emplace(PodUsage{.usage = row.usage, .working_set = row.usage});
            pods[*pod].stall = row.stall;
            pods[*pod].populated = row.populated;
            level = row.level;
        } else if (row.level <= level) {
            current = nullptr;
        }
        if (current != nullptr) {
            add(*current, row);
        }
    }
    for (auto& pod : pods) {
        if (pod.usage) {
            pod.usage->working_set = std::max(Bytes{0}, pod.usage->working_set);
        }
    }
    return pods;
}

}  // namespace evictd::observe
