// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/reconciler_rows.hpp"

#include <string>

#include "kernel/probes.hpp"

namespace evictd::app {

SourceRow score_row(OomScoreAdjPolicy policy, bool steering, const reconcile::ScoreFigures& figures) {
    SourceRow row{.hook = "oom_score_adj", .chosen = {}, .fallback = false, .detail = {}};
    row.chosen = policy == OomScoreAdjPolicy::enforce   ? "enforced"
                 : policy == OomScoreAdjPolicy::observe ? "observed"
                                                        : "";
    if (steering) {
        row.chosen += row.chosen.empty() ? "steered" : ", steered";
    }
    const auto add = [&](const std::string& text) { row.detail += (row.detail.empty() ? "" : "; ") + text; };
    if (row.chosen.empty()) {
        add("the configuration says so (evictd.oomScoreAdjPolicy: off)");
    }
    if (figures.pods_refused > 0) {
        row.fallback = true;
        add("cannot be lowered in " + std::to_string(figures.pods_refused) +
            (figures.pods_refused == 1 ? " pod" : " pods") + " without CAP_SYS_RESOURCE");
    }
    if (!figures.steered.empty()) {
        add(figures.steered + " is raised to 1000");
    }
    if (!figures.not_raised.empty()) {
        row.fallback = true;
        add(figures.not_raised);
    }
    return row;
}

LadderConfig possible_rungs(LadderConfig wanted, const kernel::Hierarchies& hierarchies) {
    const auto has = [&](const char* file) {
        return hierarchies.v2 && kernel::probe_cgroup_file(hierarchies, file) == 0;
    };
    wanted.reclaim = wanted.reclaim && has("memory.reclaim");
    wanted.squeeze = wanted.squeeze && has("memory.high");
    wanted.freeze = wanted.freeze && (hierarchies.v2 ? has("cgroup.freeze") : !hierarchies.freezer.empty());
    return wanted;
}

SourceRow ladder_row(const LadderConfig& wanted, const kernel::Hierarchies& hierarchies) {
    SourceRow row{.hook = "ladder", .chosen = {}, .fallback = false, .detail = {}};
    const auto possible = possible_rungs(wanted, hierarchies);
    const auto add = [&](RungKind kind, bool is_wanted, bool is_possible) {
        auto& list = is_possible ? row.chosen : row.detail;
        if (is_possible || is_wanted) {
            list += (list.empty() ? "" : ", ") + std::string(name(kind));
            row.fallback = row.fallback || !is_possible;
        }
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

}  // namespace evictd::app
