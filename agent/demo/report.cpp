// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "demo/report.hpp"

namespace evictd::demo {

Report::Report(const DemoOptions& options) : json_(options.json), screen_(options.style, options.rows) {}

void Report::open(const Scene& scene) {
    if (json_ || is_live()) {
        return;
    }
    screen_.print(opening(scene.plan));
    screen_.print({scene.hint, "", scene.status ? scene.status->pods : ""});
}

void Report::update(const Scene& scene) {
    if (json_) {
        return;
    }
    if (is_live()) {
        screen_.draw(picture(scene, style(), screen_.rows() - 1));
        return;
    }
    for (const auto& lines = scene.story.lines(); lines_shown_ < lines.size(); lines_shown_++) {
        screen_.print({story_line(lines[lines_shown_], style())});
    }
}

void Report::record(const std::string& line) {
    if (json_) {
        screen_.print({line});
    }
}

void Report::close(const Scene& scene, const Verdict& verdict) {
    if (json_) {
        return;
    }
    update(scene);
    if (const auto latency = timeline(scene.story, style()); !is_live() && !latency.empty()) {
        screen_.print({""});
        screen_.print(latency);
    }
    screen_.print({""});
    screen_.print(verdict_lines(verdict, style()));
}

}  // namespace evictd::demo
