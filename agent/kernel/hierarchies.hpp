// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Where the cgroup hierarchies are mounted: v1, v2 or both. Asked of libcgroup once at start.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "evictd/model/result.hpp"

namespace evictd::kernel {

struct Hierarchies {
    bool v2 = false;              // the memory controller is in the v2 hierarchy
    std::string memory;           // mount point of the hierarchy with the memory controller
    std::string freezer;          // v1 only; empty: none
    std::string pids;             // likewise
    std::string unified;          // the v2 hierarchy, also without controllers (hybrid); empty: none
    std::uint32_t memory_id = 0;  // hierarchy id of `memory`, as in /proc/cgroups; 0 for v2

    // Mount point of the v2 hierarchy, with or without controllers; empty: none.
    [[nodiscard]] std::string v2_mount() const { return v2 ? memory : unified; }

    // "v2", "v1" or "hybrid", as people call it.
    [[nodiscard]] std::string layout() const;
};

// Where all hierarchies are mounted that a pod may be in, as `mountinfo` (/proc/self/mountinfo) says: those that show
// the same part of the tree as that of `memory` does, each once, and that one last.
[[nodiscard]] std::vector<std::string> hierarchy_mounts(std::string_view mountinfo, const std::string& memory);
[[nodiscard]] Result<std::vector<std::string>> hierarchy_mounts(const Hierarchies& hierarchies);

// Fails with a remedy where the memory controller is not mounted or switched off.
[[nodiscard]] Result<Hierarchies> find_hierarchies();

}  // namespace evictd::kernel
