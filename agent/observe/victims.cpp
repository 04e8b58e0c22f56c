// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "observe/victims.hpp"

#include <algorithm>

namespace evictd::observe {
namespace {

using Rows = std::vector<port::CgroupUsage>;

// The pages of a cgroup and of all below it, which follow it; none: it has no row.
std::optional<port::CgroupUsage> subtree(CgroupId id, const Rows& rows) {
    auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& one) { return one.id == id; });
    if (row == rows.end()) {
        return std::nullopt;
    }
    port::CgroupUsage sum = *row;
    for (++row; row != rows.end() && row->level > sum.level; ++row) {
        sum.inactive_file += row->inactive_file;
        sum.active_file += row->active_file;
        sum.anon += row->anon;
    }
    return sum;
}

// The kernel's word: "no" only where it says so, or the cgroup is removed, which takes an empty one.
std::optional<bool> is_populated(const Followed& victim) {
    if (!victim.cgroup) {
        return std::nullopt;
    }
    const auto populated = victim.cgroup->populated();
    if (populated) {
        return *populated;
    }
    return populated.error().kind == ErrorKind::vanished ? std::optional(false) : std::nullopt;
}

}  // namespace

ObservedVictim observed_victim(const Followed& victim, const Rows& rows) {
    ObservedVictim observed{.pod = victim.pod, .cgroup = victim.id, .populated = {}, .held = {}};
    const auto row = subtree(victim.id, rows);
    if (row) {
        observed.populated = row->populated;
        if (!row->dying) {
            observed.held = std::max(Bytes{0}, row->usage - row->inactive_file);
        }
        return observed;
    }
    observed.populated = is_populated(victim);
    return observed;
}

std::optional<HeldMemory> held_by(const Followed& victim, const Rows& rows) {
    if (victim.cgroup) {
        if (const auto held = victim.cgroup->held_memory()) {
            return *held;
        }
    }
    const auto row = subtree(victim.id, rows);
    if (!row) {
        return std::nullopt;
    }
    // No process has anonymous memory in it: what lies on those lists is shared.
    const Bytes file = row->inactive_file + row->active_file;
    return HeldMemory{.total = row->usage,
                      .anon = {},
                      .file = file,
                      .shmem = row->anon,
                      .slab = {},
                      .page_tables = {},
                      .kernel = std::max(Bytes{0}, row->usage - file - row->anon)};
}

}  // namespace evictd::observe
