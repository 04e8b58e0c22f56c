// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// No kubelet does this: nothing here has a model upstream.
#include "shed.hpp"

#include <algorithm>

#include "evictd/model/signal.hpp"
#include "rank.hpp"

namespace evictd::policy {
namespace {

bool short_of_memory(const State& state) {
    return std::any_of(state.first_observed.begin(), state.first_observed.end(), [](const FirstObserved& met) {
        return traits(met.threshold.signal).condition == Condition::memory_pressure;
    });
}

}  // namespace

// The order is made anew, also where the decision has it: in that one the pod chosen a moment ago is no victim yet.
std::vector<ShedPod> pods_to_shed(const EvictionConfig& config, const Observation& observation, const State& state) {
    std::vector<ShedPod> shed;
    // Without usage the head of the order is a matter of chance.
    if (!config.shed_sockets || observation.usage_unknown || !short_of_memory(state)) return shed;
    const auto places = static_cast<std::int64_t>(config.shed_pods) - static_cast<std::int64_t>(state.in_flight.size());
    if (places <= 0) return shed;
    for (const auto& ranked : rank_pods(config, Signal::memory_available, observation, state)) {
        if (static_cast<std::int64_t>(shed.size()) >= places) break;
        const ObservedPod& observed = observation.pods[ranked.pod];
        if (ranked.exemption != Exemption::none || !observed.populated) continue;
        shed.push_back({observed.pod->uid, observed.pod->full_name(), observed.cgroup});
    }
    return shed;
}

}  // namespace evictd::policy
