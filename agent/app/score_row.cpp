// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/score_row.hpp"

#include <string>

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

}  // namespace evictd::app
