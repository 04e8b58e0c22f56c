// SPDX-License-Identifier: Apache-2.0
// The node's stalls from wherever they can be had: `some` of memory from our own programs, everything else, and that
// too where they do not load, from the kernel's pressure files.
#pragma once

#include <array>

#include "evictd/model/config.hpp"
#include "evictd/port/stalls.hpp"
#include "kernel/pressure_files.hpp"
#include "kernel/stall_map.hpp"

namespace evictd::kernel {

class NodeStalls final : public port::Stalls {
public:
    // `map` outlives it; null: our programs do not count.
    explicit NodeStalls(const StallMap* map) : map_(map) {}

    // The files are read only for what somebody asks for: a read adds up all CPUs and takes tens of microseconds.
    void want(const EvictionConfig& config);
    void read(MonotonicTime now, std::vector<NodeStall>& stalls) override;

private:
    const StallMap* map_;
    PressureFiles files_;
    std::array<bool, stall_resource_count> wanted_{};  // from the files
};

}  // namespace evictd::kernel
