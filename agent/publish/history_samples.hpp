// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Samples taken at whatever times, as the even row of figures that an event carries and a person sees drawn. Pure.
#pragma once

#include <span>
#include <vector>

#include "evictd/model/history.hpp"

namespace evictd::publish {

struct EvenSamples {
    Duration step{0};
    std::vector<std::optional<std::int64_t>> values;  // the least within each step; none: not sampled in it
};

// From `from` to `to`, the step that of `to` included; at most some 160 steps, none shorter than 100 ms. `kernel` are
// the timer's samples, close together; `looks` the agent's own, which stand in where there are none of the kernel's.
// Signals other than memory's have no samples.
[[nodiscard]] EvenSamples even_samples(std::span<const MemorySample> kernel, std::span<const MemorySample> looks,
                                       Signal signal, MonotonicTime from, MonotonicTime to);

}  // namespace evictd::publish
