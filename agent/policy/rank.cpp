// SPDX-License-Identifier: Apache-2.0
// Follows eviction/helpers.go: rankMemoryPressure with exceedMemoryRequests, priority and memory. One allocation, the
// ranking itself: every key a comparison needs is computed once, before the sort.
#include "rank.hpp"

#include <algorithm>
#include <array>

#include "qos.hpp"
#include "requests.hpp"

namespace evictd::policy {
namespace {

// Steps of a comparator chain: negative, the first pod goes first.
using Step = int (*)(const RankedPod&, const RankedPod&);

// cmpBool: true goes first.
constexpr int true_first(bool a, bool b) { return a == b ? 0 : a ? -1 : 1; }

int without_usage_first(const RankedPod& a, const RankedPod& b) { return true_first(!a.has_usage, !b.has_usage); }

int exceeding_first(const RankedPod& a, const RankedPod& b) { return true_first(a.exceeds_request, b.exceeds_request); }

int lower_priority_first(const RankedPod& a, const RankedPod& b) {
    return a.priority == b.priority ? 0 : a.priority < b.priority ? -1 : 1;
}

// usage - request, the larger first; rearranged so that no difference can overflow what a Quantity holds.
int most_over_request_first(const RankedPod& a, const RankedPod& b) {
    if (!a.has_usage || !b.has_usage) return 0;
    const auto over_a = Quantity::of(a.usage.value).nano() - Quantity::of(a.request.value).nano();
    const auto over_b = Quantity::of(b.usage.value).nano() - Quantity::of(b.request.value).nano();
    return over_a == over_b ? 0 : over_a > over_b ? -1 : 1;
}

// Not Kubernetes: upstream leaves this open. The newer pod has the least work to lose; without a time it has not begun.
bool newer_first(const Pod& a, const Pod& b) {
    const auto begun = [](const Pod& pod) { return pod.start_time ? pod.start_time : pod.creation_time; };
    const auto begun_a = begun(a);
    const auto begun_b = begun(b);
    if (begun_a != begun_b) return !begun_a || (begun_b && *begun_a > *begun_b);
    return a.uid < b.uid;
}

template <Step... steps>
void sort_by(std::vector<RankedPod>& ranking, const Observation& observation) {
    std::sort(ranking.begin(), ranking.end(), [&](const RankedPod& a, const RankedPod& b) {
        int order = 0;
        (void)(((order = steps(a, b)) != 0) || ...);
        if (order != 0) return order < 0;
        return newer_first(*observation.pods[a.pod].pod, *observation.pods[b.pod].pod);
    });
}

void measure_memory(const ObservedPod& observed, RankedPod& ranked) {
    const Quantity request = pod_request(*observed.pod, &ResourceList::memory);
    ranked.request = Amount{request.value()};
    if (!observed.usage) return;
    ranked.has_usage = true;
    ranked.usage = Amount{observed.usage->working_set.value};
    ranked.exceeds_request = Quantity::of(ranked.usage.value) > request;
}

// buildSignalToRankFunc. A new signal is a new row.
struct RankRow {
    Signal signal;
    void (*measure)(const ObservedPod&, RankedPod&);
    void (*sort)(std::vector<RankedPod>&, const Observation&);
};
constexpr auto sort_by_memory =
    sort_by<without_usage_first, exceeding_first, lower_priority_first, most_over_request_first>;
constexpr std::array rank_table{
    RankRow{Signal::memory_available, measure_memory, sort_by_memory},
    RankRow{Signal::allocatable_memory_available, measure_memory, sort_by_memory},
};

const RankRow* find_row(Signal signal) {
    const auto* const row = std::find_if(rank_table.begin(), rank_table.end(),
                                         [&](const RankRow& candidate) { return candidate.signal == signal; });
    return row == rank_table.end() ? nullptr : row;
}

bool terminal(const Pod& pod) { return pod.phase == PodPhase::succeeded || pod.phase == PodPhase::failed; }

// filterOutInactivePods: what has ended, or was deleted, and runs nothing any more is no pod of this node. One we
// evicted has ended too, though its source may not know yet.
bool is_active(const ObservedPod& observed, const State& state) {
    if (!observed.pod) return false;
    if (observed.populated) return true;
    if (terminal(*observed.pod) || observed.pod->deletion_time) return false;
    return std::find(state.evicted.begin(), state.evicted.end(), observed.pod->uid) == state.evicted.end();
}

// The reasons that cannot change come before those that can.
Exemption exemption_of(const ObservedPod& observed, const State& state) {
    const Pod& pod = *observed.pod;
    if (pod.origin == PodOrigin::static_file) return Exemption::static_pod;
    if (pod.origin == PodOrigin::mirror) return Exemption::mirror;
    if (is_critical_pod(pod)) return Exemption::critical;
    for (const auto& flight : state.in_flight) {
        if (flight.victim.pod == pod.uid) return Exemption::in_flight;
    }
    if (!observed.populated || observed.cgroup == CgroupId{}) return Exemption::no_cgroup;
    for (const auto& entry : state.passed_over) {
        if (entry.pod == pod.uid && entry.cgroup == observed.cgroup) return Exemption::failed_before;
    }
    return Exemption::none;
}

}  // namespace

bool has_ranking(Signal signal) { return find_row(signal) != nullptr; }

std::vector<RankedPod> rank_pods(Signal signal, const Observation& observation, const State& state) {
    const RankRow* row = find_row(signal);
    if (row == nullptr) row = rank_table.data();
    std::vector<RankedPod> ranking;
    ranking.reserve(observation.pods.size());
    for (std::size_t i = 0; i < observation.pods.size(); ++i) {
        const ObservedPod& observed = observation.pods[i];
        if (!is_active(observed, state)) continue;
        RankedPod& ranked = ranking.emplace_back();
        ranked.pod = static_cast<std::uint32_t>(i);
        ranked.exemption = exemption_of(observed, state);
        ranked.qos = qos_class(*observed.pod);
        ranked.priority = priority_of(*observed.pod);
        row->measure(observed, ranked);
    }
    row->sort(ranking, observation);
    return ranking;
}

}  // namespace evictd::policy
