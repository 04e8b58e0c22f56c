// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Follows eviction/helpers.go: rankMemoryPressure, rankPIDPressure and rankDiskPressureFunc with their comparators.
// Every key a comparison needs is computed once, before the sort, and a chain of comparators is one number.
#include "rank.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "ended_pods.hpp"
#include "evictd/model/pod_requests.hpp"
#include "grace.hpp"
#include "owed.hpp"
#include "prefetch.hpp"
#include "qos.hpp"
#include "rank_key.hpp"
#include "tie_breaker.hpp"

namespace evictd::policy {
namespace {

enum class Measure : std::uint8_t { memory, processes, disk_bytes, disk_inodes };
enum class Filesystem : std::uint8_t { node, image, container };

struct RankRow {
    Signal signal;
    Measure measure;
    Filesystem filesystem;  // of a measure on disk
};
constexpr std::array<RankRow, signal_count> rank_table{{
    {Signal::memory_available, Measure::memory, Filesystem::node},
    {Signal::allocatable_memory_available, Measure::memory, Filesystem::node},
    {Signal::nodefs_available, Measure::disk_bytes, Filesystem::node},
    {Signal::nodefs_inodes_free, Measure::disk_inodes, Filesystem::node},
    {Signal::imagefs_available, Measure::disk_bytes, Filesystem::image},
    {Signal::imagefs_inodes_free, Measure::disk_inodes, Filesystem::image},
    {Signal::containerfs_available, Measure::disk_bytes, Filesystem::container},
    {Signal::containerfs_inodes_free, Measure::disk_inodes, Filesystem::container},
    {Signal::pid_available, Measure::processes, Filesystem::node},
    {Signal::allocatable_nodefs_available, Measure::disk_bytes, Filesystem::node},
}};
static_assert([] {
    for (std::size_t i = 0; i < rank_table.size(); ++i) {
        if (rank_table[i].signal != static_cast<Signal>(i)) return false;
    }
    return true;
}());

// What of a pod lies on a filesystem; images are nobody's.
struct DiskParts {
    bool rootfs;
    bool logs_and_volumes;
};
constexpr DiskParts all_parts{true, true};
constexpr DiskParts no_parts{false, false};
// By FsLayout and Filesystem.
constexpr std::array<std::array<DiskParts, 3>, 4> parts_table{{
    {all_parts, all_parts, all_parts},                // unknown: as single
    {all_parts, all_parts, all_parts},                // single
    {{{false, true}, {true, false}, {true, false}}},  // dedicated_image_fs
    {all_parts, no_parts, all_parts},                 // split
}};

// In the signal's unit, and exact: sums and fractions may be beyond what an Amount holds.
struct Measured {
    Int128 usage = 0;
    Quantity request;       // to be exceeded
    Int128 subtracted = 0;  // from the usage, for the last comparator, in nano units
};

Int128 sum_of(DiskParts parts, std::int64_t rootfs, std::int64_t logs, std::int64_t volumes) {
    return (parts.rootfs ? Int128{rootfs} : 0) + (parts.logs_and_volumes ? Int128{logs} + volumes : 0);
}

DiskParts parts_of(const RankRow& row, FsLayout layout) {
    return parts_table[static_cast<std::size_t>(layout)][static_cast<std::size_t>(row.filesystem)];
}

Int128 kept_of(const RankRow& row, FsLayout layout, const DiskUsage& disk) {
    const DiskParts parts = parts_of(row, layout);
    if (row.measure == Measure::disk_inodes) {
        return sum_of(parts, disk.rootfs_inodes, disk.logs_inodes, disk.volumes_inodes);
    }
    return sum_of(parts, disk.rootfs.value, disk.logs.value, disk.volumes.value);
}

Measured measure(const RankRow& row, FsLayout layout, const ObservedPod& observed) {
    static const PodUsage unknown;
    const PodUsage& usage = observed.usage ? *observed.usage : unknown;
    const DiskUsage& disk = usage.disk;
    switch (row.measure) {
        case Measure::memory: {
            const Quantity request = pod_request(*observed.pod, &ResourceList::memory);
            return {usage.working_set.value, request, request.nano()};
        }
        case Measure::processes:
            return {usage.processes, {}, {}};
        case Measure::disk_bytes: {
            const Quantity request = pod_request(*observed.pod, &ResourceList::ephemeral_storage);
            return {kept_of(row, layout, disk), request, request.nano()};
        }
        case Measure::disk_inodes:
            // Nobody requests inodes, but the kubelet's last comparator subtracts the bytes requested all the same.
            return {
                kept_of(row, layout, disk), {}, pod_request(*observed.pod, &ResourceList::ephemeral_storage).nano()};
    }
    return {};
}

// The comparators before the last one, from the highest bit to the lowest. Without usage, or over the request: first.
std::uint64_t chain_of(const RankRow& row, RankingOrder order, const RankedPod& ranked) {
    const auto qos = order == RankingOrder::qos ? std::uint64_t{2} - static_cast<std::uint64_t>(ranked.qos) : 0;
    const std::uint64_t priority = static_cast<std::uint32_t>(ranked.priority) ^ 0x8000'0000U;  // signed to unsigned
    const std::uint64_t usage = ranked.has_usage ? 1 : 0;
    if (row.measure == Measure::processes) return qos << 33 | priority << 1 | usage;
    const std::uint64_t within = ranked.exceeds_request ? 0 : 1;
    return qos << 34 | usage << 33 | within << 32 | priority;
}

Amount amount_of(Int128 value) {
    constexpr Int128 most = std::numeric_limits<std::int64_t>::max();
    return {static_cast<std::int64_t>(std::min(value, most))};
}

RankKey rank_one(const RankRow& row, RankingOrder order, FsLayout layout, const ObservedPod& observed,
                 RankedPod& ranked) {
    ranked.qos = qos_class(*observed.pod);
    ranked.priority = priority_of(*observed.pod);
    ranked.has_usage = observed.usage.has_value();
    const Measured measured = measure(row, layout, observed);
    const Int128 usage = measured.usage * 1'000'000'000;
    ranked.usage = amount_of(measured.usage);
    ranked.request = Amount{measured.request.value()};
    ranked.exceeds_request = ranked.has_usage && row.measure != Measure::processes && usage > measured.request.nano();
    RankKey key;
    key.chain = chain_of(row, order, ranked);
    if (ranked.has_usage && __builtin_sub_overflow(measured.subtracted, usage, &key.spare)) {
        // Only a negative request is so far away.
        key.spare = static_cast<Int128>(UInt128{1} << 127);
    }
    return key;
}

// filterOutInactivePods: what has ended, or was deleted, and runs nothing any more is no pod of this node. One we
// evicted has ended too, though its source may not know yet.
bool is_active(const ObservedPod& observed, const State& state) {
    if (!observed.pod) return false;
    if (observed.populated) return true;
    if (!is_pod_active(*observed.pod)) return false;
    return is_overdue(observed, state) ||
           std::find(state.evicted.begin(), state.evicted.end(), observed.pod->uid) == state.evicted.end();
}

// A pod without processes has only memory to give back.
bool has_nothing_of(const RankRow& row, const ObservedPod& observed) {
    return !observed.populated && (row.measure != Measure::memory || !holds_memory_alone(observed));
}

// The reasons that cannot change come before those that can.
Exemption exemption_of(const RankRow& row, const EvictionConfig& config, const ObservedPod& observed,
                       const Observation& observation, const State& state) {
    const Pod& pod = *observed.pod;
    if (pod.origin == PodOrigin::static_file) return Exemption::static_pod;
    if (pod.origin == PodOrigin::mirror) return Exemption::mirror;
    if (is_critical_pod(pod)) return Exemption::critical;
    if (observed.holds_us) return Exemption::own_pod;
    for (const auto& flight : state.in_flight) {
        if (flight.victim.pod == pod.uid) return Exemption::in_flight;
    }
    if (is_ending(state, pod.uid)) return Exemption::in_flight;
    if (config.pod_statuses && is_being_deleted(pod, observation.wall, Duration::zero())) {
        return Exemption::terminating;
    }
    if (observed.cgroup == CgroupId{}) return Exemption::no_cgroup;
    if (has_nothing_of(row, observed)) return Exemption::no_processes;
    if (!observed.populated) return is_overdue(observed, state) ? Exemption::memory_not_returned : Exemption::none;
    for (const auto& entry : state.passed_over) {
        const bool same = entry.pod == pod.uid && entry.cgroup == observed.cgroup;
        if (same && observation.at < entry.until) return Exemption::failed_before;
    }
    return Exemption::none;
}

// What exempted a pod exempts it by every signal; only whether it has anything to give depends on the signal.
Exemption exemption_by(const RankRow& row, const ObservedPod& observed, Exemption decided,
                       const std::vector<Victim>& in_flight) {
    const auto is_it = [&](const Victim& victim) { return victim.pod == observed.pod->uid; };
    if (std::any_of(in_flight.begin(), in_flight.end(), is_it)) return Exemption::in_flight;
    const bool may_change =
        decided == Exemption::none || decided == Exemption::memory_not_returned || decided == Exemption::no_processes;
    if (!may_change) return decided;
    if (has_nothing_of(row, observed)) return Exemption::no_processes;
    return decided == Exemption::no_processes ? Exemption::none : decided;
}

// Active pods and their keys. One pass makes both: thousands of pods do not stay in the processor's caches.
class Rows {
public:
    Rows(const RankRow& row, const EvictionConfig& config, const Observation& observation, std::size_t most)
        : row_(row), config_(config), observation_(observation) {
        active_.reserve(most);
        keys_.reserve(most);
    }

