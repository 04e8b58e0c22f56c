// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "gc_report.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "evictd/model/names.hpp"
#include "evictd/model/text.hpp"
#include "json_value.hpp"
#include "text_table.hpp"

namespace evictd::codec {
namespace {

using Json = nlohmann::ordered_json;

bool is_bad(GarbageStatus status) { return status == GarbageStatus::refused || status == GarbageStatus::failed; }

// Where an outcome has no object it is named by its ID.
const Garbage* find(const std::vector<Garbage>& all, const GarbageOutcome& outcome) {
    const auto found = std::find_if(
        all.begin(), all.end(), [&](const Garbage& one) { return one.kind == outcome.kind && one.id == outcome.id; });
    return found == all.end() ? nullptr : &*found;
}

std::string entry(std::string_view title, const std::string& text, const TextStyle& style) {
    return toned(fmt::format("{:<8}", title), Tone::bold, style) + "  " + printable(text) + "\n";
}

std::string size_text(const Garbage& one) { return one.size ? bytes_text(one.size->value) : "-"; }

std::string rows(const std::vector<Garbage>& all, const TextStyle& style) {
    Table table({{"KIND", Fit::left}, {"SIZE", Fit::right}, {"NAME", Fit::left}, {"WHY", Fit::clip}});
    for (const Garbage& one : all) {
        table.add({{std::string(name(one.kind)), Tone::plain, std::nullopt},
                   {size_text(one), Tone::plain, std::nullopt},
                   {printable(one.name), Tone::plain, std::nullopt},
                   {printable(one.why), Tone::dim, std::nullopt}});
    }
    return table.text(style);
}

std::string part(std::string_view name, const std::vector<Garbage>& all, const TextStyle& style) {
    const std::string said = say_garbage(all);
    return "\n" + entry(name, said.empty() ? "nothing" : said, style) + (all.empty() ? "" : rows(all, style));
}

std::vector<Garbage> with_status(const GcReport& report, const std::function<bool(GarbageStatus)>& wanted) {
    std::vector<Garbage> found;
    for (const auto& outcome : report.done->removals) {
        if (!wanted(outcome.status)) continue;
        const Garbage* one = find(report.goes, outcome);
        found.push_back(one != nullptr ? *one : Garbage{outcome.kind, outcome.id, outcome.id, {}, {}, {}});
        found.back().why = outcome.error;
    }
    return found;
}

Json garbage_json(const Garbage& one) {
    Json json{{"kind", name(one.kind)}, {"id", one.id}, {"name", one.name}};
    if (!one.pod.value.empty()) json["pod"] = one.pod.value;
    if (one.size) json["size_bytes"] = one.size->value;
    json["why"] = one.why;
    return json;
}

Json list_json(const std::vector<Garbage>& all) {
    Json list = Json::array();
    for (const Garbage& one : all) list.push_back(garbage_json(one));
    return list;
}

Json done_json(const GcReport& report) {
    Json removals = Json::array();
    for (const auto& outcome : report.done->removals) {
        const Garbage* one = find(report.goes, outcome);
        Json row{{"kind", name(outcome.kind)}, {"id", outcome.id}};
        if (one != nullptr) row["name"] = one->name;
        row["status"] = name(outcome.status);
        if (!outcome.error.empty()) row["error"] = outcome.error;
        removals.push_back(std::move(row));
    }
    Json json{{"removals", std::move(removals)}};
    if (report.done->freed) json["freed_bytes"] = report.done->freed->value;
    json["interrupted"] = report.done->interrupted;
    return json;
}

std::string say_freed(const GcReport& report) {
    if (!report.done->freed) return "; what was freed could not be measured";
    return "; " + bytes_text(report.done->freed->value) + " freed";
}

}  // namespace

bool GcReport::fine() const {
    if (!troubles.empty()) return false;
    if (!done) return true;
    const bool any_bad = std::any_of(done->removals.begin(), done->removals.end(),
                                     [](const GarbageOutcome& one) { return is_bad(one.status); });
    return !any_bad && !done->interrupted && done->removals.size() == goes.size();
}

std::string gc_plan_text(const GcReport& report, const TextStyle& style) {
    std::string text = entry("RUNTIME", report.runtime + ", " + report.endpoint, style);
    for (const auto& source : report.pods) text += entry("PODS", source, style);
    if (report.missing && report.missing->value > 0) {
        text += entry("TO FREE", bytes_text(report.missing->value) + " until every disk threshold is clear", style);
    }
    text += part("REMOVE", report.goes, style);
    text += part("KEEP", report.stays, style);
    return text;
}

std::string gc_summary_text(const GcReport& report, const TextStyle& style) {
    if (report.dry_run) return "\ndry run: nothing was removed\n";
    if (!report.done || report.goes.empty()) return "";
    const auto removed = with_status(report, [](GarbageStatus one) { return one == GarbageStatus::removed; });
    const auto gone = with_status(report, [](GarbageStatus one) { return one == GarbageStatus::vanished; });
    const auto used = with_status(report, [](GarbageStatus one) { return one == GarbageStatus::in_use; });
    const auto refused = with_status(report, [](GarbageStatus one) { return one == GarbageStatus::refused; });
    const auto failed = with_status(report, [](GarbageStatus one) { return one == GarbageStatus::failed; });
    std::string text =
        "\n" + entry("REMOVED", removed.empty() ? "nothing" : say_garbage(removed) + say_freed(report), style);
    if (!gone.empty()) text += entry("GONE", say_garbage(gone) + ", before they were removed", style);
    if (!used.empty()) text += part("IN USE", used, style);
    if (!refused.empty()) text += part("REFUSED", refused, style);
    if (!failed.empty()) text += part("FAILED", failed, style);
    const auto left = report.goes.size() - std::min(report.goes.size(), report.done->removals.size());
    if (left > 0) text += entry("LEFT", fmt::format("{} of {} not removed", left, report.goes.size()), style);
    return text;
}

std::string gc_step_text(const Garbage& one, const GarbageOutcome& outcome) {
    constexpr std::array<std::string_view, 6> words{"removed", "would remove", "gone", "in use", "refused", "failed"};
    static_assert(words.size() == Names<GarbageStatus>::words.size());
    std::string text = fmt::format("{} {} {}", words.at(static_cast<std::size_t>(outcome.status)), name(one.kind),
                                   printable(one.name));
    const bool went = outcome.status == GarbageStatus::removed;
    if (went && one.size) text += ", " + bytes_text(one.size->value);
    if (!outcome.error.empty()) text += ": " + printable(outcome.error);
    return text + "\n";
}

std::string gc_progress_text(std::size_t done, std::size_t total, const Garbage& last, const TextStyle& style) {
    constexpr std::size_t bar_width = 28;
    const double share = total == 0 ? 1 : static_cast<double>(done) / static_cast<double>(total);
    const std::string counts = fmt::format(" {}/{} ", done, total);
    const auto columns = static_cast<std::size_t>(std::max(style.columns, 0));
    const std::size_t taken = bar_width + counts.size();
    const std::string what = fmt::format("{} {}", name(last.kind), printable(last.name));
    const std::string bar = draw({.filled = share, .marks = {}, .tone = Tone::green}, bar_width, style) + counts;
    return bar + (columns > taken ? clipped(what, columns - taken - 1, style) : "");
}

std::string gc_json(const GcReport& report) {
    Json json{{"v", 1}, {"runtime", report.runtime}, {"endpoint", report.endpoint}, {"dry_run", report.dry_run}};
    json["pods"] = report.pods;
    json["troubles"] = report.troubles;
    if (report.missing) json["missing_bytes"] = report.missing->value;
    json["goes"] = list_json(report.goes);
    json["goes_bytes"] = bytes_of(report.goes).value;
    json["stays"] = list_json(report.stays);
    if (report.done) json["done"] = done_json(report);
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace evictd::codec
