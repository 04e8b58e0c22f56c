// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "demo/view.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include "codec/text_table.hpp"
#include "evictd/model/text.hpp"

namespace evictd::demo {
namespace {

using codec::TextStyle;
using codec::Tone;
using codec::toned;

constexpr std::size_t usual_width = 100;  // where the terminal does not say
constexpr std::size_t timeline_width = 32;

std::size_t width_of(const TextStyle& style) {
    return style.columns > 0 ? static_cast<std::size_t>(style.columns) : usual_width;
}

std::string repeated(std::string_view text, std::size_t count) {
    std::string result;
    for (std::size_t i = 0; i < count; i++) {
        result += text;
    }
    return result;
}

// "1.204 s": always as wide, so that a column of them is a time line.
std::string seconds(Duration after) {
    const auto ms = std::chrono::round<std::chrono::milliseconds>(std::max(after, Duration{0})).count();
    return fmt::format("{:3}.{:03} s", ms / 1000, ms % 1000);
}

std::string thresholds_text(const Plan& plan) {
    std::string text = plan.hard > Bytes{0} ? "evicts immediately below " + bytes_text(plan.hard.value) : "evicts";
    if (plan.soft) {
        text += (plan.hard > Bytes{0} ? ", after " : " after ") + span_text(plan.soft_grace) + " below " +
                bytes_text(plan.soft->value);
    }
    text += " left";
    if (plan.stall > 0) {
        text += ", or when tasks stall for " + std::to_string(plan.stall) + " % of a second";
    }
    return text;
}

Tone tone_of(const Plan& plan, std::int64_t available) {
    if (available < plan.hard.value) {
        return Tone::red;
    }
    return plan.soft && available < plan.soft->value ? Tone::yellow : Tone::green;
}

std::string labelled_bar(const std::string& label, const codec::Bar& bar, const std::string& figures,
                         const TextStyle& style) {
    constexpr std::size_t widest = 72;
    constexpr std::size_t narrowest = 8;
    const std::size_t taken = 4 + label.size() + figures.size();
    const std::size_t room = width_of(style) > taken + narrowest ? width_of(style) - taken : narrowest;
    return "  " + label + draw(bar, std::min(room, widest), style) + "  " + toned(figures, bar.tone, style);
}

// All that the pods may use, filled with what they need; the thresholds are marks on it. Where it is about page cache,
// what is charged to them stands below.
std::vector<std::string> memory_bars(const Scene& scene, const TextStyle& style) {
    const auto limit = scene.plan.limit.value;
    const auto available = scene.status && scene.status->available ? scene.status->available->value : limit;
    const auto used = [&](std::int64_t left) { return 1 - static_cast<double>(left) / static_cast<double>(limit); };
    codec::Bar bar{used(available), {used(scene.plan.hard.value)}, tone_of(scene.plan, available)};
    if (scene.plan.soft) {
        bar.marks.push_back(used(scene.plan.soft->value));
    }
    std::string thresholds = thresholds_text(scene.plan);
    if (const auto least = scene.story.least_available()) {
        thresholds += "; the least there was: " + bytes_text(least->value);
    }
    const bool cache = scene.plan.files > Bytes{0};
    const std::string of_all = " of " + bytes_text(limit);
    std::vector<std::string> lines{
        labelled_bar(cache ? "needed      " : "", bar, bytes_text(available) + of_all + " left", style)};
    if (cache) {
        const codec::Bar charged{used(limit - scene.charged.value), {}, Tone::dim};
        lines.push_back(
            labelled_bar("with cache  ", charged, bytes_text(scene.charged.value) + of_all + " used", style));
    }
    lines.push_back("  " + toned(codec::clipped(thresholds, width_of(style) - 2, style), Tone::dim, style));
    return lines;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(line);
    }
    return lines;
}

// Broken between words to the terminal's width, two blanks in front.
std::vector<std::string> wrapped(const std::string& text, const TextStyle& style) {
    std::vector<std::string> lines(1, " ");
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        if (style.columns > 0 && codec::width_of(lines.back()) + 1 + codec::width_of(word) > width_of(style) &&
            lines.back() != " ") {
            lines.emplace_back(" ");
        }
        lines.back() += " " + word;
    }
    return lines;
}

std::string title(const std::string& text, const TextStyle& style) { return toned(text, Tone::bold, style); }

void append(std::vector<std::string>& lines, const std::vector<std::string>& more) {
    lines.insert(lines.end(), more.begin(), more.end());
}

// The table knows the living.
std::vector<std::string> evicted_rows(const Scene& scene, const TextStyle& style) {
    std::vector<std::string> rows;
    for (const auto& event : scene.story.evicted()) {
        const std::string used = event.reclaimed ? ", it used " + bytes_text(event.reclaimed->value) : "";
        rows.push_back("  " +
                       toned(std::string(style.unicode ? "✘" : "x") + "  " + pod_name(event) + "  evicted" + used,
                             Tone::red, style));
    }
    return rows;
}

