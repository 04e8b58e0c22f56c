// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/ladder_support.hpp"

#include <string>

#include "kernel/probes.hpp"

namespace evictd::kernel {

LadderConfig possible_rungs(LadderConfig wanted, const Hierarchies& hierarchies) {
    const auto has = [&](const char* file) { return hierarchies.v2 && probe_cgroup_file(hierarchies, file) == 0; };
    wanted.reclaim = wanted.reclaim && has("memory.reclaim");
    wanted.squeeze = wanted.squeeze && has("memory.high");
    wanted.freeze = wanted.freeze && (hierarchies.v2 ? has("cgroup.freeze") : !hierarchies.freezer.empty());
    return wanted;
}

SourceRow ladder_row(const LadderConfig& wanted, const Hierarchies& hierarchies) {
    SourceRow row{.hook = "ladder", .chosen = {}, .fallback = false, .detail = {}};
    const auto possible = possible_rungs(wanted, hierarchies);
    const auto add = [&](RungKind kind, bool is_wanted, bool is_possible) {
        auto& text = is_possible ? row.chosen : row.detail;
        if (is_wanted) text += (text.empty() ? "" : ", ") + std::string(name(kind));
        row.fallback = row.fallback || (is_wanted && !is_possible);
    };
    add(RungKind::reclaim, wanted.reclaim, possible.reclaim);
    add(RungKind::squeeze, wanted.squeeze, possible.squeeze);
    add(RungKind::freeze, wanted.freeze, possible.freeze);
    if (row.fallback) {
        row.detail = "not on this host: " + row.detail +
                     (hierarchies.v2 ? "" : " (memory.reclaim and memory.high are cgroup v2's)");
    } else if (!wanted.any()) {
        row.detail = "the configuration says so (evictd.ladder)";
    }
    return row;
}

}  // namespace evictd::kernel
