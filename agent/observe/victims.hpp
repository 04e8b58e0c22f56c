// SPDX-License-Identifier: Apache-2.0
// What the kernel says of the cgroups of victims: whether a process is left in them, and what they hold. Apart from the
// pods, whose sources may list a victim no longer.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "evictd/model/held_memory.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/port/cgroups.hpp"

namespace evictd::observe {

// A victim, held by the cgroup that it was chosen in.
struct Followed {
    PodUid pod;
    CgroupId id;
    port::PodCgroupPtr cgroup;  // null: it was not found, and nothing is known of it
};

// `rows`: of one pass, empty where it failed. `with_removed`: what a removed cgroup holds has a row, unless it is next
// to nothing.
[[nodiscard]] ObservedVictim observed_victim(const Followed& victim, const std::vector<port::CgroupUsage>& rows,
                                             bool with_removed);

// Of a cgroup without processes. From its own counters; from its rows where it was removed, and has no files any more.
[[nodiscard]] std::optional<HeldMemory> held_by(const Followed& victim, const std::vector<port::CgroupUsage>& rows);

}  // namespace evictd::observe
