// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "cli/replay_tape.hpp"

#include <cstdio>
#include <functional>
#include <utility>

#include "cli/page.hpp"
#include "codec/decision_json.hpp"
#include "command/terminal.hpp"
#include "evictd/model/text.hpp"
#include "replay/difference.hpp"
#include "replay/player.hpp"
#include "replay/step_json.hpp"
#include "replay/tape_player.hpp"
#include "replay/what_if.hpp"

namespace evictd::cli {

using command::end_quietly;

namespace {

void note(const std::string& text) { std::fprintf(stderr, "evictd: note: %s\n", text.c_str()); }

replay::Differences::Format format(bool json) {
    return json ? replay::Differences::Format::json : replay::Differences::Format::text;
}

std::string when(const codec::TapeLook& look) {
    return rfc3339(look.observation.wall) + " look " + std::to_string(look.number);
}

// A look in one line; what is done, below it.
std::string look_text(const codec::TapeLook& look, const Decision& decision) {
    auto text = when(look) + ": " + printable(decision.why) + "\n";
    if (decision.evict || !decision.limit_evictions.empty() || !decision.reclaim.empty())
        text += "  " + replay::course_text(decision, look.observation) + "\n";
    return text;
}

Exit end(Page& page) {
    const auto printed = page.flush();
    return printed ? Exit::fine : tell(printed.error());
}

// Hands every look to `visit`, a page of output at a time. What was said before an error is printed before the error.
Status each_look(const std::vector<std::string>& files, Page& page,
                 const std::function<Status(const replay::PlacedLook&)>& visit) {
    end_quietly({});
    replay::TapeLooks looks(files, note);
    while (true) {
        auto placed = looks.next();
        if (placed && !*placed) return {};
        Status visited = placed ? visit(**placed) : Status(tl::unexpected(placed.error()));
        if (!visited) {
            (void)page.flush();
            return visited;
        }
        if (auto printed = page.turn(); !printed) return printed;
    }
}

}  // namespace

Exit play_tapes(const std::vector<std::string>& files, bool json) {
    replay::TapePlayer player;
    Page page;
    std::size_t count = 0;
    const auto played = each_look(files, page, [&](const replay::PlacedLook& placed) -> Status {
        const auto now = player.play(placed.look, placed.follows);
        if (!now.mismatch.empty()) return fail(ErrorKind::invalid, placed.place, now.mismatch);
        ++count;
        page.text() += json ? now.line + "\n" : look_text(placed.look, now.decision);
        return {};
    });
    if (!played) return tell(played.error());
    if (!json) page.text() += std::to_string(count) + " looks, every decision as recorded\n";
    return end(page);
}

Exit compare_tapes(const std::vector<std::string>& files, const Config& other, const std::string& name, bool json) {
    replay::TapePlayer as_recorded;
    replay::WhatIf with_other(other.eviction);
    replay::Differences differences(format(json), "as recorded", "with " + name);
    Page page;
    bool mismatch_told = false;
    const auto played = each_look(files, page, [&](const replay::PlacedLook& placed) -> Status {
        const auto& look = placed.look;
        const auto recorded = as_recorded.play(look, placed.follows);
        if (!recorded.mismatch.empty() && !std::exchange(mismatch_told, true))
            note(placed.place +
                 ": this evictd decides otherwise than the one that recorded it; 'as recorded' is "
                 "what this one decides with the recorded configuration");
        const auto other_look = with_other.play(look, recorded.decision);
        differences.look(when(look), {recorded.decision, look.observation, recorded.line},
                         {other_look.decision, other_look.observation,
                          codec::decision_line(other_look.decision, other_look.observation)},
                         page.text());
        return {};
    });
    if (!played) return tell(played.error());
    differences.summary(page.text());
    if (!json && differences.evictions_differ())
        page.text() +=
            "Figures are as recorded: after the first eviction that differs the node would have shown others.\n";
    return end(page);
}

Exit compare_scenario(const replay::Scenario& scenario, const Config& other, const std::string& name, bool json) {
    end_quietly({});
    auto changed = scenario;
    changed.config = other;
    replay::Player as_written(scenario);
    replay::Player with_other(changed);
    replay::Differences differences(format(json), "as written", "with " + name);
    Page page;
    for (const auto& step : scenario.steps) {
        const auto first = as_written.play(step);
        const auto second = with_other.play(step);
        const auto line = [&](const replay::Scenario& played, const replay::StepResult& result) {
            std::string text;
            replay::append_json(played, result, text);
            text.pop_back();  // its newline
            return text;
        };
        differences.look("at " + step.at_text, {first.decision, first.observation, line(scenario, first)},
                         {second.decision, second.observation, line(changed, second)}, page.text());
        if (const auto printed = page.turn(); !printed) return tell(printed.error());
    }
    differences.summary(page.text());
    return end(page);
}

}  // namespace evictd::cli
