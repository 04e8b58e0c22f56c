// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "publish/history_samples.hpp"

#include <algorithm>

namespace evictd::publish {
namespace {

constexpr Duration finest = std::chrono::milliseconds(100);  // the kernel's timer keeps no finer ones
// 200 ms over half a minute and what an eviction takes; some 2 KiB of an event. Twice as many would show no more on a
// terminal.
constexpr std::int64_t most_steps = 160;

std::optional<Bytes> of(const MemorySample& sample, Signal signal) {
    if (signal == Signal::memory_available) return sample.node;
    return signal == Signal::allocatable_memory_available ? sample.pods : std::nullopt;
}

}  // namespace

EvenSamples even_samples(std::span<const MemorySample> kernel, std::span<const MemorySample> looks, Signal signal,
                         MonotonicTime from, MonotonicTime to) {
    EvenSamples even;
    const auto whole = std::max(to - from, finest);
    even.step = finest * ((whole + finest * most_steps - Duration(1)) / (finest * most_steps));
    even.values.resize(static_cast<std::size_t>(whole / even.step) + 1);
    const auto fill = [&](std::span<const MemorySample> samples, std::vector<std::optional<std::int64_t>>& into) {
        for (const auto& sample : samples) {
            const auto value = of(sample, signal);
            // The kernel's last entry is still updated while the event is delivered: it belongs to the last step.
            if (!value || sample.at < from || sample.at > to + finest) continue;
            auto& least = into[std::min(into.size() - 1, static_cast<std::size_t>((sample.at - from) / even.step))];
            if (!least || value->value < *least) least = value->value;
        }
    };
    fill(kernel, even.values);
    std::vector<std::optional<std::int64_t>> stand_in(even.values.size());
    fill(looks, stand_in);
    for (std::size_t i = 0; i < stand_in.size(); ++i) {
        if (!even.values[i]) even.values[i] = stand_in[i];
    }
    return even;
}

}  // namespace evictd::publish
