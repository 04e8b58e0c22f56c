// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The configuration is written out again as text of its own, a key to a line, in the order of the scenario's file: that
// is the order in which thresholds are handled, and JSON values do not keep it.
#include "replay/scenario_config.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include <nlohmann/json.hpp>

#include "config/load.hpp"

namespace evictd::replay {
namespace {

using nlohmann::json;
using Place = kube::Lines::Place;

class ConfigText {
public:
    void write(const json& value, const Place& place) {
        if (value.is_object()) {
            write_map(value, place);
        } else if (value.is_array()) {
            write_list(value, place);
        } else {
            text_ += value.dump(-1, ' ', false, json::error_handler_t::replace);
        }
    }
    [[nodiscard]] const std::string& text() const { return text_; }
    // The scenario's lines, by line of the text.
    [[nodiscard]] const std::vector<int>& lines() const { return lines_; }

private:
    void new_line(bool first, const Place& place) {
        text_ += first ? "\n" : ",\n";
        lines_.push_back(place.line);
    }
    void write_field(bool first, const std::string& key, const json& value, const Place& place) {
        new_line(first, place);
        text_ += json(key).dump(-1, ' ', false, json::error_handler_t::replace) + ": ";
        write(value, place);
    }
    void write_map(const json& map, const Place& place) {
        std::set<std::string_view> written;
        text_ += '{';
        for (const Place& child : place.children) {
            const auto field = map.find(child.step);
            if (field == map.end() || written.contains(child.step)) continue;
            write_field(written.empty(), field.key(), *field, child);
            written.insert(child.step);
        }
        // What came through an alias has no place of its own.
        for (const auto& field : map.items()) {
            if (written.contains(field.key())) continue;
            write_field(written.empty(), field.key(), field.value(), {{}, place.line, {}});
            written.insert(field.key());
        }
        text_ += '}';
    }
    void write_list(const json& list, const Place& place) {
        text_ += '[';
        for (std::size_t i = 0; i < list.size(); ++i) {
            const Place child = i < place.children.size() ? place.children[i] : Place{{}, place.line, {}};
            new_line(i == 0, child);
            write(list[i], child);
        }
        text_ += ']';
    }

    std::string text_;
    std::vector<int> lines_{0};
};

}  // namespace

tl::expected<Config, config::Fault> read_config(const kube::Document& scenario, const std::string& file) {
    const Place place = scenario.lines.tree("config").value_or(Place{"config", 1, {}});
    ConfigText text;
    if (scenario.value.is_object()) text.write(scenario.value.value("config", json()), place);
    auto config = config::load(text.text(), file);
    if (config) return std::move(*config);
    config::Fault fault = config.error().front();
    const auto line = static_cast<std::size_t>(std::max(fault.line - 1, 0));
    fault.line = line == 0 || line >= text.lines().size() ? place.line : text.lines()[line];
    fault.column = 0;
    fault.key = fault.key.empty() ? "config" : "config." + fault.key;
    return tl::unexpected(std::move(fault));
}

}  // namespace evictd::replay
