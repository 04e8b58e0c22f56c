// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "replay/node_figures.hpp"

#include <algorithm>

namespace evictd::replay {
namespace {

constexpr std::size_t place(Signal signal) { return static_cast<std::size_t>(signal); }

// Sums stay so small that a few of them can be added up again.
std::int64_t sum(std::int64_t a, std::int64_t b) { return std::min(a + b, 2 * most_of_anything); }

// On one filesystem. nodefs itself and what is no filesystem read as themselves.
constexpr Signal on_node_filesystem(Signal signal) {
    switch (signal) {
        case Signal::imagefs_available:
        case Signal::containerfs_available:
            return Signal::nodefs_available;
        case Signal::imagefs_inodes_free:
        case Signal::containerfs_inodes_free:
            return Signal::nodefs_inodes_free;
        default:
            return signal;
    }
}

bool is_on_disk(const Pod& pod, const std::string& volume) {
    const auto found = std::find_if(pod.volumes.begin(), pod.volumes.end(),
                                    [&](const Volume& candidate) { return candidate.name == volume; });
    return found == pod.volumes.end() || !found->in_memory;
}

// A single container without figures of its own has the pod's, whatever init containers stand beside it.
void add_single_container(const std::string& name, PodUsage& usage) {
    const bool known = std::any_of(usage.containers.begin(), usage.containers.end(),
                                   [&](const ContainerUsage& candidate) { return candidate.name == name; });
    if (!known) usage.containers.push_back({name, usage.working_set, usage.disk.rootfs, usage.disk.logs});
}

std::optional<Bytes> bytes(Figure figure) { return figure ? std::optional(Bytes{*figure}) : std::nullopt; }

}  // namespace

Signal NodeSignals::source_of(Signal signal) const {
    return given_[place(signal)] || images_apart_ ? signal : on_node_filesystem(signal);
}

void NodeSignals::apply(const std::vector<SignalChange>& changes, const std::vector<SignalChange>& reclaimable) {
    for (const auto& [signal, amount] : reclaimable) reclaimable_[place(signal)] = amount;
    for (const auto& [signal, amount] : changes) {
        given_[place(signal)] = true;
        available_[place(signal)] = amount;
    }
    for (const auto& row : signal_table) {
        const Signal source = source_of(row.signal);
        const bool said = std::any_of(changes.begin(), changes.end(),
                                      [&](const SignalChange& change) { return change.first == source; });
        if (said) freed_[place(row.signal)] = 0;
    }
}

void NodeSignals::add_freed(const std::vector<std::pair<Signal, std::int64_t>>& amounts) {
    for (const auto& [signal, amount] : amounts) freed_[place(signal)] = sum(freed_[place(signal)], amount);
}

std::optional<Reading> NodeSignals::reading_of(Signal signal) const {
    const Signal source = source_of(signal);
    const Figure available = available_[place(source)];
    if (!available) return std::nullopt;
    Reading reading;
    reading.available.value = sum(*available, freed_[place(source)]);
    if (source != signal) reading.available.value = sum(reading.available.value, freed_[place(signal)]);
    // What reads as nodefs has its capacity too: a figure of its own would be that of another filesystem.
    Figure capacity = capacity_[place(source)];
    if (!capacity && !images_apart_) capacity = capacity_[place(on_node_filesystem(signal))];
    reading.capacity.value = capacity.value_or(reading.available.value);
    if (const Figure reclaimable = reclaimable_[place(signal)]) {
        reading.memory = AvailableMemory{.kubelet = {reading.available.value},
                                         .reclaimable = {sum(*reclaimable, freed_[place(signal)])}};
    }
    return reading;  // without a time: every step is a look of its own, with stats of its own
}

Readings NodeSignals::readings() const {
    Readings readings;
    for (const auto& row : signal_table) readings[place(row.signal)] = reading_of(row.signal);
    return readings;
}

void PodFigures::apply(const UsageChange& change) {
    if (change.forget) *this = {};
    known_ = !change.forget;
    for (const auto& [key, figure] : change.figures) figures_[static_cast<std::size_t>(key)] = figure;
    for (const ContainerUsageChange& container : change.containers) {
        auto found = std::find_if(containers_.begin(), containers_.end(),
                                  [&](const ContainerFigures& known) { return known.name == container.name; });
        if (found == containers_.end()) found = containers_.insert(found, {container.name, {}});
        for (const auto& [key, figure] : container.figures) found->figures[static_cast<std::size_t>(key)] = figure;
    }
    for (const auto& [name, figure] : change.empty_dirs) {
        auto found = std::find_if(empty_dirs_.begin(), empty_dirs_.end(),
                                  [&name = name](const auto& known) { return known.first == name; });
        if (found == empty_dirs_.end()) found = empty_dirs_.insert(found, {name, {}});
        found->second = figure;
    }
}

std::int64_t PodFigures::of(UsageKey key) const { return figures_[static_cast<std::size_t>(key)].value_or(0); }

std::int64_t PodFigures::of_containers(UsageKey own, ContainerKey key) const {
    if (const Figure figure = figures_[static_cast<std::size_t>(own)]) return *figure;
    std::int64_t total = 0;
    for (const ContainerFigures& container : containers_) {
        total = sum(total, container.figures[static_cast<std::size_t>(key)].value_or(0));
    }
    return total;
}

std::int64_t PodFigures::volumes(const Pod& pod) const {
    if (const Figure figure = figures_[static_cast<std::size_t>(UsageKey::volumes)]) return *figure;
    std::int64_t total = of(UsageKey::host_path);
    for (const auto& [name, figure] : empty_dirs_) {
        if (is_on_disk(pod, name)) total = sum(total, figure.value_or(0));
    }
    return total;
}

std::optional<PodUsage> PodFigures::usage(const Pod& pod) const {
    if (!known_) return std::nullopt;
    PodUsage usage;
    const Bytes memory{of_containers(UsageKey::memory, ContainerKey::memory)};
    usage.usage = memory;
    usage.working_set = memory;
    usage.anon = memory;
    usage.processes = static_cast<std::int32_t>(of(UsageKey::pids));
    usage.disk = {.rootfs = {of_containers(UsageKey::rootfs, ContainerKey::rootfs)},
                  .logs = {of_containers(UsageKey::logs, ContainerKey::logs)},
                  .volumes = {volumes(pod)},
                  .host_path = {of(UsageKey::host_path)},
                  .rootfs_inodes = of(UsageKey::rootfs_inodes),
                  .logs_inodes = of(UsageKey::logs_inodes),
                  .volumes_inodes = of(UsageKey::volumes_inodes),
                  .empty_dirs = {}};
    for (const auto& [name, figure] : empty_dirs_) {
        if (figure) usage.disk.empty_dirs.push_back({name, {*figure}});
    }
    for (const ContainerFigures& container : containers_) {
        const auto& [memory_figure, rootfs, logs] = container.figures;
        usage.containers.push_back({container.name, bytes(memory_figure), bytes(rootfs), bytes(logs)});
    }
    if (pod.containers.size() == 1) add_single_container(pod.containers.front().name, usage);
    return usage;
}

}  // namespace evictd::replay
