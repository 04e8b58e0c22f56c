// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A line for each finding; what is to be said about it stands below, wrapped, so that nothing is cut off.
#include "doctor_report.hpp"

#include <algorithm>
#include <array>
#include <sstream>

#include <nlohmann/json.hpp>

#include "evictd/model/names.hpp"
#include "json_value.hpp"

namespace evictd::codec {
namespace {

using Json = nlohmann::ordered_json;

struct StateLook {
    const char* name;
    Tone tone;
};
constexpr std::array<StateLook, 4> looks{
    {{"ok", Tone::green}, {"fallback", Tone::yellow}, {"missing", Tone::red}, {"unknown", Tone::dim}}};
static_assert(has_enumerators<FindingState, looks.size()>(), "a state has no row");

const StateLook& look_of(const Finding& finding) { return looks.at(static_cast<std::size_t>(finding.state)); }

Json json_of(const Finding& finding) {
    return {{"check", finding.check},
            {"state", look_of(finding).name},
            {"chosen", finding.chosen},
            {"detail", finding.detail},
            {"remedy", finding.remedy}};
}

constexpr std::size_t state_width = 10;
constexpr std::size_t check_width = 18;
constexpr std::size_t indent = 2 + state_width + check_width;

std::string padded_check(std::string_view text, std::size_t width) {
    return std::string(text) + std::string(width - std::min(width - 1, text.size()), ' ');
}

// Word by word, each line indented. A word that is longer than the line stands alone.
std::string wrapped(const std::string& text, Tone tone, const TextStyle& style) {
    const auto columns = static_cast<std::size_t>(std::max(style.columns, 0));
    const std::size_t room = columns > indent + 20 ? columns - indent : std::string::npos;
    std::istringstream words(text);
    std::string out;
    std::string line;
    const auto flush = [&] {
        if (!line.empty()) out += std::string(indent, ' ') + toned(line, tone, style) + "\n";
    };
    for (std::string word; words >> word;) {
        if (!line.empty() && width_of(line) + 1 + width_of(word) > room) {
            flush();
            line.clear();
        }
        line += (line.empty() ? "" : " ") + word;
    }
    flush();
    return out;
}

// What was chosen stands beside the check; where nothing was, what is lost does.
std::string text_of(const Finding& finding, const TextStyle& style) {
    const auto& look = look_of(finding);
    const std::string head =
        "  " + toned(padded_check(look.name, state_width), look.tone, style) + padded_check(finding.check, check_width);
    std::string text;
    if (!finding.chosen.empty()) text += std::string(indent, ' ') + finding.chosen + "\n";
    text += wrapped(finding.detail, finding.chosen.empty() ? Tone::plain : Tone::dim, style);
    if (!finding.remedy.empty()) text += wrapped("-> " + finding.remedy, Tone::plain, style);
    return text.empty() ? head + "\n" : head + text.substr(indent);
}

}  // namespace

std::string doctor_json(const DoctorReport& report) {
    Json json{{"v", 1}, {"host", report.host}, {"able", report.able}, {"verdict", report.verdict}};
    json["checks"] = Json::array();
    for (const auto& finding : report.checks) json["checks"].push_back(json_of(finding));
    json["hooks"] = Json::object();
    for (const auto& finding : report.hooks) json["hooks"][finding.check] = json_of(finding);
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string doctor_text(const DoctorReport& report, const TextStyle& style) {
    std::string text = toned("HOST", Tone::bold, style) + "  " + report.host + "\n";
    for (const auto& finding : report.checks) text += text_of(finding, style);
    text += "\n" + toned("KERNEL HOOKS", Tone::bold, style) + "\n";
    for (const auto& finding : report.hooks) text += text_of(finding, style);
    return text + "\n" + toned(report.verdict, report.able ? Tone::green : Tone::red, style) + "\n";
}

std::string agent_in_short(std::string_view status_json) {
    const Json json = Json::parse(status_json, nullptr, false);
    if (!json.is_object()) return "answers, but not as this version understands";
    std::string text = "pid " + std::to_string(number_at(json, "pid").value_or(0));
    text += ", version " + text_at(json, "version") + ", since " + text_at(json, "started");
    return flag_at(json, "dry_run") ? text + ", dry run" : text;
}

}  // namespace evictd::codec
