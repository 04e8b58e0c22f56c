// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/bpf_settings.hpp"

#include <algorithm>
#include <thread>

namespace evictd::kernel {
namespace {

// A CPU zeroing huge pages fills about 8 GiB/s, and no machine's memory takes more than some 64 GiB/s. Half of it would
// let a hog cross a threshold unseen for up to twice the shortest period; double it and the timer ticks twice as often.
constexpr std::uint64_t growth_per_cpu = (8ULL << 30U) / 1000;  // bytes per ms
constexpr std::uint64_t growth_limit = (64ULL << 30U) / 1000;

// Near a threshold 1 ms: the detection then takes 0.5 ms on average, as long as looking and killing do. Far from it
// 100 ms, so that a value told by bpftool is not older than what a person notices.
constexpr std::uint64_t min_period_ns = 1'000'000;
constexpr std::uint64_t max_period_ns = 100'000'000;

}  // namespace

evictd_settings initial_settings(const BpfOptions& options) {
    evictd_settings settings{};
    settings.node_capacity = static_cast<std::uint64_t>(options.node_capacity.value);
    settings.fastest_growth =
        std::min<std::uint64_t>(growth_limit, growth_per_cpu * std::max(1U, std::thread::hardware_concurrency()));
    settings.min_period_ns = min_period_ns;
    settings.max_period_ns = max_period_ns;
    settings.pod_limit_period_ns = static_cast<std::uint64_t>(options.pod_limit_period.count());
    settings.hierarchy_id = options.hierarchy_id;
    return settings;
}

}  // namespace evictd::kernel