// What comes before the story, which is what may be cut, and what comes after it.
std::vector<std::string> upper(const Scene& scene, const TextStyle& style) {
    const std::string head = "evictd demo, " + std::string(name(scene.plan.scenario)) + ": " + scene.plan.headline;
    std::vector<std::string> lines{title(codec::clipped(head, width_of(style), style), style),
                                   "  " + codec::clipped(scene.now, width_of(style) - 2, style), "",
                                   title("MEMORY OF ALL PODS", style)};
    append(lines, memory_bars(scene, style));
    lines.emplace_back();
    lines.push_back(title("PODS, in victim order", style));
    append(lines, lines_of(scene.status ? scene.status->pods : "  no observation yet\n"));
    append(lines, evicted_rows(scene, style));
    lines.emplace_back();
    return lines;
}

}  // namespace

std::vector<std::string> opening(const Plan& plan) {
    return {fmt::format("evictd demo, {}: {}", name(plan.scenario), plan.headline),
            fmt::format("{} pods may use {} together; evictd {}", plan.pods.size(), bytes_text(plan.limit.value),
                        thresholds_text(plan))};
}

std::string story_line(const StoryLine& line, const TextStyle& style) {
    const std::string time = line.after ? seconds(*line.after) : std::string(9, ' ');
    const std::size_t room = style.columns > 0 ? width_of(style) - std::min(width_of(style), time.size() + 4) : 0;
    const std::string text = room > 0 ? codec::clipped(line.text, room, style) : line.text;
    return "  " + toned(time, Tone::dim, style) + "  " + toned(text, line.tone, style);
}

std::vector<std::string> timeline(const Story& story, const TextStyle& style) {
    const auto stretches = story.stretches();
    std::vector<std::string> lines;
    if (stretches.empty()) {
        return lines;
    }
    const auto total = stretches.back().start + stretches.back().length;
    const auto cells = [&](Duration part) {
        const double share =
            total.count() > 0 ? static_cast<double>(part.count()) / static_cast<double>(total.count()) : 0;
        return static_cast<std::size_t>(std::lround(share * static_cast<double>(timeline_width)));
    };
    for (const auto& stretch : stretches) {
        const std::size_t from = std::min(cells(stretch.start), timeline_width - 1);
        const std::size_t to = std::clamp(cells(stretch.start + stretch.length), from + 1, timeline_width);
        const std::string bar = std::string(from, ' ') + repeated(style.unicode ? "█" : "#", to - from) +
                                std::string(timeline_width - to, ' ');
        const std::string name = stretch.name + std::string(9 - std::min<std::size_t>(9, stretch.name.size()), ' ');
        const std::string length = latency_text(stretch.length);
        lines.push_back(
            "  " + name + toned(bar, Tone::yellow, style) + "  " +
            toned(length + std::string(8 - std::min<std::size_t>(8, length.size()), ' '), Tone::bold, style) + "  " +
            toned(stretch.what, Tone::dim, style));
    }
    if (!story.evicted().empty() && story.evicted().front().latency.empty) {
        lines.push_back("  then " + latency_text(*story.evicted().front().latency.empty) +
                        " until its last process was gone and its memory was back");
    }
    return lines;
}

namespace {

std::vector<std::string> lower(const Scene& scene, const TextStyle& style) {
    std::vector<std::string> lines;
    if (const auto latency = timeline(scene.story, style); !latency.empty()) {
        lines = {"", title("HOW LONG IT TOOK", style)};
        append(lines, latency);
    }
    if (!scene.hint.empty()) {
        lines.emplace_back();
        lines.push_back(toned("  " + codec::clipped(scene.hint, width_of(style) - 2, style), Tone::dim, style));
    }
    return lines;
}

}  // namespace

std::vector<std::string> verdict_lines(const Verdict& verdict, const TextStyle& style) {
    const std::string mark = verdict.right ? (style.unicode ? "✔ " : "OK: ") : (style.unicode ? "✘ " : "FAILED: ");
    std::vector<std::string> lines{toned(mark + verdict.sentence, verdict.right ? Tone::green : Tone::red, style)};
    for (const auto& fault : verdict.faults) {
        lines.push_back("  " + toned(fault, Tone::red, style));
    }
    for (const auto& remark : verdict.remarks) {
        append(lines, wrapped(remark, style));
    }
    return lines;
}

std::vector<std::string> picture(const Scene& scene, const TextStyle& style, int rows) {
    std::vector<std::string> lines = upper(scene, style);
    std::vector<std::string> below = lower(scene, style);
    const auto& story = scene.story.lines();
    std::size_t shown = story.size();
    if (rows > 0) {
        const auto room = static_cast<std::size_t>(rows);
        const auto height = [&] { return lines.size() + 1 + shown + below.size(); };
        const auto blank = [](const std::string& line) { return line.empty(); };
        if (height() > room) {
            std::erase_if(lines, blank);
            std::erase_if(below, blank);
        }
        if (height() > room && !scene.hint.empty()) {
            below.pop_back();
        }
        shown -= std::min(shown, height() > room ? height() - room : 0);
    }
    lines.push_back(title("WHAT HAPPENED", style));
    if (story.empty()) {
        lines.push_back("  " + toned("nothing yet", Tone::dim, style));
    }
    for (std::size_t i = story.size() - shown; i < story.size(); i++) {
        lines.push_back(story_line(story[i], style));
    }
    append(lines, below);
    if (rows > 0 && lines.size() > static_cast<std::size_t>(rows)) {
        lines.resize(static_cast<std::size_t>(rows));
    }
    return lines;
}

}  // namespace evictd::demo
