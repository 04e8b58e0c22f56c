// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Two ways to count the memory that is available: the kubelet's, and what the kernel could really give.
#pragma once

#include <cstdint>

#include "evictd/model/names.hpp"
#include "evictd/model/units.hpp"

namespace evictd {

enum class MemoryAvailable : std::uint8_t {
    kubelet,      // capacity minus working set: page cache is free while it is inactive, used once it is active
    reclaimable,  // without swapping. The node's: MemAvailable. The pods': limit minus usage plus all page cache
};
template <>
struct Names<MemoryAvailable> {
    static constexpr Words<2> words{"kubelet", "reclaimable"};
};

// One moment, counted both ways.
struct AvailableMemory {
    Bytes kubelet;
    Bytes reclaimable;
    MemoryAvailable compared = MemoryAvailable::kubelet;  // the one that thresholds are compared with
};

}  // namespace evictd
