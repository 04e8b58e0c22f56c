// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What one decide() costs on the kill path, idle and evicting: with 10 pods, the 110 of a stock node, 1,000 and
// 10,000. The observation is made beforehand; making it is measured elsewhere.
#include <memory>
#include <string>

#include <benchmark/benchmark.h>

#include "policy/decide.hpp"

namespace evictd {
namespace {

ObservedPod bench_pod(std::int64_t number) {
    Pod pod;
    pod.uid = {"5f0c3b1e-0000-4000-8000-" + std::to_string(100'000'000'000 + number)};
    pod.name_space = "default";
    pod.name = "pod-" + std::to_string(number);
    pod.priority = static_cast<std::int32_t>(number * 7919 % 5);
    pod.start_time = WallTime(std::chrono::seconds(number % 3));
    for (int i = 0; i < 2; ++i) {
        Container container;
        container.name = "container-" + std::to_string(i);
        container.requests.memory = Quantity::of((64_MiB).value * (number % 4), Quantity::Format::binary_si);
        pod.containers.push_back(container);
    }
    ObservedPod observed;
    observed.pod = make_pod(std::move(pod));
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
        Pod same = *observation.pods.back().pod;
        same.priority = 0;
        same.containers.clear();
        observation.pods.back().pod = make_pod(std::move(same));
        observation.pods.back().usage = observation.pods.front().usage;
    }
    const State before;
    for (auto _ : state) benchmark::DoNotOptimize(policy::decide(config, observation, before));
}

void decide_idle(benchmark::State& state) { decide(state, 4_GiB); }
void decide_evicting(benchmark::State& state) { decide(state, 96_MiB); }

// The worst case for the order: every pod is as good as any other, and ReplicaSet's rules have to decide.
void decide_equals(benchmark::State& state) { decide(state, 96_MiB, true); }

// A node that is short of disk: 500 containers, most of them dead, and 200 images are judged. Arg 0: that was done at
// an earlier look, and only carried along.
void decide_reclaiming(benchmark::State& state) {
    constexpr int pods = 250;
    auto runtime = std::make_shared<Runtime>();
    for (int i = 0; i < pods; ++i) {
        const std::string uid = "uid-" + std::to_string(i);
        RuntimeSandbox& sandbox = runtime->sandboxes.emplace_back();
        sandbox.id = std::string(58, 's') + std::to_string(100'000 + i);
        sandbox.pod = uid;
        sandbox.ready = i % 2 == 0;
        sandbox.name = "pod-" + std::to_string(i);
        sandbox.namespace_name = "default";
        for (int n = 0; n < 2; ++n) {
            RuntimeContainer& container = runtime->containers.emplace_back();
            container.id = std::string(57, 'c') + std::to_string(100'000 + i) + std::to_string(n);
            container.pod = uid;
            container.name = "app";
            container.sandbox = sandbox.id;
            container.state = sandbox.ready && n == 1 ? ContainerState::running : ContainerState::exited;
            container.created = WallTime(std::chrono::hours(1 + n));
            container.image_ref = "sha256:" + std::string(61, '0') + std::to_string(100 + i % 100);
        }
    }
    for (int i = 0; i < 200; ++i) {
        RuntimeImage& image = runtime->images.emplace_back();
        image.id = "sha256:" + std::string(61, '0') + std::to_string(100 + i);
        image.size = 100_MiB;
        image.tags = {"registry.example/team/app-" + std::to_string(i) + ":v1"};
    }
    EvictionConfig config;
    config.garbage.keep_images = {"registry.example/base/*", "*/pause:*"};
    config.thresholds = {
        {Signal::nodefs_available, {Quantity::of((10_GiB).value, Quantity::Format::binary_si)}, {}, {}}};
    Observation observation;
    observation.at = MonotonicTime(std::chrono::hours(1));
    observation.wall = WallTime(std::chrono::hours(100));
    observation.fs_layout = FsLayout::single;
    observation.readings[static_cast<std::size_t>(Signal::nodefs_available)] =
        Reading{{(9_GiB).value}, {(100_GiB).value}, observation.at};
    runtime->whole = {.images = true, .sandboxes = true, .containers = true, .logs = true};
    runtime->at = observation.at;
    observation.runtime = runtime;
    State before;
    if (state.range(0) == 0) before = policy::decide(config, observation, before).state;
    std::size_t removals = 0;
    for (auto _ : state) {
        const auto verdict = policy::decide(config, observation, before);
        removals = verdict.decision.garbage.removals.size();
    }
    state.counters["removals"] = static_cast<double>(removals);
}

BENCHMARK(decide_reclaiming)->Arg(1)->Arg(0)->Unit(benchmark::kMicrosecond);
BENCHMARK(decide_idle)->Arg(10)->Arg(110)->Arg(1000)->Arg(10000)->Unit(benchmark::kMicrosecond);
BENCHMARK(decide_evicting)->Arg(10)->Arg(110)->Arg(1000)->Arg(10000)->Unit(benchmark::kMicrosecond);
BENCHMARK(decide_equals)->Arg(10)->Arg(110)->Arg(1000)->Arg(10000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace evictd
