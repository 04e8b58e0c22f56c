// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "history_json.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "evictd/model/quantity.hpp"
#include "evictd/model/text.hpp"
#include "json_value.hpp"

namespace evictd::codec {
namespace {

using Json = nlohmann::ordered_json;

// More than we write; a line of somebody else's must not make us draw for ever.
constexpr std::size_t most_samples = 4096;
constexpr std::size_t most_entries = 64;
// Nothing of ours takes longer, and no clock of ours is further ahead: differences of such times are times.
constexpr Duration longest = std::chrono::hours(24 * 365);
constexpr WallTime latest{std::chrono::hours(24 * 365 * 200)};

struct Moment {
    const char* key;
    std::optional<WallTime> History::*at;
};
constexpr std::array<Moment, 4> moments{{{"crossed", &History::crossed},
                                         {"asked", &History::asked},
                                         {"killed", &History::killed},
                                         {"emptied", &History::emptied}}};

std::int64_t whole_milliseconds(Duration duration) {
    return std::chrono::round<std::chrono::milliseconds>(duration).count();
}

Json samples_json(const std::vector<std::optional<std::int64_t>>& samples) {
    Json list = Json::array();
    for (const auto& sample : samples) list.push_back(sample ? Json(*sample) : Json());
    return list;
}

Json lines_json(const History& history) {
    Json list = Json::array();
    for (const auto& line : history.lines) {
        list.push_back({{"kind", line.hard ? "hard" : "soft"}, {"value", quantity_text(history.signal, line.value)}});
    }
    return list;
}

Json growth_json(const History& history) {
    Json pods = Json::array();
    for (const auto& grown : history.growth) {
        pods.push_back({{"pod", grown.pod}, {"grew_bytes", grown.grew.value}, {"usage_bytes", grown.usage.value}});
    }
    return {{"over_ms", whole_milliseconds(history.grown_over)}, {"pods", std::move(pods)}};
}

Json order_json(const History& history) {
    Json list = Json::array();
    for (const auto& place : history.order) {
        Json json{{"pod", place.pod},
                  {"qos", name(place.qos)},
                  {"priority", place.priority},
                  {"usage", place.usage},
                  {"request", place.request}};
        if (place.exempt) json["exempt"] = true;
        json["place"] = place.why;
        list.push_back(std::move(json));
    }
    return {{"pods", history.pods}, {"head", std::move(list)}};
}

void read_samples(const Json& json, History& history) {
    for (const auto& value : list_at(json, "available")) {
        if (history.available.size() == most_samples) break;
        history.available.push_back(value.is_number_integer() ? std::optional(value.get<std::int64_t>())
                                                              : std::nullopt);
    }
}

void read_lines(const Json& json, History& history) {
    for (const auto& line : list_at(json, "thresholds")) {
        const auto value = parse_quantity(text_at(line, "value"));
        if (value && history.lines.size() < most_entries) {
            history.lines.push_back({text_at(line, "kind") != "soft", Amount{value->value()}});
        }
    }
}

void read_growth(const Json& json, History& history) {
    history.grown_over = std::chrono::milliseconds(
        std::clamp<std::int64_t>(number_at(json, "over_ms").value_or(0), 0, whole_milliseconds(longest)));
    for (const auto& grown : list_at(json, "pods")) {
        if (history.growth.size() == most_entries) break;
        history.growth.push_back({text_at(grown, "pod"),
                                  {number_at(grown, "grew_bytes").value_or(0)},
                                  {number_at(grown, "usage_bytes").value_or(0)}});
    }
}

void read_order(const Json& json, History& history) {
    history.pods = number_at(json, "pods").value_or(0);
    for (const auto& row : list_at(json, "head")) {
        if (history.order.size() == most_entries) break;
        auto& place = history.order.emplace_back();
        place.pod = text_at(row, "pod");
        for (const auto qos : {QosClass::guaranteed, QosClass::burstable, QosClass::best_effort}) {
            if (text_at(row, "qos") == name(qos)) place.qos = qos;
        }
        place.priority = static_cast<std::int32_t>(
            std::clamp<std::int64_t>(number_at(row, "priority").value_or(0), INT32_MIN, INT32_MAX));
        place.usage = number_at(row, "usage").value_or(0);
        place.request = number_at(row, "request").value_or(0);
        place.exempt = flag_at(row, "exempt");
        place.why = text_at(row, "place");
    }
}

}  // namespace

Json history_json(const History& history) {
    if (!history.same_as.empty()) return {{"same_as", history.same_as}};
    Json json{{"signal", name(history.signal)},
              {"start", rfc3339(history.start)},
              {"step_ms", whole_milliseconds(history.step)},
              {"available", samples_json(history.available)},
              {"thresholds", lines_json(history)}};
    for (const auto& moment : moments) {
        if (const auto& at = history.*moment.at) json[moment.key] = rfc3339(*at);
    }
    if (!history.why.empty()) json["why"] = history.why;
    json["growth"] = growth_json(history);
    json["ranking"] = order_json(history);
    return json;
}

HistoryPtr history_from(const Json& json, std::string id) {
    auto history = std::make_shared<History>();
    history->id = std::move(id);
    history->same_as = text_at(json, "same_as");
    if (!history->same_as.empty()) return history;
    const auto start = parse_rfc3339(text_at(json, "start"));
    const auto step = number_at(json, "step_ms");
    if (!start || *start < WallTime{} || *start > latest || !step || *step <= 0 ||
        *step > whole_milliseconds(longest) / static_cast<std::int64_t>(most_samples)) {
        return nullptr;
    }
    history->start = *start;
    history->step = std::chrono::milliseconds(*step);
    history->signal = signal_from(text_at(json, "signal")).value_or(Signal::memory_available);
    history->why = text_at(json, "why");
    read_samples(json, *history);
    read_lines(json, *history);
    for (const auto& moment : moments) {
        const auto at = parse_rfc3339(text_at(json, moment.key));
        if (at && *at > *start - longest && *at < *start + longest) (*history).*moment.at = at;
    }
    if (const Json* growth = object_at(json, "growth")) read_growth(*growth, *history);
    if (const Json* order = object_at(json, "ranking")) read_order(*order, *history);
    return history;
}

}  // namespace evictd::codec
