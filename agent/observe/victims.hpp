// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
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

// `rows`: of one pass, empty where it failed. What a removed cgroup holds is not known: the kernel hands its kernel
// memory (dentries, page tables, pipes) over to the parent and leaves its counter as it was.
[[nodiscard]] ObservedVictim observed_victim(const Followed& victim, const std::vector<port::CgroupUsage>& rows);

// Of a cgroup without processes. From its own counters; from its rows where it was removed, and has no files any more.
[[nodiscard]] std::optional<HeldMemory> held_by(const Followed& victim, const std::vector<port::CgroupUsage>& rows);

}  // namespace evictd::observe
