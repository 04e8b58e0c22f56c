// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "status_text_stall.hpp"

#include <array>
#include <utility>
#include <vector>

#include "evictd/model/stall.hpp"
#include "evictd/model/text.hpp"
#include "json_value.hpp"
#include "sentence.hpp"
#include "status_page.hpp"
#include "text_table.hpp"

namespace evictd::codec {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array windows{StallWindow::tenth, StallWindow::second, StallWindow::ten_seconds};

StallWindow window_at(const Json& json) {
    for (const auto window : windows) {
        if (text_at(json, "window") == name(window)) return window;
    }
    return StallWindow::second;
}

Duration lost_at(const Json& times, StallWindow window) {
    return microseconds_at(times, std::string(name(window)).c_str()).value_or(Duration{0});
}

double part(Duration lost, StallWindow window) {
    return static_cast<double>(lost.count()) / static_cast<double>(length(window).count());
}

// What is lost of the last second as a bar, and all three windows as shares.
std::vector<Cell> lost_cells(const Json& times, const std::vector<double>& marks, Tone tone) {
    std::vector<Cell> cells{
        {"", Tone::plain, Bar{part(lost_at(times, StallWindow::second), StallWindow::second), marks, tone}}};
    for (const auto window : windows) cells.push_back(cell(share_text(lost_at(times, window), window)));
    return cells;
}

// "hard 10% of 1s", "soft 40% of 10s for 30s".
std::string threshold_text(const Json& threshold) {
    const auto grace = printable(text_at(threshold, "grace_period"));
    const bool hard = grace == "0s";
    std::string text = (hard ? "hard " : "soft ") + printable(text_at(threshold, "share")) + " of " +
                       printable(text_at(threshold, "window"));
    if (text_at(threshold, "scope") == "pod") text += ", each pod";
    return hard ? text : text + " for " + grace;
}

Cell state_cell(const Json& threshold) {
    const auto state = text_at(threshold, "state");
    if (state == "met") return cell("MET", Tone::red);
    if (state == "unknown") return cell("UNKNOWN", Tone::yellow);
    return state == "pending" ? cell("PENDING", Tone::yellow) : cell("ok", Tone::green);
}

Tone worse(Tone a, Tone b) {
    const auto rank = [](Tone tone) { return tone == Tone::red ? 2 : tone == Tone::yellow ? 1 : 0; };
    return rank(b) > rank(a) ? b : a;
}

// One line for the kind, and one more for each further threshold on it.
void add_kind(const Json& row, StallKind kind, Table& table) {
    const std::string key = std::string(name(kind)) + "_us";
    const Json* times = object_at(row, key.c_str());
    std::vector<const Json*> thresholds;
    std::vector<double> marks;
    Tone tone = Tone::green;
    for (const auto& threshold : list_at(row, "thresholds")) {
        if (text_at(threshold, "kind") != name(kind)) continue;
        thresholds.push_back(&threshold);
        const auto line = microseconds_at(threshold, "line_us").value_or(Duration{0});
        marks.push_back(part(line, window_at(threshold)));
        tone = worse(tone, state_cell(threshold).tone);
    }
    if (times == nullptr && thresholds.empty()) return;
    std::vector<Cell> line{cell(printable(text_at(row, "resource")) + " " + std::string(name(kind)))};
    auto lost = times != nullptr ? lost_cells(*times, marks, tone) : std::vector<Cell>(4, cell("?"));
    line.insert(line.end(), lost.begin(), lost.end());
    if (thresholds.empty()) table.add(line);
    for (const Json* threshold : thresholds) {
        line.push_back(cell(threshold_text(*threshold)));
        const bool known = times != nullptr || text_at(*threshold, "scope") == name(StallScope::pod);
        line.push_back(known ? state_cell(*threshold) : cell("UNKNOWN", Tone::yellow));
        table.add(std::move(line));
        line.assign(5, cell(""));
    }
}

void add_pod(const Json& pod, Table& table) {
    const Json* stall = object_at(pod, "stall");
    const Json* times = stall != nullptr ? object_at(*stall, "some_us") : nullptr;
    if (times == nullptr) return;
    std::vector<Cell> line{cell("  " + printable(text_at(pod, "namespace") + "/" + text_at(pod, "name")))};
    for (auto& one : lost_cells(*times, {}, Tone::yellow)) line.push_back(std::move(one));
    std::string more;
    if (const Json* full = object_at(*stall, "full_us")) {
        more = "full " + share_text(lost_at(*full, StallWindow::second), StallWindow::second) + " of 1s";
    }
    if (const auto work = number_at(*stall, "reclaimed_bytes").value_or(0); work > 0) {
        more += (more.empty() ? "" : ", ") + ("reclaimed " + bytes_text(work)) + " in 10s";
    }
    line.push_back(cell(std::move(more), Tone::dim));
    table.add(std::move(line));
}

}  // namespace

std::string stalls_table(const Json& document, const TextStyle& style) {
    Table table({{"TASKS STALLED FOR", Fit::clip},
                 {"LAST 1s", Fit::bar},
                 {"100ms", Fit::right},
                 {"1s", Fit::right},
                 {"10s", Fit::right},
                 {"EVICTS AT", Fit::left},
                 {"STATE", Fit::left}});
    for (const auto& row : list_at(document, "stalls")) {
        add_kind(row, StallKind::some, table);
        add_kind(row, StallKind::full, table);
        const Json* ranking = object_at(document, "ranking");
        if (text_at(row, "resource") != name(StallResource::memory) || ranking == nullptr) continue;
        for (const auto& pod : list_at(*ranking, "pods")) add_pod(pod, table);
    }
    return table.empty() ? "" : table.text(style);
}

std::string stall_because(const Json& stall) {
    const auto window = window_at(stall);
    const auto share = [&](const char* key) {
        return share_text(microseconds_at(stall, key).value_or(Duration{0}), window);
    };
    return printable(text_at(stall, "resource")) + " stall " + share("lost_us") + " of " + std::string(name(window)) +
           " >= " + share("line_us");
}

}  // namespace evictd::codec
