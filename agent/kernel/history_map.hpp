// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Reads the map "history", in which the watermark timer keeps half a minute of what was available. For when an eviction
// is told: it takes a system call a tenth of a second.
#pragma once

#include <vector>

#include "evictd/abi/settings.h"
#include "evictd/model/history.hpp"

namespace evictd::kernel {

// Oldest first; `map` is the map's descriptor. What cannot be read is left out.
[[nodiscard]] std::vector<MemorySample> read_history(int map);

// One entry; none: it was never used. Apart for tests.
[[nodiscard]] std::optional<MemorySample> decode_sample(const evictd_sample& entry);

}  // namespace evictd::kernel
