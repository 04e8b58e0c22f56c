// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Pods in victim order: who would go, why, and how far over its request it is. Usage and request share one scale.
#include "status_text_pods.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "evictd/model/text.hpp"
#include "json_value.hpp"
#include "status_sockets.hpp"
#include "text_table.hpp"

namespace evictd::codec {
namespace {

using Json = nlohmann::ordered_json;

std::string pod_name(const Json& pod) { return printable(text_at(pod, "namespace") + "/" + text_at(pod, "name")); }

std::string exemption_text(const std::string& exemption) {
    struct Row {
        std::string_view key;
        std::string_view text;
    };
    constexpr std::array<Row, 10> rows{{{"critical", "critical: never evicted"},
                                        {"static_pod", "static pod: never evicted"},
                                        {"mirror", "mirror of a static pod: never evicted"},
                                        {"in_flight", "is being evicted"},
                                        {"failed_before", "its eviction failed a moment ago"},
                                        {"no_cgroup", "no cgroup found: cannot be evicted"},
                                        {"no_processes", "no process left"},
                                        {"memory_not_returned", "no process left; its memory was not returned"},
                                        {"terminating", "is being deleted"},
                                        {"own_pod", "evictd itself runs in it: never evicted"}}};
    for (const auto& row : rows) {
        if (row.key == exemption) return std::string(row.text);
    }
    return printable(exemption);
}

std::string standing(const Json& pod, const auto& amount) {
    const auto exemption = text_at(pod, "exemption");
    if (!exemption.empty()) return exemption_text(exemption);
    if (!flag_at(pod, "has_usage")) return "usage unknown: goes first";
    const auto usage = number_at(pod, "usage").value_or(0);
    const auto request = number_at(pod, "request").value_or(0);
    if (request == 0) return "no request";
    return flag_at(pod, "exceeds_request") ? amount(usage - request) + " over its request" : "within its request";
}

std::int64_t scale_of(const Json& pods) {
    std::int64_t scale = 1;
    for (const auto& pod : pods) {
        scale = std::max({scale, number_at(pod, "usage").value_or(0), number_at(pod, "request").value_or(0)});
    }
    return scale;
}

Bar bar_of(const Json& pod, std::int64_t scale, Tone tone) {
    const auto share = [&](const char* key) {
        return static_cast<double>(number_at(pod, key).value_or(0)) / static_cast<double>(scale);
    };
    Bar bar{share("usage"), {}, tone};
    if (number_at(pod, "request").value_or(0) > 0) bar.marks.push_back(share("request"));
    return bar;
}

Tone tone_of(const Json& pod, bool next) {
    if (!text_at(pod, "exemption").empty()) return Tone::dim;
    if (next) return Tone::red;
    return flag_at(pod, "exceeds_request") ? Tone::yellow : Tone::green;
}

void add_wide(const Json& pod, std::vector<Cell>& row) {
    const Json* memory = object_at(pod, "memory");
    const auto bytes = [&](const char* key) {
        const auto value = memory != nullptr ? number_at(*memory, key) : std::nullopt;
        return Cell{value ? bytes_text(*value) : "-", Tone::plain, std::nullopt};
    };
    row.push_back(bytes("usage_bytes"));
    row.push_back(bytes("anon_bytes"));
    row.push_back(bytes("file_bytes"));
    const auto processes = memory != nullptr ? number_at(*memory, "processes") : std::nullopt;
    row.push_back({processes ? std::to_string(*processes) : "-", Tone::plain, std::nullopt});
    for (auto& cell : socket_cells(pod)) row.push_back(std::move(cell));
    const auto cgroup = number_at(pod, "cgroup_id");
    row.push_back({cgroup ? std::to_string(*cgroup) : "-", Tone::plain, std::nullopt});
    row.push_back({printable(text_at(pod, "uid")), Tone::plain, std::nullopt});
}

std::vector<Column> columns_of(Detail detail, const std::string& resource) {
    std::vector<Column> columns{{"#", Fit::right},        {"POD", Fit::clip},     {"QOS", Fit::left},
                                {"PRIORITY", Fit::right}, {resource, Fit::bar},   {"USED", Fit::right},
                                {"REQUEST", Fit::right},  {"STANDING", Fit::clip}};
    if (detail == Detail::wide) {
        for (const char* title : {"CHARGED", "ANON", "FILE", "PROCS", "SOCKETS", "SOCK MEM", "CGROUP"})
            columns.push_back({title, Fit::right});
        columns.push_back({"UID", Fit::left});
    }
    return columns;
}

// A screen shows the order of victims too. `wide` has all that the agent tells.
constexpr std::size_t unlisted_shown = 10;

std::string unlisted_line(const Json& told, Detail detail) {
    const Json pod = told.is_object() ? told : Json::object();
    const bool is_named = !text_at(pod, "name").empty();
    const auto working_set = number_at(pod, "working_set_bytes");
    std::string line = is_named ? pod_name(pod) : "UID " + printable(text_at(pod, "uid"));
    if (working_set) line += ", " + bytes_text(*working_set);
    if (is_named) line += ", known only from the container runtime";
    return is_named && detail == Detail::wide ? line + ", UID " + printable(text_at(pod, "uid")) : line;
}

}  // namespace

std::string without_manifest(const Json& document, Detail detail, const TextStyle& style) {
    const Json* pods = object_at(document, "pods_without_manifest");
    const auto count = pods != nullptr ? number_at(*pods, "count").value_or(0) : 0;
    if (count <= 0) return {};
    const std::string head =
        count == 1 ? "1 pod has no manifest: its requests and priority are unknown, and it is never evicted"
                   : std::to_string(count) +
                         " pods have no manifest: their requests and priority are unknown, and they are never evicted";
    std::string text = "  " + toned(head, Tone::yellow, style) + "\n";
    std::size_t shown = 0;
    const bool is_older = !pods->contains("pods");  // an agent that tells UIDs alone
    for (const auto& pod : list_at(*pods, is_older ? "uids" : "pods")) {
        if (detail != Detail::wide && shown == unlisted_shown) break;
        text += "    " + unlisted_line(is_older ? Json{{"uid", pod}} : pod, detail) + "\n";
        shown++;
    }
    const auto more = count - static_cast<std::int64_t>(shown);
    return shown == 0 || more <= 0 ? text : text + "    and " + std::to_string(more) + " more\n";
}

std::string pods_table(const Json& ranking, Detail detail, const TextStyle& style) {
    const auto& pods = list_at(ranking, "pods");
    const auto signal = signal_from(text_at(ranking, "signal")).value_or(Signal::memory_available);
    const auto amount = [&](std::int64_t value) { return amount_text(signal, Amount{value}); };
    const std::int64_t scale = scale_of(pods);
    Table table(columns_of(detail, traits(signal).resource == "memory" ? "WORKING SET" : "USE"));
    bool next = true;  // until the first that may be evicted: that one goes next
    for (const auto& pod : pods) {
        const bool exempt = !text_at(pod, "exemption").empty();
        const Tone tone = tone_of(pod, next && !exempt);
        const Tone words = exempt ? Tone::dim : next ? Tone::bold : Tone::plain;
        const bool known = flag_at(pod, "has_usage");
        std::vector<Cell> row{{exempt ? "-" : std::to_string(number_at(pod, "rank").value_or(0)), words, std::nullopt},
                              {pod_name(pod), words, std::nullopt},
                              {printable(text_at(pod, "qos")), words, std::nullopt},
                              {std::to_string(number_at(pod, "priority").value_or(0)), words, std::nullopt},
                              {"", Tone::plain, bar_of(pod, scale, tone)},
                              {known ? amount(number_at(pod, "usage").value_or(0)) : "?", words, std::nullopt},
                              {amount(number_at(pod, "request").value_or(0)), words, std::nullopt},
                              {standing(pod, amount), words, std::nullopt}};
        if (detail == Detail::wide) add_wide(pod, row);
        table.add(std::move(row));
        next = next && exempt;
    }
    return table.text(style);
}

Result<std::string> scale_down_text(std::string_view json, const TextStyle& style) {
    const Json document = Json::parse(json, nullptr, false);
    const Json* ranking = document.is_object() ? object_at(document, "ranking") : nullptr;
    if (ranking == nullptr || text_at(*ranking, "order") != "scale-down") {
        return fail(ErrorKind::invalid, "agent's answer", "it holds no scale-down order",
                    "the running agent is of an older version: restart it");
    }
    const auto& pods = list_at(*ranking, "pods");
    if (pods.empty()) return std::string("No active pods on this node.\n");
    Table table({{"#", Fit::right},
                 {"POD", Fit::clip},
                 {"CONTROLLER", Fit::clip},
                 {"PHASE", Fit::left},
                 {"READY", Fit::left},
                 {"RESTARTS", Fit::right},
                 {"WHY BEFORE THE NEXT", Fit::left}});
    for (const auto& pod : pods) {
        table.add({{std::to_string(number_at(pod, "rank").value_or(0)), Tone::plain, std::nullopt},
                   {pod_name(pod), Tone::plain, std::nullopt},
                   {printable(text_at(pod, "controller")), Tone::plain, std::nullopt},
                   {printable(text_at(pod, "phase")), Tone::plain, std::nullopt},
                   {flag_at(pod, "ready") ? "yes" : "no", Tone::plain, std::nullopt},
                   {std::to_string(number_at(pod, "restarts").value_or(0)), Tone::plain, std::nullopt},
                   {printable(text_at(pod, "place")), Tone::plain, std::nullopt}});
    }
    return "Scale-down order, the first to go on top; a controller gives up only its own pods\n" + table.text(style);
}

Result<std::string> rank_text(std::string_view json, const TextStyle& style) {
    const Json document = Json::parse(json, nullptr, false);
    const Json* ranking = document.is_object() ? object_at(document, "ranking") : nullptr;
    if (ranking == nullptr) return fail(ErrorKind::invalid, "agent's answer", "it holds no ranking");
    const auto& pods = list_at(*ranking, "pods");
    if (pods.empty()) return std::string("No pods on this node.\n");
    const auto signal = signal_from(text_at(*ranking, "signal")).value_or(Signal::memory_available);
    const auto amount = [&](std::int64_t value) { return amount_text(signal, Amount{value}); };
    Table table({{"#", Fit::right},
                 {"POD", Fit::clip},
                 {"QOS", Fit::left},
                 {"PRIORITY", Fit::right},
                 {"USED", Fit::right},
                 {"REQUEST", Fit::right},
                 {"WHY HERE", Fit::left}});
    for (const auto& pod : pods) {
        const bool exempt = !text_at(pod, "exemption").empty();
        const Tone tone = exempt ? Tone::dim : Tone::plain;
        auto place = printable(text_at(pod, "place"));
        if (const auto own = pod_name(pod) + " "; place.starts_with(own)) place.erase(0, own.size());
        table.add({{exempt ? "-" : std::to_string(number_at(pod, "rank").value_or(0)), tone, std::nullopt},
                   {pod_name(pod), tone, std::nullopt},
                   {printable(text_at(pod, "qos")), tone, std::nullopt},
                   {std::to_string(number_at(pod, "priority").value_or(0)), tone, std::nullopt},
                   {flag_at(pod, "has_usage") ? amount(number_at(pod, "usage").value_or(0)) : "?", tone, std::nullopt},
                   {amount(number_at(pod, "request").value_or(0)), tone, std::nullopt},
                   {place.empty() ? standing(pod, amount) : place, tone, std::nullopt}});
    }
    return "Victim order for " + printable(text_at(*ranking, "signal")) + ", the first to go on top\n" +
           table.text(style);
}

}  // namespace evictd::codec