    void add(std::uint32_t pod, Exemption exemption) {
        RankedPod& ranked = active_.emplace_back();
        ranked.pod = pod;
        ranked.exemption = exemption;
        keys_.push_back(rank_one(row_, config_.ranking, observation_.fs_layout, observation_.pods[pod], ranked));
    }

    [[nodiscard]] std::vector<RankedPod> in_order();

private:
    const RankRow& row_;
    const EvictionConfig& config_;
    const Observation& observation_;
    std::vector<RankedPod> active_;
    std::vector<RankKey> keys_;
};

std::vector<RankedPod> Rows::in_order() {
    const KeyOrder order = key_order(keys_);
    std::vector<RankedPod> ranking;
    ranking.reserve(order.positions.size());
    for (const auto position : order.positions) ranking.push_back(active_[position]);

    TieBreaker breaker(config_.tie_break, observation_);
    const auto tied = [&](std::size_t i) {
        return std::span(ranking).subspan(order.equals[i].begin, order.equals[i].count);
    };
    constexpr std::size_t ties_ahead = 16;  // mostly of two or a few pods
    for (std::size_t i = 0; i < order.equals.size(); ++i) {
        if (i + ties_ahead < order.equals.size()) breaker.prefetch(tied(i + ties_ahead));
        breaker.sort(tied(i));
    }
    return ranking;
}

}  // namespace

std::vector<RankedPod> rank_pods(const EvictionConfig& config, Signal signal, const Observation& observation,
                                 const State& state) {
    const RankRow& row = rank_table[static_cast<std::size_t>(signal)];
    Rows rows(row, config, observation, observation.pods.size());
    for (std::size_t i = 0; i < observation.pods.size(); ++i) {
        prefetch_ahead(observation.pods, i);
        const ObservedPod& observed = observation.pods[i];
        if (!is_active(observed, state)) continue;
        rows.add(static_cast<std::uint32_t>(i), exemption_of(row, config, observed, observation, state));
    }
    return rows.in_order();
}

std::vector<RankedPod> rank_again(const EvictionConfig& config, Signal signal, const Observation& observation,
                                  const Decision& decided) {
    const RankRow& row = rank_table[static_cast<std::size_t>(signal)];
    Rows rows(row, config, observation, decided.ranking.size());
    for (const auto& ranked : decided.ranking) {
        const ObservedPod& observed = observation.pods[ranked.pod];
        rows.add(ranked.pod, exemption_by(row, observed, ranked.exemption, decided.in_flight));
    }
    return rows.in_order();
}

std::int64_t kept_of(Signal signal, FsLayout layout, const DiskUsage& disk) {
    const Int128 kept = kept_of(rank_table[static_cast<std::size_t>(signal)], layout, disk);
    using Limits = std::numeric_limits<std::int64_t>;
    return static_cast<std::int64_t>(std::clamp<Int128>(kept, Limits::min(), Limits::max()));
}

}  // namespace evictd::policy
