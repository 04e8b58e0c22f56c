// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What one decide() costs on the kill path: idle and evicting, with the pods of a stock node (110) and with 1,000.
// The observation is made beforehand; making it is measured elsewhere.
#include <memory>
#include <string>

#include <benchmark/benchmark.h>

#include "policy/decide.hpp"

namespace evictd {
namespace {

ObservedPod bench_pod(std::int64_t number) {
    auto pod = std::make_shared<Pod>();
    pod->uid = {"5f0c3b1e-0000-4000-8000-" + std::to_string(100'000'000'000 + number)};
    pod->name_space = "default";
    pod->name = "pod-" + std::to_string(number);
    pod->priority = static_cast<std::int32_t>(number * 7919 % 5);
    pod->start_time = WallTime(std::chrono::seconds(number % 3));
    for (int i = 0; i < 2; ++i) {
        Container container;
        container.name = "container-" + std::to_string(i);
        container.requests.memory = Quantity::of((64_MiB).value * (number % 4), Quantity::Format::binary_si);
        pod->containers.push_back(container);
    }
    ObservedPod observed;
    observed.pod = std::move(pod);
    const Bytes working_set{number * 7919 % 512 << 20};
    observed.usage = PodUsage{working_set, working_set, working_set, 0_B, 3};
    observed.cgroup = {static_cast<std::uint64_t>(1000 + number)};
    observed.populated = true;
    return observed;
}

void decide(benchmark::State& state, Bytes available, bool equals = false) {
    EvictionConfig config;
    const auto value = Quantity::of((100_MiB).value, Quantity::Format::binary_si);
    config.thresholds = {{Signal::memory_available, {value}, {}, {}},
                         {Signal::allocatable_memory_available, {value}, {}, {}}};
    Observation observation;
    observation.at = MonotonicTime(std::chrono::hours(1));
    observation.readings[0] = Reading{{available.value}, {(32_GiB).value}, observation.at};
    observation.readings[1] = Reading{{(8_GiB).value}, {(24_GiB).value}, observation.at};
    for (std::int64_t i = 0; i < state.range(0); ++i) {
        observation.pods.push_back(bench_pod(i));
        if (!equals) continue;
        auto same = std::make_shared<Pod>(*observation.pods.back().pod);
        same->priority = 0;
        same->containers.clear();
        observation.pods.back().pod = std::move(same);
        observation.pods.back().usage = observation.pods.front().usage;
    }
    const State before;
    for (auto _ : state) benchmark::DoNotOptimize(policy::decide(config, observation, before));
}

void decide_idle(benchmark::State& state) { decide(state, 4_GiB); }
void decide_evicting(benchmark::State& state) { decide(state, 96_MiB); }

// The worst case for the order: every pod is as good as any other, and ReplicaSet's rules have to decide.
void decide_equals(benchmark::State& state) { decide(state, 96_MiB, true); }

BENCHMARK(decide_idle)->Arg(110)->Arg(1000)->Arg(10000)->Unit(benchmark::kMicrosecond);
BENCHMARK(decide_evicting)->Arg(110)->Arg(1000)->Arg(10000)->Unit(benchmark::kMicrosecond);
BENCHMARK(decide_equals)->Arg(110)->Arg(1000)->Arg(10000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace evictd
