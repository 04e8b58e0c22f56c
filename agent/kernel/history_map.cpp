// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/history_map.hpp"

#include <algorithm>
#include <cstdint>

#include <bpf/bpf.h>

namespace evictd::kernel {
namespace {

// What is no amount of memory is not known: ~0, and what an entry may hold that is being written just now.
std::optional<Bytes> amount(std::uint64_t bytes) {
    return bytes > std::uint64_t{1} << 60U ? std::nullopt : std::optional(Bytes{static_cast<std::int64_t>(bytes)});
}

}  // namespace

std::optional<MemorySample> decode_sample(const evictd_sample& entry) {
    if (entry.time_ns == 0) {
        return std::nullopt;
    }
    return MemorySample{.at = MonotonicTime(Duration(static_cast<std::int64_t>(entry.time_ns))),
                        .node = amount(entry.node_available),
                        .pods = amount(entry.pods_available)};
}

std::vector<MemorySample> read_history(int map) {
    std::vector<MemorySample> samples;
    samples.reserve(EVICTD_HISTORY_SLOTS);
    for (std::uint32_t slot = 0; slot < EVICTD_HISTORY_SLOTS; slot++) {
        evictd_sample entry{};
        if (bpf_map_lookup_elem(map, &slot, &entry) != 0) {
            continue;
        }
        if (const auto sample = decode_sample(entry)) {
            samples.push_back(*sample);
        }
    }
    std::sort(samples.begin(), samples.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
    return samples;
}

}  // namespace evictd::kernel
