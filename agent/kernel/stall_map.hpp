// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The maps "stall" and "stall_lines": which pods are watched, what the node lost, and which lines the kernel compares.
#pragma once

#include <vector>

#include "evictd/abi/settings.h"
#include "evictd/model/ids.hpp"
#include "evictd/model/result.hpp"
#include "evictd/model/stall.hpp"

namespace evictd::kernel {

class StallMap {
public:
    // The maps' descriptors, which must outlive it. Makes the node's entry; without it node() fails.
    StallMap(int stalls, int lines);

    // An entry for each of these pods and for no other. Sorted.
    Status keep(const std::vector<CgroupId>& pods);
    // At most EVICTD_MAX_STALL_LINES; the others are removed.
    Status watch(const std::vector<evictd_stall_line>& lines) const;
    // Of the node, as of the last 100 ms slot that was closed.
    [[nodiscard]] Result<StallTimes> node() const;
    // An entry as the kernel keeps it; 0 is the node's.
    [[nodiscard]] Result<evictd_stall> entry(CgroupId id) const;
    [[nodiscard]] int fd() const { return stalls_; }

private:
    int stalls_;
    int lines_;
    std::vector<CgroupId> kept_;
};

}  // namespace evictd::kernel
