// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/score_row.hpp"

#include <string>

namespace evictd::app {

namespace {

std::string chosen(const AgentConfig& config) {
    std::string text;
    if (config.oom_score_adj_policy == OomScoreAdjPolicy::enforce) {
        text = config.dry_run ? "would be enforced" : "enforced";
    } else if (config.oom_score_adj_policy == OomScoreAdjPolicy::observe) {
        text = "observed";
    }
    if (config.oom_score_adj_steering) {
        text += std::string(text.empty() ? "" : ", ") + (config.dry_run ? "would be steered" : "steered");
    }
    return text;
}

}  // namespace

SourceRow score_row(const AgentConfig& config, const reconcile::ScoreFigures& figures) {
    SourceRow row{.hook = "oom_score_adj", .chosen = chosen(config), .fallback = false, .detail = {}};
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
